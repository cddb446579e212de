"""Reasons and records of explanations with actions and free values."""

import html
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import sev
from sev.explanations import Interval

ACTIONS = sev.Actions(
    frozen=["home"], increase=["age"], within={"income": ("-1.5", "+1.5"), "debt": ("-2", "+0")}, costs={"age": 3}
)
CODES = {
    "age": {"code": "A", "above": "Too old", "below": "Too young"},
    "income": {"code": "I", "above": "Income too high", "below": "Income too low"},
    "debt": {"code": "D", "above": "Debt too high", "below": "Debt too low"},
    "branch": {"code": "B", "text": "Branch"},
}


def _rows(n_rows, seed):
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": generator.integers(18, 90, n_rows),
            "income": generator.normal(5, 2, n_rows).round(1),
            "debt": generator.integers(0, 9, n_rows),
            "branch": pd.Categorical(generator.choice(["x", "y", "z"], n_rows), categories=["x", "y", "z"]),
            "home": pd.Categorical(generator.choice(["own", "rent"], n_rows), categories=["own", "rent"]),
        }
    )


@pytest.fixture(scope="module")
def explainer():
    rows = _rows(600, 0)
    risk = rows.debt - rows.income - rows.age / 40 + 2.0 * (rows.branch == "z")
    model = HistGradientBoostingClassifier(
        max_iter=40, max_depth=3, categorical_features="from_dtype", random_state=0
    ).fit(rows, risk > 0)
    return sev.Explainer(model, rows, risk > 0, actions=ACTIONS)


@pytest.fixture(scope="module")
def rows():
    return _rows(120, 5)


@pytest.fixture(scope="module", params=["any", "typical", "reference"])
def many(request, explainer, rows):
    return explainer.explain(rows, values=request.param)


@pytest.fixture(scope="module")
def reasons(many):
    return sev.reasons(many, CODES)


def test_the_value_of_a_reason_is_that_of_the_first_set_that_uses_it(many, reasons, explainer):
    """Every set has values of its own: the value of another set's row would be the query's, which changes nothing."""
    later = 0
    for line in reasons.table.to_dict("records"):
        one = many[line["row"]]
        place = next(number for number, names in enumerate(one.sets) if line["feature"] in names)
        change = one.changes_of(place)[line["feature"]]
        assert line["value"] == change.old or pd.isna(change.old)
        assert line["reference_value"] == change.new
        assert line["value"] != line["reference_value"]
        moved = one.query.to_frame().T.assign(**{line["feature"]: change.new})
        moved = moved.astype(_rows(3, 0).dtypes.to_dict())
        scored = explainer.model.predict_proba(moved)[0, 1]
        assert line["score_alone"] == pytest.approx(scored, rel=1e-9)
        if isinstance(change.new, (int, float)):
            assert line["text"] == CODES[line["feature"]]["above" if change.old > change.new else "below"]
        later += place > 0
    assert later or many.values == "typical"


def test_each_reason_states_whether_it_alone_gives_recourse(many, reasons, explainer, rows):
    found = explainer.alone(rows)
    assert reasons.table["alone"].nunique() == 2
    for line in reasons.table.to_dict("records"):
        known = found.loc[(line["row"], line["feature"])]
        assert (line["alone"], line["alone_share"]) == (known["works"], known["share"])
    for row, line in reasons.wide.iterrows():
        mine = reasons.table[reasons.table["row"] == row]
        for rank in range(1, 5):
            codes = mine[mine["rank"] == rank]
            assert line[f"alone_{rank}"] == (codes["alone"].any() if len(codes) else None)


def test_records_hold_changes_ranges_cost_and_the_hash_of_the_actions(many, reasons, tmp_path):
    reasons.save(tmp_path)
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    ranges = 0
    for record, one in zip(records, many, strict=True):
        assert record["hashes"]["actions"] == ACTIONS.digest
        assert record["settings"]["actions"] == ACTIONS.to_plain()
        assert (record["settings"]["values"], record["settings"]["minimise"]) == (many.values, "features")
        assert record["proof_scope"] == one.proof_scope
        assert record["values_searched"] == one.values_searched
        assert record["changes"] == {name: change.to_dict() for name, change in one.changes.items()}
        assert record["cost"] == (None if one.cost is None else pytest.approx(one.cost))
        for name, change in record["changes"].items():
            assert change["old"] != change["new"]
            enough = one.enough.get(name)
            if isinstance(enough, Interval):
                assert change["enough"] == [enough.low, enough.high]
                ranges += math.isfinite(enough.low)
    assert ranges or many.values == "reference"


def test_notices_may_use_what_would_have_to_change(explainer, rows, tmp_path):
    many = explainer.explain(rows, values="any")
    template = tmp_path / "notice.txt"
    template.write_text(
        "{% for reason in reasons %}{{ reason.label }}: {{ reason.change }}; {{ reason.alone }}\n{% endfor %}"
    )
    found = sev.reasons(many, CODES)
    written = found.save_notices(tmp_path / "out", template, one_document=False)
    told = "".join(path.read_text() for path in written)
    assert len(written) == found.table["row"].nunique()
    assert "(now " in told
    assert "at least " in told or "at most " in told or "between " in told
    assert told.count("\n") == len(found.table)
    assert np.array_equal(sorted({line.rsplit("; ")[-1] for line in told.splitlines()}), ["False", "True"])


@pytest.fixture(scope="module")
def page(many, tmp_path_factory):
    path = sev.report(many, tmp_path_factory.mktemp("report") / "report.html", by="home", decisions=range(len(many)))
    return path.read_text()


def _text_of(page):
    """The words of a page, without its tags."""
    shown = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.S)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", shown)))


def test_the_report_states_what_may_change_and_whom_nothing_helps(many, page):
    text = _text_of(page)
    summary = many.summary()
    assert summary["unexplainable"] > 0
    wanted = f"{summary['unexplainable']} of {summary['target']} decisions to explain cannot be undone by any permitted"
    assert wanted in text
    for shown in (
        "Never change home",
        "May only rise age",
        "income: -1.5, +1.5; debt: -2, +0",
        "age: 3",
        ACTIONS.digest,
    ):
        assert shown in text
    for home, line in many.summary(by="home").iterrows():
        counts = " ".join(f"{line[name]:.0f}" for name in ("rows", "target", "unexplainable"))
        assert f"{home} {counts} {line['share_unexplainable']:.1%} {line['mean_size']:.2f}" in text


def test_pages_of_decisions_show_ranges_and_cost(many, page):
    told = 0
    for row, one in enumerate(many):
        if one.size is None:
            continue
        part = _text_of(page.split(f'id="decision-{row}"')[1].split("</article>")[0])
        assert f"Cost of the first change: {one.cost:.3g} (" in part
        for enough in one.enough.values():
            if isinstance(enough, Interval) and enough.low > 18 and enough.high == 89:
                assert f"at least {enough.low:.0f}" in part
                told += 1
    assert told or many.values != "any"


def test_where_only_some_values_were_tried_nothing_is_called_proven(rows, tmp_path):
    def score(frame):
        return (frame["debt"].to_numpy() > 4).astype(float)

    numbers = rows[["age", "income", "debt"]].assign(income=rows["income"] + 0.123)
    actions = {"frozen": ["debt"]}
    many = sev.Explainer(score, numbers, numbers["debt"] > 4, target=1, actions=actions).explain(numbers, values="any")
    text = _text_of(sev.report(many, tmp_path / "tried.html").read_text())
    count = many.summary()["unexplainable"]
    assert count > 0
    assert f"{count} of {count} decisions to explain were not undone by any of the permitted changes that were" in text
    assert "cannot be undone by any permitted change" not in text


def test_a_report_of_a_file_has_the_hash_of_the_actions(many, tmp_path):
    again = type(many).from_json(many.to_json())
    text = _text_of(sev.report(again, tmp_path / "file.html").read_text())
    assert f"only their hash is in this file: {ACTIONS.digest}" in text


@pytest.mark.parametrize("language", ["de", "es"])
def test_the_section_is_there_in_other_languages(many, tmp_path, language):
    text = _text_of(sev.report(many, tmp_path / "other.html", language=language, by="branch").read_text())
    assert "permitted" not in text
    assert {"de": "Dürfen nur steigen age", "es": "Solo pueden subir age"}[language] in text
