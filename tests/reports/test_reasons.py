import csv
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import show_cases as cases
from sklearn.linear_model import LogisticRegression

import sev
from sev._spreadsheet import escape_formula
from sev.core import Status
from sev.exceptions import HiddenReasonWarning, InputError, UnmappedReasonError
from sev.reports import load_codes, reason_table, reasons
from sev.reports._ranking import rank_features
from sev.reports._spreadsheet import to_csv

CODES = {
    "amount": {"code": "R1", "above": "The amount is high", "below": "The amount is low"},
    "months": {"above": {"code": "R2a", "text": "Long term"}, "below": {"code": "R2b", "text": "Short term"}},
    "income": {"code": "R3", "text": "Income"},
    "age": {"code": "R4", "text": "Age"},
    "owner": {"code": "R5", "text": "No property"},
}


@pytest.fixture(scope="module")
def many():
    return cases.loan_explainer().explain(cases.loans()[0][:120])


@pytest.fixture(scope="module")
def given(many):
    return reasons(many, CODES)


class _Scores(cases.StandIn):
    """Stands for a model: the score after a change is 0.6 less the weight of each changed feature."""

    def __init__(self, **weights):
        super().__init__(self.score)
        self.weights = weights

    def score(self, rows):
        changed = rows[list(self.weights)].to_numpy(dtype=float) < 0
        return 0.6 - changed @ np.array(list(self.weights.values()))

    def about(self):
        return {
            "model": "m",
            "package": None,
            "backend": "b",
            "reference": "r",
            "n_background": 1,
            "hashes": {"model": "1", "background": "2", "reference": "3"},
            "limits": {},
            "actions": None,
            "minimise": "features",
        }


PLAIN = {name: {"code": name.upper(), "text": f"{name}!"} for name in ("age", "income", "debt")}


def test_features_in_more_sets_come_first_then_those_that_go_further():
    made = cases.made([(Status.OPTIMAL, [(0, 1), (1, 2)]), (Status.OPTIMAL, [(0,), (2,)])])
    table = reason_table(made, PLAIN, explainer=_Scores(age=0.1, income=0.01, debt=0.2))
    assert table[table["row"] == 0]["feature"].tolist() == ["income", "debt", "age"]
    assert table[table["row"] == 1]["feature"].tolist() == ["debt", "age"]
    assert table[table["row"] == 0]["in_sets"].tolist() == [2, 1, 1]
    assert table[table["row"] == 0]["in_every_set"].tolist() == [True, False, False]
    assert table["rank"].tolist() == [1, 2, 3, 1, 2]


def test_rounding_of_scores_decides_nothing():
    made = cases.made([(Status.OPTIMAL, [(0,), (1,), (2,)])])
    table = reason_table(made, PLAIN, explainer=_Scores(age=0.1, income=0.1 + 1e-14, debt=0.1 - 1e-14))
    assert table["feature"].tolist() == ["age", "income", "debt"]


def test_plus_ranks_by_how_far_the_score_rises():
    rows, _ = cases.loans()
    plus = cases.loan_explainer().explain(rows[:60], kind="plus")
    ranking = rank_features(plus, plus.source)
    row = int(np.flatnonzero((ranking.in_sets > 0).sum(axis=1) > 1)[0])
    first, second = ranking.order[row, :2]
    if ranking.in_sets[row, first] == ranking.in_sets[row, second]:
        assert ranking.score_alone[row, first] >= ranking.score_alone[row, second]
    one = plus[row]
    name = plus.feature_names[first]
    row_alone = plus.references.iloc[[0]].copy()
    row_alone[name] = one.query[name]
    assert ranking.score_alone[row, first] == pytest.approx(cases.loan_model().predict_proba(row_alone)[0, 1])


def test_scores_alone_are_the_models_own(many, given):
    line = given.table.iloc[0]
    row = many._queries.iloc[[line["row"]]].copy()
    row[line["feature"]] = float(line["reference_value"])
    assert line["score_alone"] == pytest.approx(cases.loan_model().predict_proba(row)[0, 1])


def test_texts_differ_above_and_below_the_reference(given):
    amounts = given.table[given.table["feature"] == "amount"]
    for line in amounts.itertuples():
        assert line.text == ("The amount is high" if line.value > line.reference_value else "The amount is low")
    assert len(amounts)
    months = given.table[given.table["feature"] == "months"]
    assert set(months["code"]) <= {"R2a", "R2b"}


def test_at_most_four_and_what_was_cut_is_recorded():
    names = tuple("abcdef")
    made = cases.made([(Status.OPTIMAL, [tuple(range(6))])], names)
    codes = {name: {"code": name, "text": name} for name in names}
    given = reasons(made, codes, explainer=_Scores(**dict.fromkeys(names, 0.1)))
    assert given.wide.loc[0, ["code_1", "code_2", "code_3", "code_4"]].tolist() == list("abcd")
    assert given.cut == (("e", "f"),)
    assert next(given.records())["cut"] == ["e", "f"]
    assert given.wide["n_cut"].tolist() == [2]
    assert "code_2" not in reasons(made, codes, max_reasons=1, explainer=_Scores(a=0.1)).wide.columns


def test_features_that_share_a_code_share_a_rank():
    made = cases.made([(Status.OPTIMAL, [(0, 1, 2)])])
    codes = {**PLAIN, "debt": {"code": "AGE", "text": "age too"}}
    given = reasons(made, codes, max_reasons=2, explainer=_Scores(age=0.3, income=0.2, debt=0.1))
    assert given.table[["rank", "code", "feature"]].values.tolist() == [
        [1, "AGE", "age"],
        [2, "INCOME", "income"],
        [1, "AGE", "debt"],
    ]
    assert given.wide.loc[0, ["code_1", "code_2"]].tolist() == ["AGE", "INCOME"]
    assert given.cut == ((),)


def test_an_unmapped_feature_fails_before_anything_is_written(many, tmp_path):
    short = {name: entry for name, entry in CODES.items() if name != "amount"}
    with pytest.raises(UnmappedReasonError, match=r"'amount' above the reference \(\d+ rows\)"):
        reasons(many, short).save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_direction_that_is_not_mapped_fails_too(many):
    with pytest.raises(UnmappedReasonError, match="'amount' above the reference"):
        reasons(many, {**CODES, "amount": {"code": "R1", "below": "low"}})


def test_a_missing_value_needs_a_text_beside_those_of_directions():
    rows = pd.DataFrame({"income": [1.0, 2.0, 3.0, np.nan, np.nan, np.nan], "age": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]})
    explainer = sev.Explainer(lambda frame: 0.1 + 0.8 * frame["income"].isna().to_numpy(), rows, [0, 0, 0, 1, 1, 1])
    codes = {"income": {"code": "R1", "above": "high", "below": "low"}}
    with pytest.raises(UnmappedReasonError, match=r"'income' neither above nor below .* a missing value: give a text"):
        reasons(explainer.explain(rows), codes)
    assert reasons(explainer.explain(rows), {"income": {**codes["income"], "text": "Income is not known"}}).table.shape


def test_unmapped_features_that_do_not_appear_are_no_error():
    made = cases.made([(Status.OPTIMAL, [(0,)])])
    assert len(reason_table(made, {"age": PLAIN["age"]}, explainer=_Scores(age=0.2))) == 1


def test_every_row_has_a_line_and_a_record_whatever_its_status():
    made = cases.every_status()
    given = reasons(made, PLAIN, explainer=_Scores(age=0.1, income=0.1, debt=0.1))
    assert given.wide["status"].tolist() == made.statuses.tolist()
    assert given.wide["decision"].tolist()[4:6] == ["bad", "not bad"]
    records = list(given.records())
    assert [one["status"] for one in records] == made.statuses.tolist()
    assert records[3]["proof"] == "Proven: no set of features does this."
    assert records[6]["error"] == "the model raised"
    assert records[6]["decision"] is None


def test_no_rows_and_labels_of_several_levels_are_fine(tmp_path):
    assert len(reasons(cases.made([]), PLAIN, explainer=_Scores()).save(tmp_path)) == 3
    made = cases.made([(Status.OPTIMAL, [(0,)])])
    made._queries.index = pd.MultiIndex.from_tuples([("north", 3)])
    given = reasons(made, PLAIN, explainer=_Scores(age=0.2))
    assert given.table["id"].tolist() == ["north, 3"]
    assert next(given.records())["id"] == "north, 3"


def test_a_record_holds_what_an_auditor_asks_for(many, given):
    row = int(given.table["row"].iloc[0])
    one = list(given.records())[row]
    assert one["sets"] == [list(names) for names in many[row].sets]
    assert one["score"] == pytest.approx(many[row].score)
    assert one["threshold"] == 0.5
    assert one["settings"]["max_sets"] == 100
    assert one["settings"]["backend"] == "linear"
    assert one["versions"]["sev"] == sev.__version__
    assert all(len(digest) >= 40 for digest in one["hashes"].values())
    assert one["reasons"][0]["code"] == given.table["code"].iloc[0]


def test_hashes_follow_model_background_and_reference():
    rows, labels = cases.loans()
    refused = rows[cases.loan_model().predict(rows) == "refuse"][:2]
    base = next(reasons(cases.loan_explainer().explain(refused), CODES).records())["hashes"]
    for change, explainer in {
        "model": sev.Explainer(LogisticRegression(max_iter=9999).fit(rows, labels), rows, labels, target="refuse"),
        "background": sev.Explainer(cases.loan_model(), rows[::-1], labels[::-1], target="refuse", reference="mean"),
        "reference": sev.Explainer(cases.loan_model(), rows, labels, target="refuse", reference="median"),
    }.items():
        other = next(reasons(explainer.explain(refused), CODES).records())["hashes"]
        assert other[change] != base[change]
        if change == "reference":
            assert other["model"] == base["model"]
            assert other["background"] == base["background"]
    own = next(reasons(cases.loan_explainer().explain(refused), CODES, hashes={"model": "mine"}).records())
    assert own["hashes"]["model"] == "mine"


def test_files_are_the_same_to_the_byte_in_another_process_order_and_batch(many, given, tmp_path):
    mine = [path.read_bytes() for path in given.save(tmp_path / "one")]
    # from a file: another fit may differ in the last bits where its linear algebra has another number of threads
    cases.loan_explainer().save(tmp_path / "loans.sev")
    code = (
        "import sev, show_cases as c; from sev.reports import reasons; from test_reasons import CODES;"
        f"explainer = sev.load({str(tmp_path / 'loans.sev')!r});"
        f"reasons(explainer.explain(c.loans()[0][:120]), CODES).save({str(tmp_path / 'two')!r})"
    )
    here = [str(path) for path in (cases.__file__, __file__)]
    path = ":".join([*(name.rpartition("/")[0] for name in here), *sys.path])
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": path, "PYTHONHASHSEED": "7"})
    names = ("reasons.csv", "reasons_wide.csv", "records.jsonl")
    assert mine == [(tmp_path / "two" / name).read_bytes() for name in names]
    part = reasons(many[5:6], CODES)
    assert part.table.drop(columns="row").to_dict("records") == (
        given.table[given.table["row"] == 5].drop(columns="row").to_dict("records")
    )


def test_explanations_from_a_file_need_the_explainer_and_give_the_same(many, given, tmp_path):
    stored = sev.Explanations.from_json(many.to_json())
    with pytest.raises(InputError, match="pass explainer="):
        reasons(stored, CODES)
    again = reasons(stored, CODES, explainer=cases.loan_explainer())
    pd.testing.assert_frame_equal(again.table, given.table)


def test_a_restriction_that_hides_a_reason_is_warned_about_and_recorded():
    rows, _ = cases.loans()
    restricted = cases.loan_explainer().explain(rows[:120], restricted=["amount"])
    with pytest.warns(HiddenReasonWarning, match="'amount'"):
        given = reasons(restricted, CODES)
    free = cases.loan_explainer().explain(rows[:120])
    expected = [("amount",) if any("amount" in names for names in one.sets) else () for one in free]
    assert list(given.hidden) == expected
    assert [one["hidden"] for one in given.records()] == [list(names) for names in expected]


def test_a_restriction_that_hides_nothing_is_silent(many):
    row = int(np.flatnonzero(many.sizes == 1)[0])
    unused = next(name for name in many.feature_names if not any(name in names for names in many[row].sets))
    shown = cases.loan_explainer().explain(cases.loans()[0][row : row + 1], restricted=[unused])
    assert reasons(shown, CODES).hidden == ((),)  # a warning would be an error here


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        " =1",
        "＝1",
        "＋1",
        "－1",
        "＠A1",
        "\xa0=1",
        "\u200b=1",
        " -5",
        "-٥",
    ],
)
def test_cells_that_a_spreadsheet_would_run_are_escaped(text):
    assert escape_formula(text) == f"'{text}"
    lines = list(csv.reader(io.StringIO(to_csv(pd.DataFrame({"a": [text], text: [1]})), newline="")))
    assert lines == [["a", f"'{text}"], [f"'{text}", "1"]]


@pytest.mark.parametrize("text", ["-5", "+3.5", "-1e-9", "plain", "", "a=b"])
def test_other_cells_stay_as_they_are(text):
    assert escape_formula(text) == text


def test_hostile_names_values_and_labels_are_escaped_in_files(tmp_path):
    name = cases.HOSTILE[3]
    made = cases.made([(Status.OPTIMAL, [(0,)])], (name, "age"))
    made._queries.index = ["@id"]
    given = reasons(made, {name: {"code": "=R", "text": "+text"}}, explainer=_Scores(**{name: 0.2}))
    given.save(tmp_path)
    line = (tmp_path / "reasons.csv").read_text("utf-8").splitlines()[1]
    assert "'@id" in line
    assert f"'{name}" in line
    assert "'=R" in line
    assert "'+text" in line
    record = json.loads((tmp_path / "records.jsonl").read_text("utf-8"))
    assert record["reasons"][0]["feature"] == name


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ({"age": "R1"}, "expected a map"),
        ({"age": {"code": "R1"}}, "no text"),
        ({"age": {"code": 10, "text": "x"}}, "in quotes"),
        ({"age": {"text": "x"}}, "in quotes"),
        ({"age": {"code": "R1", "text": "x", "abvoe": "y"}}, "unknown entries"),
        ({"age": {"code": "R1", "text": 3}}, "expected text: put it in quotes"),
    ],
)
def test_a_wrong_map_is_refused(codes, message):
    with pytest.raises(InputError, match=message):
        load_codes(codes)


def test_a_map_may_be_a_file(tmp_path):
    path = tmp_path / "codes.yaml"
    path.write_text("age: {code: 'R1', above: Too old, below: Too young}\n", encoding="utf-8")
    codes = load_codes(path)
    assert codes.get("age", "above") == ("R1", "Too old")
    assert codes.get("age", "other") is None
    assert load_codes(codes) is codes


def test_a_wrong_number_of_reasons_is_refused(many):
    with pytest.raises(InputError, match="max_reasons"):
        reasons(many, CODES, max_reasons=0)


def test_a_row_on_which_the_model_fails_ranks_last_and_alone():
    class Fails(_Scores):
        def score(self, rows):
            if (rows["age"] < 0).any():
                raise RuntimeError("no")
            return super().score(rows)

    made = cases.made([(Status.OPTIMAL, [(0,), (1,)])] * 3)
    table = reason_table(made, PLAIN, explainer=Fails(age=0.3, income=0.1))
    assert table["feature"].tolist() == ["income", "age"] * 3
    assert table["score_alone"].notna().tolist() == [True, False] * 3
