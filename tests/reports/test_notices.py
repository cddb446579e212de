"""Notices from templates."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.exceptions import InputError

X = pd.DataFrame({"debt": [0.0, 1, 2, 6, 7, 8], "late": [0.0, 1, 0, 1, 0, 1]}, index=list("abcdef"))
Y = np.array(["no", "no", "no", "yes", "yes", "yes"])
LABELS = {
    "features": {"debt": {"label": "the <b>debt</b>", "unit": "EUR"}},
    "classes": {"yes": "denied", "no": "approved"},
}
CODES = {"debt": {"code": "R1", "text": "Debt & co"}, "late": {"code": "R2", "text": "Late"}}


@pytest.fixture(scope="module")
def found():
    explainer = sev.Explainer(LogisticRegression().fit(X, Y), X, Y, labels=LABELS)
    return sev.reasons(explainer.explain(X), CODES)


def test_one_file_for_each_decision_that_has_reasons(found, tmp_path):
    template = tmp_path / "notice.txt.jinja"
    template.write_text(
        "{{ id }}: {{ decision }}, not {{ other_decision }} ({{ row.name }}).\n"
        "{% for reason in reasons %}\n"
        "{{ reason.rank }} {{ reason.code }} {{ reason.label }} {{ reason.value }} / {{ reason.reference_value }}\n"
        "{% endfor %}\n{{ sentence }} {{ proof }}\n"
    )
    files = found.save_notices(tmp_path / "out", template, rows=X.assign(name="Ann <i>"))
    assert [path.name for path in files] == ["d.txt", "e.txt", "f.txt"]
    lines = files[1].read_text("utf-8").splitlines()
    assert lines[0] == "e: denied, not approved (Ann <i>)."
    assert lines[1] == "1 R1 the <b>debt</b> 7 EUR / 1 EUR"
    # a letter: no scores and no sets
    assert lines[2].startswith("Denied because the <b>debt</b> is 7 EUR. Had")
    # of a single change, it goes without saying that fewer would not have been enough
    assert lines[2].rstrip().endswith("it would have been approved.")


def test_values_are_escaped_in_pages_only(found, tmp_path):
    for ending, expected in (("html", "&lt;b&gt;debt"), ("txt", "<b>debt"), ("html.j2", "&lt;b&gt;debt")):
        template = tmp_path / f"notice.{ending}"
        template.write_text("<p>{{ reasons[0].label }}</p>")
        [first, *_] = found.save_notices(tmp_path / "out", template)
        assert expected in first.read_text("utf-8")
        assert first.suffix == f".{ending.split('.')[0]}"


def test_one_document(found, tmp_path):
    (tmp_path / "all.md").write_text("{% for notice in notices %}# {{ notice.id }}\n{% endfor %}")
    [path] = found.save_notices(tmp_path / "out", tmp_path / "all.md", one_document=True)
    assert path.read_text("utf-8") == "# d\n# e\n# f\n"
    assert path.name == "notices.md"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ nothing }}", "cannot be filled in for decision d: 'nothing' is undefined. It may use \\['id', 'decision'"),
        ("{% for x %}", "notice.txt', line 1: "),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ ''.__class__.__mro__ }}", "cannot be filled in"),
        ("{% include 'x' %}", "cannot be filled in"),
    ],
)
def test_a_template_that_cannot_be_filled_in_leaves_nothing_behind(found, tmp_path, text, message):
    (tmp_path / "notice.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        found.save_notices(tmp_path / "out", tmp_path / "notice.txt")
    assert not (tmp_path / "out").exists()


def test_templates_that_cannot_be_read(found, tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        found.save_notices(tmp_path / "out", tmp_path / "nothing.txt")
    (tmp_path / "latin.txt").write_bytes("Kündigung".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        found.save_notices(tmp_path / "out", tmp_path / "latin.txt")
    (tmp_path / "notice.txt").write_text("x")
    with pytest.raises(InputError, match="rows has 2 rows, but there are 6 decisions"):
        found.save_notices(tmp_path / "out", tmp_path / "notice.txt", rows=X[:2])


def test_no_id_leads_out_of_the_folder_and_none_is_lost(tmp_path):
    ids = ["../x", "a/b", "A/b", "con", "", "..", "ä ö"]
    rows = pd.DataFrame(np.tile(X.iloc[4].to_numpy(), (len(ids), 1)), columns=X.columns, index=ids)
    explainer = sev.Explainer(LogisticRegression().fit(X, Y), X, Y)
    found = sev.reasons(explainer.explain(rows), CODES)
    (tmp_path / "notice.txt").write_text("{{ id }}")
    files = found.save_notices(tmp_path / "out", tmp_path / "notice.txt")
    assert [path.name for path in files] == [
        "x.txt",
        "a_b.txt",
        "A_b-2.txt",
        "_con.txt",
        "notice.txt",
        "notice-2.txt",
        "ä_ö.txt",
    ]
    assert [path.read_text("utf-8") for path in files] == ids
    assert {path.parent for path in files} == {tmp_path / "out"}


def test_reasons_use_the_labels(found):
    assert found.table["label"].unique().tolist() == ["the <b>debt</b>"]
    assert found.wide["decision"].tolist() == ["approved"] * 3 + ["denied"] * 3
    assert found.wide["decision_after"].tolist() == [None] * 3 + ["approved"] * 3
    record = list(found.records())[4]
    assert record["decision"] == "denied"
    assert record["target"] == "yes"
    assert record["becomes"] == "no"
    assert record["reasons"][0]["label"] == "the <b>debt</b>"
