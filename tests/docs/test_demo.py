"""The tour runs, says why loans were refused, and leaves something to look at."""

import io

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
    assert "Without the restricted features a refusal that has a set takes" in text
    for name in ("explanations.csv", "one_refusal.png", "score_path.png", "sizes.png", "features.png", "report.html"):
        assert name in text
        assert (tmp_path / name).stat().st_size > 1000
