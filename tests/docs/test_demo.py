"""The tour runs, says why loans were refused, and leaves something to look at."""

import io

import pandas as pd
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def test_the_demo_runs_and_writes_what_it_names(tmp_path):
    from sev import demo

    out = io.StringIO()
    demo.main(tmp_path, out)
    text = out.getvalue()
    assert text.count("Applicant ") == demo.SHOWN
    assert "Refused (score" in text
    assert "it would have been approved" in text
    assert "the personal status and sex" not in text
    assert "No reason may use personal_status_sex, age or foreign_worker." in " ".join(text.split())
    used = " ".join(pd.read_csv(tmp_path / "explanations.csv")["features"].dropna())
    assert "checking_status" in used
    assert not [name for name in ("personal_status_sex", "age", "foreign_worker") if f"'{name}'" in used]
    assert "Without the restricted features a refusal that has a set takes" in text
    report = (tmp_path / "report.html").read_text("utf-8")
    assert "<td>the personal status and sex, the age, the foreign worker</td>" in report
    for name in ("explanations.csv", "one_refusal.png", "score_path.png", "sizes.png", "features.png", "report.html"):
        assert name in text
        assert (tmp_path / name).stat().st_size > 1000


def test_the_first_page_restricts_what_may_not_be_a_reason():
    from sev import demo

    explainer, _ = demo.explainer_and_applicants()
    assert set(explainer.restricted) == {"personal_status_sex", "age", "foreign_worker"}
