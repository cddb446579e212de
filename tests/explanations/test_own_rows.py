"""Whatever scores rows of an explanation again builds the rows that the search built: same dtypes, same cells."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sev
from sev.exceptions import VerificationError
from sev.reports import reasons


def rows_of(**columns):
    return pd.DataFrame(columns)


def text_of_integers(rows):
    """The sum of digits of integers written as text, as an encoder of codes would see them: "3.0" is no code."""
    known = rows["n"].astype(str).isin(["3", "5"]).to_numpy()
    return 0.3 * known + 0.4 * (rows["a"].to_numpy(dtype=float) > 1)


def tells_none_from_nan(rows):
    return 0.4 * np.array([one is None for one in rows["n"]]) + 0.3 * (rows["a"].to_numpy(dtype=float) > 1)


def tells_null_from_nan(rows):
    return 0.4 * rows["n"].is_nan().fill_null(False).to_numpy() + 0.3 * (rows["a"].to_numpy() > 1)


def tells_signs_of_zero(rows):
    return 0.4 * (np.signbit(rows["n"].to_numpy(dtype=float))) + 0.3 * (rows["a"].to_numpy(dtype=float) > 1)


def tells_types(rows):
    return 0.4 * np.array([type(one) is int for one in rows["n"]]) + 0.3 * (rows["a"].to_numpy(dtype=float) > 1)


def tells_decimals(rows):
    return 0.4 * np.array([isinstance(one, Decimal) for one in rows["n"]]) + 0.3 * (rows["a"].to_numpy(dtype=float) > 1)


def counts_integer_columns(rows):
    is_integer = all(pd.api.types.is_integer_dtype(rows[name].dtype) for name in ("n", "m"))
    return np.full(len(rows), 0.4 * is_integer) + 0.3 * (rows["a"].to_numpy(dtype=float) > 1)


A = [0.5, 2.5, 2.5, 3.5]
OBJECTS = {"dtype": object}
CASES = {
    "integers as text": (text_of_integers, rows_of(n=[1, 3, 5, 3], a=A), {"n": 2.5, "a": 0.5}),
    "None and NaN": (tells_none_from_nan, rows_of(n=pd.Series([np.nan, None, None, "x"], **OBJECTS), a=A), None),
    "types of objects": (tells_types, rows_of(n=pd.Series([3.0, 3, 3, "3"], **OBJECTS), a=A), None),
    "decimals": (tells_decimals, rows_of(n=pd.Series([3.0, Decimal(3), Decimal("3.0"), 3], **OBJECTS), a=A), None),
    "signs of zero": (tells_signs_of_zero, rows_of(n=[0.0, -0.0, -0.0, 0.0], a=A), None),
    "dtypes": (counts_integer_columns, rows_of(n=[1, 2, 3, 4], m=[1, 2, 3, 4], a=A), {"n": 1.5, "m": 1, "a": 0.5}),
    "null and NaN": (
        tells_null_from_nan,
        pl.DataFrame({"n": [None, float("nan"), float("nan"), 1.0], "a": A}, schema={"n": pl.Float64, "a": pl.Float64}),
        None,
    ),
}


@pytest.fixture(params=CASES)
def explained(request):
    model, rows, reference = CASES[request.param]
    if reference is None:
        reference = rows[:1] if isinstance(rows, pl.DataFrame) else rows.iloc[[0]]
    explainer = sev.Explainer(model, rows, [0, 1, 1, 1], reference=reference)
    return rows, explainer


@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_explanations_are_confirmed(explained, kind):
    rows, explainer = explained
    many = explainer.explain(rows, kind=kind)
    assert (many.statuses == "optimal").sum() >= 2
    many.verify()
    many.verify(explainer)
    read = sev.Explanations.from_json(many.to_json())
    read.verify(explainer)
    for one, again in zip(many, read, strict=True):
        if one.status is sev.Status.ERROR:
            continue
        one.verify()
        one.verify(explainer)
        again.verify(explainer)


@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_scores_between_are_those_of_the_search(explained, kind):
    rows, explainer = explained
    many = explainer.explain(rows, kind=kind)
    for one, again in zip(many, sev.Explanations.from_json(many.to_json()), strict=True):
        if not one.sets:
            continue
        for path in (one.path_scores(), again.path_scores(explainer=explainer)):
            if kind == "minus":
                assert path["score"].iloc[0] == one.score
            assert path["score"].iloc[-1] == one.result_score
        for cube in (one.vertices(one.columns), again.vertices(one.columns, explainer=explainer)):
            scores = dict(zip(map(frozenset, cube["changed"]), cube["score"], strict=True))
            assert scores[frozenset(one.features)] == one.result_score
            assert scores[frozenset(one.columns if kind == "plus" else ())] == one.score


def test_reports_rank_by_the_scores_of_the_search(explained):
    rows, explainer = explained
    many = explainer.explain(rows)
    codes = {name: {"code": name.upper(), "text": name} for name in many.feature_names}
    table = reasons(many, codes, explainer=explainer).table
    assert len(table)
    for line in table.to_dict("records"):
        one = many[line["row"]]
        assert line["score_alone"] == one.vertices([line["feature"]])["score"].iloc[1]
        if one.features == (line["feature"],):
            assert line["score_alone"] == one.result_score


def test_cells_of_a_row_are_those_of_the_table():
    rows = pd.DataFrame({"n": [3, 2**60 + 1], "x": [0.5, 1.5]})
    reference = {"n": 1, "x": 0.5}
    explainer = sev.Explainer(lambda rows: 0.2 + 0.6 * (rows["n"].to_numpy() > 2), rows, [0, 1], reference=reference)
    one = explainer.explain(rows)[1]
    assert [type(cell) for cell in one.query] == [np.int64, np.float64]
    assert one.query["n"] == 2**60 + 1
    assert one.query.name == 1
    assert one.result["n"] == 1
    assert isinstance(one.result["n"], np.integer)
    assert one.to_dict()["query"] == {"n": 2**60 + 1, "x": 1.5}


def test_names_of_several_levels_come_back_from_files():
    rows = pd.DataFrame([[0.0, 1.0], [2.0, 3.0]], columns=pd.MultiIndex.from_tuples([("u", "a"), ("v", "b")]))

    def model(rows):
        return 0.3 * rows["u"]["a"].to_numpy()  # by level

    explainer = sev.Explainer(model, rows, [0, 1], reference=rows.iloc[[0]])
    read = sev.Explanations.from_json(explainer.explain(rows).to_json())
    assert read[1].features == ("('u', 'a')",)
    read.verify(explainer)
    assert read[1].path_scores(explainer=explainer)["score"].tolist() == [0.6, 0.0]


def test_lost_cells_are_named():
    rows = pd.DataFrame({"t": pd.Series([(1,), (2,), (3,)], dtype=object), "a": [0.0, 1.0, 2.0]})
    explainer = sev.Explainer(lambda rows: (rows["a"].to_numpy() > 0.5) * 0.8, rows, [0, 1, 1], reference=rows.iloc[0])
    many = explainer.explain(rows)
    many.verify(explainer)
    read = sev.Explanations.from_json(many.to_json())
    with pytest.raises(VerificationError, match=r"Row 0: column 't' held '\(1,\)', of a type that the file"):
        read.verify(explainer)


def test_a_model_that_fails_between_is_named():
    rows = pd.DataFrame({"a": [0.0, 3.0], "b": [0.0, 3.0]})

    def model(rows):
        if ((rows["a"] == 0) & (rows["b"] == 3)).any() and model.fails:
            raise RuntimeError("no such row")
        return 0.1 + 0.2 * rows.sum(axis=1).to_numpy() / 2

    model.fails = False
    one = sev.Explainer(model, rows, [0, 1], reference=rows.iloc[0]).explain(rows)[1]
    model.fails = True
    with pytest.raises(sev.exceptions.ModelError, match=r"cannot score a row of this .* RuntimeError: no such"):
        one.vertices(["a", "b"])


# -- how far scores may be apart ---------------------------------------------------------------------------------------


def forged(many, shift):
    import json

    document = json.loads(many.to_json())
    row = document["rows"]["status"].index("optimal")
    document["rows"]["score"][row] += shift
    return sev.Explanations.from_json(json.dumps(document))


def model_of(kind):
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    y = (X.sum(axis=1) > 0).astype(int)
    if kind == "float32":
        weights = rng.normal(size=3).astype(np.float32)
        model = lambda rows: 1 / (1 + np.exp(-(rows.to_numpy(dtype=np.float32) @ weights)))  # noqa: E731
    elif kind == "xgboost":
        model = pytest.importorskip("xgboost").XGBClassifier(n_estimators=20, max_depth=3).fit(X, y)
    else:
        model = {"linear": LogisticRegression(), "black box": KNeighborsClassifier(7, weights="distance")}[kind].fit(
            X, y
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sev.Explainer(model, X, y), X


@pytest.mark.parametrize(
    ("kind", "rounding", "forgery"),
    [
        ("linear", 1e-13, 1e-9),
        ("black box", 1e-8, 1e-6),
        ("float32", 1e-7, 1e-4),
        ("xgboost", 1e-7, 1e-3),
    ],
)
def test_scores_may_differ_by_the_rounding_of_the_model_and_no_more(kind, rounding, forgery):
    explainer, X = model_of(kind)
    many = explainer.explain(X.iloc[:20])
    forged(many, rounding).verify(explainer)
    with pytest.raises(VerificationError, match="its recorded score is"):
        forged(many, forgery).verify(explainer)


def test_thresholds_may_not_differ_at_all():
    import json

    explainer, X = model_of("linear")
    document = json.loads(explainer.explain(X.iloc[:5]).to_json())
    document["thresholds"] = [float(np.nextafter(0.5, 1))]
    with pytest.raises(VerificationError, match="threshold differs"):
        sev.Explanations.from_json(json.dumps(document)).verify(explainer)
