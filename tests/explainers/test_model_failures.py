"""What a model does on mixed rows: raise, return no number, too few scores, other scores, or write into its rows."""

import cases
import numpy as np
import pandas as pd
import pytest
from oracle import assert_equals_oracle
from sklearn.linear_model import LogisticRegression

import sev
from sev.backends.linear._backend import LinearBackend

COLUMNS = list("abcdef")
FEATURES = {name: (name,) for name in COLUMNS}


@pytest.fixture
def rows():
    X, y = cases.numbers()
    frame = pd.DataFrame(X, columns=COLUMNS)
    return frame, y, LogisticRegression().fit(frame, y)


def plain(model):
    return lambda frame: model.predict_proba(frame)[:, 1]


class Touchy(LogisticRegression):
    """Fails on mixed rows of some queries: "a" of the query beside "f" of the reference."""

    reaction = "raise"

    def predict_proba(self, X):
        outputs = super().predict_proba(X)
        values = np.asarray(X)
        bad = (values[:, 0] == 2.0) & (values[:, 1] != np.round(values[:, 1]))
        if bad.any() and self.reaction == "raise":
            raise ValueError("no such row")
        if bad.any() and self.reaction == "short":
            return outputs[~bad]
        outputs[bad] = np.nan
        return outputs


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "black box"])
@pytest.mark.parametrize(
    ("reaction", "message"), [("raise", "no such row"), ("nan", "score is nan"), ("short", " scores for ")]
)
def test_a_failure_on_a_mixed_row_stops_that_row_only(rows, monkeypatch, exact, reaction, message):
    X, y, _ = rows
    model = Touchy().fit(X, y)
    model.reaction = reaction
    if exact:
        monkeypatch.setattr("sev.backends._registry.refuse_overrides", lambda *_: None)
        explainer = sev.Explainer(model, X, y, reference="mean")
        assert explainer.backend == "linear"
    else:
        explainer = sev.Explainer(plain(model), X, y, reference="mean", threshold=0.5)
    many = explainer.explain(X)
    failed = [one for one in many if one.status == "error"]
    assert failed
    assert all(message in one.reason and one.query["a"] == 2.0 for one in failed)
    assert all(np.isnan(one.result_score) if one.result_score is not None else True for one in failed)
    answered = [one for one in many if one.status in ("optimal", "unexplainable")]
    assert len(answered) > 20
    model.reaction = "nan"
    for one in answered:
        if one.query["a"] != 2.0:
            assert_equals_oracle(one, plain(model), FEATURES)
        assert one.result_score is None or np.isfinite(one.result_score)


def test_scores_of_another_length_are_an_error_that_names_both(rows):
    X, y, model = rows

    def forgetful(frame):
        scores = plain(model)(frame)
        return scores if len(frame) <= 60 else scores[:1]

    explainer = sev.Explainer(plain(model), X, y, threshold=0.5)
    broken = sev.Explainer(lambda frame: forgetful(frame), X.iloc[:60], y[:60], threshold=0.5)
    expected = explainer.explain(X.iloc[:100]).scores
    np.testing.assert_allclose(broken.explain(X.iloc[:100]).scores, expected)  # smaller calls are right

    def none_at_all(frame):
        return plain(model)(frame) if len(frame) > 1 or frame["a"].iloc[0] != -2 else np.zeros(3)

    alone = sev.Explainer(none_at_all, X, y, threshold=0.5)
    row = X[X["a"] == -2].iloc[0]
    one = alone.explain_one(row)
    assert one.status == "error"
    assert "3 scores for 1 rows" in one.reason


def test_a_model_that_is_not_deterministic_has_no_explanations(rows):
    X, y, model = rows
    generator = np.random.default_rng(0)

    def noisy(frame):
        return plain(model)(frame) / 2 + 0.2 + generator.normal(scale=0.01, size=len(frame))

    many = sev.Explainer(noisy, X, y, threshold=0.5, reference=X.iloc[int(np.argmin(plain(model)(X)))]).explain(X)
    statuses = set(many.statuses)
    assert statuses <= {"error", "not_target"}
    reasons = {one.reason for one in many if one.status == "error"}
    assert all("different scores for the same row" in reason for reason in reasons)


def test_noise_on_mixed_rows_only_is_found_by_scoring_the_set_again(rows):
    X, y, model = rows
    generator = np.random.default_rng(1)

    def noisy(frame):
        scores = plain(model)(frame)
        mixed = (frame.to_numpy() != np.round(frame.to_numpy())).any(axis=1)
        return np.where(mixed, generator.integers(0, 2, len(frame)) * 0.9, scores)

    explainer = sev.Explainer(noisy, X, y, threshold=0.5, reference="mean", allow_positive_reference=True)
    many = explainer.explain(X)
    assert "different scores" in next(one.reason for one in many if one.status == "error")
    found = many.to_frame().query("status == 'optimal'")
    assert (found["result_score"] < 0.5).all()


@pytest.mark.parametrize("container", ["pandas", "numpy"])
def test_a_callable_may_write_into_its_rows(rows, container):
    X, y, model = rows
    given = X if container == "pandas" else X.to_numpy().copy()
    before = np.array(given, copy=True)

    def careless(table):
        scores = model.predict_proba(pd.DataFrame(np.asarray(table), columns=COLUMNS))[:, 1]
        if isinstance(table, pd.DataFrame):
            table.loc[:, "a"] = -100.0
            table["b"] = 0
        else:
            table[:, 0] = -100.0
        return scores

    explainer = sev.Explainer(careless, given, y, threshold=0.5)
    reference = explainer.reference.copy()
    many = explainer.explain(given[:40])
    np.testing.assert_array_equal(np.array(given), before)
    pd.testing.assert_frame_equal(explainer.reference, reference)
    expected = sev.Explainer(plain(model), X, y, threshold=0.5).explain(X[:40])
    names = dict(zip(COLUMNS, explainer.feature_names, strict=True))
    assert [one.features for one in many] == [tuple(names[name] for name in one.features) for one in expected]
    many.verify()


def test_a_feasible_set_of_the_size_of_the_bound_is_optimal(rows, monkeypatch):
    X, y, model = rows
    explainer = sev.Explainer(model, X, y)
    expected = explainer.explain(X).statuses
    right = LinearBackend.solve

    def modest(self, problem):
        from dataclasses import replace

        from sev.explanations import Status

        solution = right(self, problem)
        status = np.where(solution.status == Status.OPTIMAL.code, Status.FEASIBLE.code, solution.status)
        return replace(solution, status=status.astype(np.int8))

    monkeypatch.setattr(LinearBackend, "solve", modest)
    np.testing.assert_array_equal(explainer.explain(X).statuses, expected)


def test_a_column_without_a_name_is_a_column(rows):
    X, y, _ = rows
    frame = X.set_axis(["", *COLUMNS[1:]], axis=1)
    model = LogisticRegression().fit(frame.to_numpy(), y)

    def score(rows):
        return model.predict_proba(rows.to_numpy(dtype=float))[:, 1]

    explainer = sev.Explainer(score, frame, y, threshold=0.5)
    twins = pd.concat([frame.iloc[[int(np.argmax(score(frame)))]]] * 5, ignore_index=True)
    twins[""] = [-2.0, -1.0, 0.0, 1.0, 2.0]
    many = explainer.explain(twins)
    assert len({tuple(one.sets) for one in many}) > 1
    for one in many:
        assert_equals_oracle(one, score, {name: (name,) for name in frame.columns})


@pytest.mark.parametrize("names", [range(6), [1, "1", 2, "2", 3, "3"], [("a", 1), ("a", 2), "a", "b", 0, 1.5]])
def test_column_names_of_any_type(rows, names):
    X, y, _ = rows
    frame = X.set_axis(pd.Index(list(names), dtype=object), axis=1)
    model = LogisticRegression().fit(X.to_numpy(), y)

    def score(rows):
        return model.predict_proba(rows.to_numpy(dtype=float))[:, 1]

    explainer = sev.Explainer(score, frame, y, threshold=0.5)
    assert len(set(explainer.feature_names)) == 6
    many = explainer.explain(frame.iloc[:20])
    plain_names = sev.Explainer(plain(LogisticRegression().fit(X, y)), X, y, threshold=0.5).explain(X.iloc[:20])
    place = {name: COLUMNS[number] for number, name in enumerate(explainer.feature_names)}
    assert [tuple(place[name] for name in one.features) for one in many] == [one.features for one in plain_names]


def test_trees_take_integer_column_names(rows):
    from sklearn.ensemble import GradientBoostingClassifier

    X, y, _ = rows
    frame = X.set_axis(range(6), axis=1)
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(frame, y)
    explainer = sev.Explainer(model, frame, y)
    assert explainer.backend == "trees"
    assert (explainer.explain(frame).sizes >= 1).any()
