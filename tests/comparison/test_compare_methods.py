"""Methods side by side, on models whose answers are known."""

from __future__ import annotations

import random
import sys

import numpy as np
import pandas as pd
import pytest
from comparison.peers import GAME, game, loans, needs, stumps
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import sev
from sev.comparison import METHODS, _answers, register_method
from sev.comparison._coding import Coding
from sev.exceptions import InputError, MissingDependencyError, UnknownFeatureError
from sev.space import FeatureSpace, TableForm

CUBE = np.array(list(GAME), dtype=float)
FAST = {"lime": {"num_samples": 300}}


def flips_of(table: pd.DataFrame, method: str) -> pd.Series:
    return table[table["method"] == method].set_index("query")["flips"]


@pytest.fixture(scope="module")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    return X, (X @ [1.5, 1.0, 0.8, 0.5, -0.7, 0.3] + rng.normal(size=300) > 1.0).astype(int)


# -- answers that are known -----------------------------------------------------------------------------------------


@needs("shap")
def test_on_a_linear_model_an_order_by_contribution_is_the_smallest_set(numbers):
    X, y = numbers
    table = sev.compare_methods(
        LogisticRegression().fit(X, y), X, y, X, methods=["sev", "shap-kernel"], max_queries=12, reference="mean"
    )
    assert flips_of(table, "shap-kernel").tolist() == flips_of(table, "sev").tolist()
    assert flips_of(table, "sev").max() >= 2
    assert table["minimal"].all()
    assert set(table["status"]) == {"optimal", "flipped"}


@needs("shap")
@pytest.mark.parametrize("target", [1, 0])
def test_on_trees_of_one_split_the_values_of_a_block_add_up(target):
    frame, y = loans()
    model = stumps(frame, y)
    table = sev.compare_methods(
        model, frame, y, frame, methods=["sev", "shap-tree"], max_queries=15, target=target, reference="mean"
    )
    assert flips_of(table, "shap-tree").tolist() == flips_of(table, "sev").tolist()
    assert {name for names in table["features"] for name in names} >= {"colour", "job"}


@needs("shap")
def test_one_hot_blocks_of_an_array_are_one_feature_for_trees():
    frame, y = loans()
    model = stumps(frame, y)
    encoded = pd.DataFrame(model[0].transform(frame), columns=list(model[0].get_feature_names_out()))
    groups = {name: [c for c in encoded if f"__{name}_" in c] for name in ("colour", "job")}
    raw = sev.compare_methods(model, frame, y, frame, methods=["shap-tree"], max_queries=12, reference="mean")
    table = sev.compare_methods(
        model[1],
        encoded.to_numpy(),
        y,
        encoded.to_numpy(),
        methods=["sev", "shap-tree"],
        max_queries=12,
        reference="mean",
        groups={name: [list(encoded).index(c) for c in block] for name, block in groups.items()},
    )
    assert flips_of(table, "shap-tree").tolist() == flips_of(raw, "shap-tree").tolist()
    assert flips_of(table, "shap-tree").tolist() == flips_of(table, "sev").tolist()


@needs("shap")
def test_an_order_by_importance_is_not_the_smallest_set_where_features_interact():
    table = sev.compare_methods(
        game, CUBE, None, [[1.0, 1.0, 1.0]], methods=["sev", "shap-kernel"], reference=[0.0, 0.0, 0.0]
    )
    assert table["flips"].tolist() == [1, 2]
    assert table["features"].tolist() == [("x1",), ("x0", "x1")]
    assert table["minimal"].tolist() == [True, False]


@needs("shap")
def test_absolute_values_walk_through_features_that_speak_against(numbers):
    X = np.array([[3.0, 1.0, -2.0]])
    model = LogisticRegression()
    model.classes_, model.coef_, model.intercept_ = np.array([0, 1]), np.array([[1.0, 1.0, 1.0]]), np.array([-0.5])
    model.n_features_in_ = 3
    table = sev.compare_methods(
        model,
        np.vstack([np.zeros((5, 3)), X]),
        [0] * 5 + [1],
        X,
        methods=["sev", "shap-kernel"],
        ordering="both",
        reference=[0.0, 0.0, 0.0],
    )
    assert table["method"].tolist() == ["sev", "shap-kernel", "shap-kernel, absolute"]
    assert table["features"].tolist() == [("x0",), ("x0",), ("x0",)]
    X = np.array([[2.0, 3.0, -4.0]])  # 3 from the query: without x1 it is -2.5, by size it is x2 first
    table = sev.compare_methods(
        model,
        np.vstack([np.zeros((5, 3)), X]),
        [0] * 5 + [1],
        X,
        methods=["shap-kernel"],
        ordering="both",
        reference=[0.0, 0.0, 0.0],
    )
    assert table["features"].tolist() == [("x1",), ("x2", "x1", "x0")]
    assert table["minimal"].isna().tolist() == [False, True]  # one is the fewest there is; three, nobody looked


# -- every kind of table and model ----------------------------------------------------------------------------------


@needs("shap", "lime", "dice_ml")
@pytest.mark.parametrize("restricted", [(), ("age", "job")])
def test_all_methods_on_raw_rows(restricted):
    frame, y = loans()
    model = stumps(frame, y)
    table = sev.compare_methods(model, frame, y, frame, max_queries=4, restricted=restricted, options=FAST)
    assert list(table.columns[:6]) == ["method", "query", "flips", "seconds", "status", "features"]
    assert table["method"].unique().tolist() == ["sev", "shap-tree", "shap-kernel", "lime", "dice"]
    assert (table.groupby("method")["query"].nunique() == 4).all()
    smallest = flips_of(table, "sev")
    for method in ("shap-tree", "shap-kernel", "lime"):
        assert (flips_of(table, method) >= smallest)[smallest.notna()].all()
    answered = table[table["flips"].notna()]
    assert (answered["features"].map(len) == answered["flips"]).all()
    assert not {name for names in table["features"] for name in names} & set(restricted)
    assert (answered["seconds"] > 0).all()
    assert (model.predict(frame.loc[table["query"].unique()]) == 1).all()


@needs("shap", "lime", "dice_ml")
def test_a_threshold_holds_for_every_method(numbers):
    X, y = numbers
    model = LogisticRegression().fit(X, y)
    table = sev.compare_methods(
        model, X, y, X, methods=["sev", "shap-kernel", "lime", "dice"], threshold=0.2, max_queries=4, options=FAST
    )
    assert set(table["status"]) == {"optimal", "flipped"}
    assert (flips_of(table, "lime") >= flips_of(table, "sev")).all()


@needs("lime", "dice_ml")
def test_a_block_in_an_array_is_one_category_for_lime_and_dice():
    frame, y = loans()
    encoded = pd.get_dummies(frame, columns=["colour", "job"], dtype=float).astype(float)
    model = LogisticRegression(max_iter=2000).fit(encoded, y)
    table = sev.compare_methods(
        model, encoded, y, encoded, methods=["sev", "lime", "dice"], max_queries=3, options=FAST
    )
    assert set(table["status"]) <= {"optimal", "flipped"}
    assert {name for names in table["features"] for name in names} <= {"age", "income", "late", "colour", "job"}


@needs("shap", "lime", "dice_ml")
def test_boosters_on_raw_frames_with_categories_and_gaps():
    lightgbm = pytest.importorskip("lightgbm")
    frame, y = loans()
    frame = frame.astype({"colour": "category", "job": "category"})
    frame.loc[::7, "income"] = np.nan
    model = lightgbm.LGBMClassifier(n_estimators=20, verbose=-1, n_jobs=1).fit(frame, y)
    table = sev.compare_methods(model, frame, y, frame, max_queries=3, options=FAST)
    status = table.groupby("method", sort=False)["status"].agg(set)
    assert status["shap-tree"] == status["shap-kernel"] == {"flipped"}
    assert status["lime"] == {"not_applicable"}
    assert "missing" in table.set_index("method").loc["lime", "reason"].iloc[0]
    assert table[table["method"] == "shap-tree"]["reason"].str.contains("no background").all()


@needs("shap")
@pytest.mark.parametrize("kind", ["pandas", "numpy", "polars"])
def test_tables_of_numbers_and_flags_for_tree_shap(kind):
    frame, y = loans()
    frame = frame.assign(red=frame["colour"] == "red")[["age", "income", "late", "red"]]
    rows = {"pandas": frame, "numpy": frame.to_numpy(dtype=float)}.get(kind)
    if kind == "polars":
        rows = pytest.importorskip("polars").from_pandas(frame)
    model = GradientBoostingClassifier(n_estimators=20, max_depth=1, random_state=0).fit(rows, y)
    reference = [25, 20.0, 0, False]
    table = sev.compare_methods(model, rows, y, rows, methods=["sev", "shap-tree"], max_queries=5, reference=reference)
    assert flips_of(table, "shap-tree").tolist() == flips_of(table, "sev").tolist()
    assert all(type(value) in (int, float, bool) for changes in table["changes"] for value in changes.values())


@needs("shap")
def test_a_model_without_trees_is_no_matter_for_tree_shap(numbers):
    X, y = numbers
    table = sev.compare_methods(LogisticRegression().fit(X, y), X, y, X, methods=["sev", "shap-tree"], max_queries=3)
    lines = table[table["method"] == "shap-tree"]
    assert set(lines["status"]) == {"not_applicable"}
    assert lines["reason"].str.contains("LogisticRegression").all()
    assert lines[["flips", "seconds"]].isna().all(axis=None)


# -- no answer ------------------------------------------------------------------------------------------------------


@needs("shap", "lime", "dice_ml")
def test_decisions_that_nothing_undoes_have_no_number(numbers):
    X, y = numbers
    model = LogisticRegression().fit(X, y)
    queries = X[np.argsort(-model.decision_function(X))[:3]]
    table = sev.compare_methods(
        model,
        X,
        y,
        queries,
        methods=["sev", "shap-kernel", "lime", "dice"],
        restricted=["x0", "x1", "x2", "x3", "x4"],
        options=FAST,
    )
    status = table.groupby("method")["status"].agg(set)
    assert status["sev"] == {"unexplainable"}
    assert status["shap-kernel"] == status["lime"] == {"never_flips"}
    assert status["dice"] == {"none_found"}
    assert table["flips"].isna().all()
    assert (table["reason"] != "").all()
    assert table["minimal"].isna().all()


def test_a_method_that_fails_does_not_end_the_others(monkeypatch, numbers):
    X, y = numbers

    def broken(case, options):
        raise RuntimeError("no licence")

    def moody(case, options):
        def answer(query):
            if query == 1:
                raise ValueError("not this one")
            return _answers.Importances(np.zeros(len(case.space)))

        return answer

    monkeypatch.setattr(sys.modules[__name__], "broken", broken, raising=False)
    monkeypatch.setattr(sys.modules[__name__], "moody", moody, raising=False)
    monkeypatch.setattr("sev.comparison._registry.METHODS", METHODS)
    monkeypatch.setitem(METHODS, "broken", METHODS["sev"].__class__(f"{__name__}:broken"))
    monkeypatch.setitem(METHODS, "moody", METHODS["sev"].__class__(f"{__name__}:moody"))
    table = sev.compare_methods(
        LogisticRegression().fit(X, y), X, y, X, methods=["broken", "moody", "sev"], max_queries=3
    )
    assert table["status"].tolist() == ["error"] * 3 + ["flipped", "error", "flipped"] + ["optimal"] * 3
    assert table["reason"].tolist()[0] == "RuntimeError: no licence"
    assert table["reason"].tolist()[4] == "ValueError: not this one"


def test_a_counterfactual_counts_only_if_the_model_agrees(monkeypatch, numbers):
    X, y = numbers

    def liar(case, options):
        def answer(query):
            same = case.queries.iloc[[query]].reset_index(drop=True)
            other = same.assign(x0=-50.0, x5=same["x5"] + 1.0)
            return _answers.Counterfactual([[same], [same, other]][query % 2])

        return answer

    monkeypatch.setattr(sys.modules[__name__], "liar", liar, raising=False)
    monkeypatch.setitem(METHODS, "liar", METHODS["sev"].__class__(f"{__name__}:liar"))
    table = sev.compare_methods(LogisticRegression().fit(X, y), X, y, X, methods=["liar", "sev"], max_queries=2)
    assert table["status"].tolist()[:2] == ["not_confirmed", "flipped"]
    assert table["features"].tolist()[:2] == [(), ("x0", "x5")]


# -- dice ------------------------------------------------------------------------------------------------------------


@needs("dice_ml")
def test_what_dice_only_rounds_is_not_counted_as_changed():
    frame, y = loans()
    frame["income"] = frame["income"].round(2)
    frame.loc[0, "income"] = 61.23456789  # more digits than DiCE keeps
    model = stumps(frame, y)
    frame.loc[0, ["colour", "job", "age", "late"]] = ["red", "clerk", 79, 3]
    table = sev.compare_methods(
        model, frame, y, frame.iloc[[0]], methods=["sev", "dice"], restricted=["income"], reference="mean"
    )
    assert table["status"].tolist() == ["optimal", "flipped"]
    assert "income" not in table["features"].iloc[1]


@needs("dice_ml")
def test_what_dice_refuses_is_a_reason_not_a_crash():
    frame, y = loans()
    model = make_pipeline(
        stumps(frame, y)[0].set_params(onehotencoder__handle_unknown="ignore"), LogisticRegression(max_iter=5000)
    )
    model.fit(frame, y)
    odd = frame[model.predict(frame) == 1].head(2).assign(colour=["violet", "red"])
    odd = odd[model.predict(odd) == 1]
    table = sev.compare_methods(model, frame, y, odd, methods=["sev", "dice"])
    assert table["status"].tolist().count("error") == (odd["colour"] == "violet").sum() == 1
    assert table.loc[table["status"] == "error", "reason"].str.len().gt(20).all()


# -- side effects, seeds, packages ----------------------------------------------------------------------------------


@needs("shap", "lime", "dice_ml")
def test_peers_leave_no_trace(capfd, numbers):
    X, y = numbers
    model = LogisticRegression().fit(X, y)
    numpy_state, python_state = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    sev.compare_methods(model, X, y, X, methods=["shap-kernel", "lime", "dice"], max_queries=1, options=FAST)
    assert (np.random.get_state()[1] == numpy_state).all()  # noqa: NPY002
    assert random.getstate() == python_state
    assert capfd.readouterr() == ("", "")


@needs("shap", "lime", "dice_ml")
def test_answers_depend_on_the_row_and_the_seed_alone():
    frame, y = loans()
    model = stumps(frame, y)
    options = {"methods": ["lime", "dice"], "options": {"lime": {"num_samples": 60}}}
    queries = frame[model.predict(frame) == 1].head(4)
    columns = ["method", "query", "flips", "status", "features"]
    first = sev.compare_methods(model, frame, y, queries, **options)[columns].set_index(["method", "query"])
    np.random.seed(7)  # noqa: NPY002
    again = sev.compare_methods(model, frame, y, queries.iloc[[3, 1]], **options)[columns].set_index(
        ["method", "query"]
    )
    pd.testing.assert_frame_equal(again, first.loc[again.index])
    other = sev.compare_methods(model, frame, y, queries, random_state=1, **options)[columns]
    assert not other.set_index(["method", "query"]).equals(first)


@pytest.mark.parametrize(("method", "package"), [("shap-tree", "shap"), ("lime", "lime"), ("dice", "dice_ml")])
def test_a_missing_package_names_the_extra(monkeypatch, method, package, numbers):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=rf"needs {package}: pip install 'sev\[compare\]'"):
        sev.compare_methods(None, *numbers, numbers[0], methods=["sev", method])


def test_sev_alone_needs_no_package(monkeypatch, numbers):
    X, y = numbers
    for package in ("shap", "lime", "dice_ml"):
        monkeypatch.setitem(sys.modules, package, None)
    table = sev.compare_methods(LogisticRegression().fit(X, y), X, y, X, methods=["sev"], max_queries=None)
    assert len(table) == LogisticRegression().fit(X, y).predict(X).sum()


# -- what users get wrong -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": "sev"}, r"write \['sev'\]"),
        ({"methods": []}, "no method to compare"),
        ({"methods": ["shapp-tree"]}, "did you mean 'shap-tree'"),
        ({"ordering": "random"}, "ordering='random'"),
        ({"options": {"lime": {}}}, "not among the methods"),
        ({"max_queries": 0}, "max_queries=0"),
        ({"random_state": "x"}, "random_state='x'"),
        ({"target": "predicted"}, "one class"),
    ],
)
def test_wrong_use_is_told(numbers, options, message):
    X, y = numbers
    with pytest.raises(InputError, match=message):
        sev.compare_methods(LogisticRegression().fit(X, y), X, y, X, **{"methods": ["sev"], **options})


def test_rows_without_a_decision_to_explain_are_told(numbers):
    X, y = numbers
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="No row of X is predicted 1"):
        sev.compare_methods(model, X, y, X[model.predict(X) == 0], methods=["sev"])
    with pytest.raises(UnknownFeatureError, match="x9"):
        sev.compare_methods(model, X, y, X, methods=["sev"], restricted=["x9"])


def test_a_method_of_ones_own_has_a_name_of_its_own(monkeypatch):
    monkeypatch.setattr("sev.comparison._registry.METHODS", dict(METHODS))
    register_method("mine", "somewhere:prepare")
    register_method("mine", "somewhere:prepare")
    with pytest.raises(InputError, match="already registered"):
        register_method("mine", "elsewhere:prepare")


# -- coding ----------------------------------------------------------------------------------------------------------


def test_coded_rows_come_back_as_they_were():
    frame, _ = loans(60)
    frame["member"] = frame["late"] > 1
    frame.loc[::9, "job"] = None
    frame = pd.concat([frame, pd.get_dummies(frame["colour"], prefix="shade", dtype=int)], axis=1)
    form = TableForm.of(frame)
    coding = Coding(form, FeatureSpace.of(frame), frame, frame.iloc[[3]])
    assert coding.names == ["colour", "age", "income", "job", "late", "member", "shade"]
    assert [coding.names[number] for number in coding.categorical] == ["colour", "job", "member", "shade"]
    back = coding.decode(coding.background)
    pd.testing.assert_frame_equal(back.astype({"age": int, "late": int}), frame)
    assert (coding.queries == coding.background[[3]]).all()
    assert list(back.dtypes[["colour", "member", "shade_red"]]) == list(frame.dtypes[["colour", "member", "shade_red"]])


# -- pictures --------------------------------------------------------------------------------------------------------


@needs("shap")
def test_the_table_is_what_the_pictures_take(numbers):
    pytest.importorskip("matplotlib")
    X, y = numbers
    table = sev.compare_methods(LogisticRegression().fit(X, y), X, y, X, methods=["sev", "shap-kernel"], max_queries=3)
    assert len(sev.plots.methods(table).collections) > 0
    assert [text.get_text() for text in sev.plots.flips(table).get_legend().get_texts()] == ["sev", "shap-kernel"]
