"""A reading that is wrong about the queries is found out in the call, and its rows are explained without it."""

import dataclasses
import warnings

import cases
import numpy as np
import pandas as pd
import pytest
from oracle import assert_equals_oracle
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sev
from sev.backends.linear._backend import LinearBackend
from sev.backends.trees._backend import TreeBackend
from sev.core import SolutionBuilder, Status
from sev.exceptions import FallbackWarning
from sev.explainers._query_proof import QueryProof

COLUMNS = list("abcdef")


def score_of(model):
    return lambda frame: model.predict_proba(frame)[:, 1]


def rows_with_holes(seed=0):
    X, y = cases.numbers()
    frame = pd.DataFrame(X, columns=COLUMNS)
    queries = frame.copy()
    queries[np.random.default_rng(seed).random(queries.shape) < 0.2] = np.nan
    return frame, y, queries


class CountMissing(TransformerMixin, BaseEstimator):
    """The values, and how many of them are missing."""

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def transform(self, X):
        values = np.asarray(X, dtype=float)
        return np.column_stack([np.nan_to_num(values), np.isnan(values).sum(axis=1)])


IMPUTERS = {"knn": KNNImputer(n_neighbors=3), "iterative": IterativeImputer(random_state=0), "count": CountMissing()}


@pytest.mark.parametrize("final", [LogisticRegression(), GradientBoostingClassifier(n_estimators=20, random_state=0)])
@pytest.mark.parametrize("imputer", IMPUTERS)
def test_imputers_that_look_across_columns(imputer, final):
    X, y, queries = rows_with_holes()
    labels = y if imputer != "count" else (y + X["a"] > 0.5).astype(int)
    model = make_pipeline(IMPUTERS[imputer], final).fit(X if imputer != "count" else queries, labels)
    explainer = sev.Explainer(model, X, labels)
    assert explainer.backend != "black box"
    with pytest.warns(FallbackWarning, match="black box"):
        many = explainer.explain(queries.iloc[:40])
    for one in many:
        if one.status in ("optimal", "unexplainable"):
            assert_equals_oracle(one, score_of(model), {name: (name,) for name in COLUMNS})
    assert (many.sizes >= 1).sum() >= 5


@pytest.mark.parametrize("imputer", ["knn", "iterative"])
def test_a_single_row_with_a_hole_is_enough_to_find_out(imputer):
    X, y, queries = rows_with_holes()
    model = make_pipeline(IMPUTERS[imputer], GradientBoostingClassifier(n_estimators=20, random_state=0)).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    holes = queries[queries.isna().any(axis=1) & (model.predict(queries) == 1)].iloc[:8]
    for row in range(len(holes)):
        with pytest.warns(FallbackWarning):
            one = explainer.explain_one(holes.iloc[row])
        assert_equals_oracle(one, score_of(model), {name: (name,) for name in COLUMNS})


def test_imputers_of_one_column_are_still_read():
    X, y, queries = rows_with_holes()
    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many = sev.Explainer(model, X, y).explain(queries.iloc[:40])
    for one in many:
        if one.status in ("optimal", "unexplainable"):
            assert_equals_oracle(one, score_of(model), {name: (name,) for name in COLUMNS})


def rows_of_categories(categories, present):
    rng = np.random.default_rng(1)
    kinds = pd.CategoricalDtype(categories)
    X = pd.DataFrame({f"k{n}": pd.Categorical(rng.choice(present, 300), dtype=kinds) for n in range(4)})
    X["n"] = rng.normal(size=300).round(1)
    signal = (X["k0"] == "a") * 1.0 + (X["k1"] == "b") - (X["k2"] == "c") + X["n"] / 2
    return X, (signal + rng.normal(size=300) / 2 > 0.6).astype(int), rng


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
def test_xgboost_with_categories_that_the_training_rows_do_not_hold(listed):
    xgboost = pytest.importorskip("xgboost")
    categories = ["a", "b", "c", "z"] if listed else ["a", "b", "c"]
    X, y, rng = rows_of_categories(categories, ["a", "b", "c"])
    model = xgboost.XGBClassifier(n_estimators=15, max_depth=3, enable_categorical=True, random_state=0).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    queries = X.iloc[:120].astype(dict.fromkeys(["k0", "k1", "k2", "k3"], pd.CategoricalDtype(["a", "b", "c", "z"])))
    for column in ("k0", "k1", "k2", "k3"):
        queries.loc[rng.random(120) < 0.2, column] = "z"

    def score(frame):
        return model.predict_proba(frame.astype(dict(X.dtypes)))[:, 1].astype(float)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        many = explainer.explain(queries)
    found = [one for one in many if one.status in ("optimal", "unexplainable")]
    assert len(found) > 10
    for one in found:
        assert_equals_oracle(one, score, {name: (name,) for name in X.columns})
    # from 3.1 on XGBoost refuses what it was not told of; earlier it scores such a row somehow
    refused = [one for one in many if one.status == "error"]
    assert all("z" in set(one.query) for one in refused)


def test_a_reader_that_takes_unseen_categories_for_missing_ones(monkeypatch):
    xgboost = pytest.importorskip("xgboost")
    from sev.libraries.xgboost import read as reader

    X, y, rng = rows_of_categories(["a", "b", "c", "z"], ["a", "b", "c"])
    y[X["k0"] == "b"] = 1
    X.loc[X["k0"] == "b", "k0"] = None  # so that missing values go another way than unknown ones
    model = xgboost.XGBClassifier(n_estimators=15, max_depth=3, enable_categorical=True, random_state=0).fit(X, y)
    to_codes = reader.to_codes
    monkeypatch.setattr(reader, "to_codes", lambda column, known: to_codes(column, list(known)[:3]))
    explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "trees"
    queries = X.iloc[:80].copy()
    for column in ("k0", "k1", "k2", "k3"):
        queries.loc[rng.random(80) < 0.4, column] = "z"
    with pytest.warns(FallbackWarning, match="differ"):
        many = explainer.explain(queries)
    for one in many:
        if one.status in ("optimal", "unexplainable"):
            assert_equals_oracle(
                one,
                lambda frame: model.predict_proba(frame.astype(dict(X.dtypes)))[:, 1].astype(float),
                {name: (name,) for name in X.columns},
            )


class Strict(LogisticRegression):
    """A logistic regression with a rule that no row of the background meets."""

    def predict_proba(self, X):
        outputs = super().predict_proba(X)
        values = np.asarray(X)
        outputs[(values[:, 0] > 2) & (values[:, 1] < 1)] = [0.01, 0.99]
        return outputs


def test_a_rule_of_a_subclass_that_no_background_row_meets():
    X, y = cases.numbers()
    frame = pd.DataFrame(X, columns=COLUMNS)
    model = Strict().fit(frame, y)
    queries = frame.assign(a=frame["a"] + 2)
    with pytest.warns(FallbackWarning, match="Strict overrides `predict_proba`"):
        explainer = sev.Explainer(model, frame, y)
    for one in explainer.explain(queries.iloc[:60]):
        if one.status in ("optimal", "unexplainable"):
            assert_equals_oracle(one, score_of(model), {name: (name,) for name in COLUMNS})


class Around(ClassifierMixin, BaseEstimator):
    """A classifier around another, with the model's own way to show what is inside."""

    def __init__(self, inside):
        self.inside = inside

    def fit(self, X, y):
        self.fitted_ = self.inside.fit(X, y)
        self.classes_ = self.fitted_.classes_
        return self

    def split_encoder(self):
        return (lambda rows: rows), self.fitted_


class Composed(Around):
    """A rule around a model."""

    def predict_proba(self, X):
        outputs = self.fitted_.predict_proba(X)
        values = np.asarray(X)
        outputs[(values[:, 0] > 2) & (values[:, 1] != np.round(values[:, 1]))] = [0.99, 0.01]
        return outputs


@pytest.mark.parametrize("inside", [LogisticRegression(), GradientBoostingClassifier(n_estimators=30, random_state=0)])
def test_a_rule_around_a_model_that_no_background_row_meets(inside):
    X, y = cases.numbers()
    frame = pd.DataFrame(X, columns=COLUMNS)
    model = Composed(inside).fit(frame, y)
    explainer = sev.Explainer(model, frame, y, reference="mean")
    assert explainer.backend != "black box"
    queries = frame.assign(a=frame["a"] + 2)
    with pytest.warns(FallbackWarning):
        many = explainer.explain(queries)
    for one in many:
        if one.status in ("optimal", "unexplainable"):
            assert_equals_oracle(one, score_of(model), {name: (name,) for name in COLUMNS})


def test_a_calibration_that_falls():
    X, y = cases.numbers()
    frame = pd.DataFrame(X, columns=COLUMNS)
    inside = LogisticRegression().fit(frame, y)
    model = CalibratedClassifierCV(FrozenEstimator(inside), method="sigmoid", ensemble=False).fit(frame, 1 - y)
    assert np.corrcoef(score_of(model)(frame), score_of(inside)(frame))[0, 1] < 0
    explainer = sev.Explainer(model, frame, 1 - y)
    assert explainer.backend == "linear"
    for one in explainer.explain(frame.iloc[:40]):
        if one.status in ("optimal", "unexplainable"):
            assert_equals_oracle(one, score_of(model), {name: (name,) for name in COLUMNS})


def same(one, other):
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


def test_what_is_distrusted_depends_neither_on_order_nor_on_workers():
    X, y, queries = rows_with_holes()
    model = make_pipeline(KNNImputer(n_neighbors=3), LogisticRegression()).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        expected = explainer.explain(queries)
        same(explainer.explain(queries, n_jobs=3), expected)
        turned = explainer.explain(queries.iloc[::-1]).to_frame().iloc[::-1]
        pd.testing.assert_frame_equal(turned, expected.to_frame())
        parts = [explainer.explain(queries.iloc[first : first + 30]).to_frame() for first in range(0, 240, 30)]
        pd.testing.assert_frame_equal(pd.concat(parts), expected.to_frame())


def test_a_solver_that_claims_wrongly_that_there_is_no_set(monkeypatch):
    X, y = cases.numbers()
    frame = pd.DataFrame(X, columns=COLUMNS)
    explainer = sev.Explainer(LogisticRegression().fit(frame, y), frame, y)
    expected = explainer.explain(frame)

    def claim_nothing(self, problem):

        builder = SolutionBuilder(problem.n_rows, 1)
        for row in range(problem.n_rows):
            builder.unexplainable(row, n_active=int(problem.active[row].sum()))
        return builder.build()

    monkeypatch.setattr(LinearBackend, "solve", claim_nothing)
    with pytest.warns(FallbackWarning, match="the exact search found none"):
        same(explainer.explain(frame), expected)


def test_a_solver_that_finds_sets_that_do_not_cross(monkeypatch):
    X, y = cases.numbers()
    frame = pd.DataFrame(X, columns=COLUMNS)
    explainer = sev.Explainer(LogisticRegression().fit(frame, y), frame, y)
    expected = explainer.explain(frame)
    right = LinearBackend.solve

    def worst_first(self, problem):
        from dataclasses import replace

        solution = right(self, problem)
        return replace(solution, masks=np.zeros_like(solution.masks))

    monkeypatch.setattr(LinearBackend, "solve", worst_first)
    with pytest.warns(FallbackWarning, match="did not confirm"):
        same(explainer.explain(frame), expected)


def test_a_reading_that_differs_on_the_reference_is_not_trusted():
    X, y = cases.numbers()
    explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    expected = explainer.explain(X[:40])
    task = explainer._tasks[0]
    explainer._tasks[0] = dataclasses.replace(task, reference_scores=task.reference_scores + 0.01)
    with pytest.warns(FallbackWarning, match="on the reference"):
        many = explainer.explain(X[:40])
    assert many.statuses.tolist() == expected.statuses.tolist()
    assert many.first_sets() == expected.first_sets()


class WrongWhereTwoFeaturesMix(Around):
    """Another score wherever ``a`` is the reference's and ``b`` is not: on no row of the data, nor on the reference."""

    def predict_proba(self, X):
        outputs = self.fitted_.predict_proba(X)
        values = np.asarray(X)
        return np.where(((values[:, 0] == 0.125) & (values[:, 1] != 0.25))[:, None], outputs * 0.9 + 0.05, outputs)


@pytest.mark.parametrize("kind", ["minus", "plus"])
@pytest.mark.parametrize("inside", [LogisticRegression(), GradientBoostingClassifier(n_estimators=30, random_state=0)])
def test_a_single_row_is_compared_wherever_two_features_mix(inside, kind):
    X, y = cases.numbers()
    frame = pd.DataFrame(X, columns=COLUMNS)
    model = WrongWhereTwoFeaturesMix(inside).fit(frame, y)
    reference = pd.Series([0.125, 0.25, -0.5, -0.5, -0.5, 0.5], index=COLUMNS)
    if model.predict_proba(reference.to_frame().T)[0, 1] >= 0.5:
        reference[2:] *= -1
    explainer = sev.Explainer(model, frame, y, reference=reference)
    assert explainer.backend != "black box"
    for row in range(0, 40, 2):
        if model.predict_proba(frame.iloc[[row]])[0, 1] >= 0.5:
            with pytest.warns(FallbackWarning, match="differ"):
                one = explainer.explain_one(frame.iloc[[row]], kind=kind)
            assert_equals_oracle(one, score_of(model), {name: (name,) for name in COLUMNS})


@pytest.mark.parametrize("n_active", [1, 2, 3, 5, 16, 23, 64])
def test_covering_sets_part_any_two_features(n_active):
    active = np.zeros((1, 70), dtype=np.bool_)
    active[0, np.random.default_rng(0).permutation(70)[:n_active]] = True
    proof = QueryProof(None, None, None, np.ones((1, 3)), np.zeros((1, 3)), np.zeros_like(active), active, 1)
    rows, sets = proof.sampled_vertices()
    assert not sets[:, ~active[0]].any()
    assert (rows == 0).all()
    assert len(sets) <= 16
    chosen = sets[:, active[0]]
    parted = (chosen[:, :, None] & ~chosen[:, None, :]).any(axis=0)
    assert parted[~np.eye(n_active, dtype=np.bool_)].all()


@pytest.mark.parametrize("margins", ["query_margins", "set_margins"])
@pytest.mark.parametrize("n_rows", [1, 300])
def test_a_margin_that_is_wrong_for_one_row_is_found(margins, n_rows, monkeypatch):
    X, y = cases.numbers()
    explainer = sev.Explainer(GradientBoostingClassifier(n_estimators=30, random_state=0).fit(X, y), X, y)
    rows = np.tile(X[explainer.model.predict(X) == 1], (5, 1))[:n_rows]
    right = TreeBackend.solve

    def solve(self, problem):
        solution = right(self, problem)
        values = getattr(solution, margins).copy()
        values[0] += 1e-6
        return dataclasses.replace(solution, **{margins: values})

    expected = explainer.explain(rows)
    monkeypatch.setattr(TreeBackend, "solve", solve)
    with pytest.warns(FallbackWarning, match="differ"):
        same(explainer.explain(rows), expected)


def watch(explainer, look):
    """Let ``look`` see the rows before the model does."""
    task = explainer._tasks[0]

    def ask(rows):
        look(np.asarray(rows))
        return task.scorer.ask(rows)

    explainer._tasks[0] = dataclasses.replace(task, scorer=dataclasses.replace(task.scorer, ask=ask))


@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_a_single_row_of_the_class_takes_one_call_of_the_model(kind):
    X, y = cases.numbers()
    model = LogisticRegression().fit(X, y)
    explainer = sev.Explainer(model, X, y)
    scores = model.predict_proba(X)[:, 1]
    calls = []
    watch(explainer, lambda rows: calls.append(len(rows)))
    one = explainer.explain_one(X[scores > 0.7][0], kind=kind)
    assert one.status == "optimal"
    assert one.score == pytest.approx(scores[scores > 0.7][0], abs=1e-12)
    assert len(calls) == 1
    calls.clear()
    assert explainer.explain_one(X[scores < 0.3][0], kind=kind).status == "not_target"
    assert calls == [1]


def test_a_model_that_fails_on_mixed_rows_fails_as_it_does_among_many():
    X, y = cases.numbers()
    model = LogisticRegression().fit(X, y)
    explainer = sev.Explainer(model, X, y, reference=[0.125, -0.5, -0.5, -0.5, 0.5, 0.5])

    def refuse(rows):
        if (rows[:, 0] == 0.125).any():
            raise ValueError("a value that it does not take")

    watch(explainer, refuse)
    rows = X[model.predict_proba(X)[:, 1] > 0.6][:30]
    many = explainer.explain(rows).to_frame()
    alone = pd.concat([explainer.explain(rows[[row]]).to_frame() for row in range(30)], ignore_index=True)
    assert {"optimal", "error"} <= set(many["status"])
    pd.testing.assert_frame_equal(alone, many, check_exact=False, rtol=1e-12)


def test_a_single_row_that_neither_the_model_nor_the_reading_takes(monkeypatch):
    X, y = cases.numbers()
    explainer = sev.Explainer(GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y), X, y)

    def refuse(*_):
        raise ValueError("not a row for trees")

    monkeypatch.setattr(TreeBackend, "encode", refuse)
    watch(explainer, refuse)
    many = explainer.explain(X[:1])
    assert many.statuses.tolist() == ["error"]
    assert "not a row for trees" in many[0].reason


def test_a_calibrated_model_explains_a_row_that_has_no_set():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + X[:, 1] > 0.8
    model = CalibratedClassifierCV(
        GradientBoostingClassifier(n_estimators=20, random_state=0), method="isotonic", ensemble=False
    ).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "trees"
    row = X[model.predict(X)][0]
    assert explainer.explain_one(row, restricted=["x0", "x1", "x2", "x3"]).status == "unexplainable"


@pytest.mark.parametrize("n_rows", [20, 400])  # walked, and looked up
@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_what_the_search_holds_for_the_best_of_rows_without_a_set(kind, n_rows, monkeypatch):
    """The features that help alone come from the tables of the search: the same as by changing each of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = (X[:, :3].sum(axis=1) + 0.3 * X[:, 3] * X[:, 4] > 0).astype(int)
    model = GradientBoostingClassifier(n_estimators=30, max_depth=3, random_state=0).fit(X, y)
    explainer = sev.Explainer(model, X, y, restricted=["x0", "x1"])
    seen = []
    usual = QueryProof.vertices_of_unexplainable

    def compare(self, solution):
        rows = np.flatnonzero(solution.status == Status.UNEXPLAINABLE.code)
        seen.extend(rows)
        assert np.array_equal(solution.helpful[rows], self._find_helpful(rows))
        assert not np.delete(solution.helpful, rows, axis=0).any()
        return usual(self, solution)

    monkeypatch.setattr(QueryProof, "vertices_of_unexplainable", compare)
    explainer.explain(np.resize(X[y == 1], (n_rows, 6)), kind=kind)
    assert len(seen) > n_rows // 20
