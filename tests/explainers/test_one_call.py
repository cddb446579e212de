"""Rows and their changed rows are scored in one call of the model where that changes no answer."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

import sev
from sev.explainers import _task

KINDS = ("minus", "plus")


@pytest.fixture(scope="module")
def fitted():
    generator = np.random.default_rng(5)
    X = generator.normal(size=(900, 6)).round(2)
    y = (X[:, :3].sum(axis=1) + 0.5 * X[:, 3] * X[:, 4] > 0.3).astype(int)
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(X, y)
    return sev.Explainer(model, X, y), X, model.predict_proba(X)[:, 1]


def watched(explainer, change=lambda rows, outputs: outputs):
    """A copy of an explainer that counts the calls of its model, whose outputs may be changed on the way."""
    copy = explainer.with_actions(None)
    calls = []
    task = copy._tasks[0]

    def ask(rows):
        calls.append(len(rows))
        return change(np.asarray(rows), task.scorer.ask(rows))

    copy._tasks[0] = dataclasses.replace(task, scorer=dataclasses.replace(task.scorer, ask=ask))
    return copy, calls


def in_two_calls(explainer, monkeypatch, rows, **options):
    """The answers with rows scored first."""
    with monkeypatch.context() as patch:
        patch.setattr(_task, "_ROWS_SCORED_WITH_SETS", 0)
        return explainer.explain(rows, **options)


def rows_with(X, scores, n_positive, n_negative):
    """Rows of the class with some others among them, none of which is the first of sixteen."""
    rows = X[scores > 0.6][:n_positive]
    others = X[scores < 0.4][:n_negative]
    places = 3 + 40 * np.arange(len(others))
    return np.insert(rows, places, others, axis=0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_positive", "n_negative"), [(200, 0), (300, 0), (200, 4), (300, 6)])
def test_a_batch_takes_one_call_and_has_the_same_answers(fitted, monkeypatch, kind, n_positive, n_negative):
    explainer, X, scores = fitted
    rows = rows_with(X, scores, n_positive, n_negative)
    assert len(rows) == n_positive + n_negative
    copy, calls = watched(explainer)
    copy.explain(rows, kind=kind)  # tests of the model itself come with the first call
    calls.clear()
    together = copy.explain(rows, kind=kind)
    assert len(calls) == 1
    calls.clear()
    apart = in_two_calls(copy, monkeypatch, rows, kind=kind)
    assert len(calls) == 2
    assert together.to_json() == apart.to_json()
    assert (together.statuses == "not_target").sum() == n_negative


def test_a_table_with_many_rows_of_the_other_class_is_scored_first(fitted):
    explainer, X, _ = fitted
    copy, calls = watched(explainer)
    many = copy.explain(X[:300])
    assert calls[0] == 300
    assert {"optimal", "not_target"} <= set(many.statuses)


@pytest.mark.parametrize("side", ["the model has one more", "the model has one less"])
def test_where_the_model_decides_otherwise_than_the_reading_its_own_decision_counts(fitted, monkeypatch, side):
    """Whatever the model returns for a row, the answer is that of rows that were scored first."""
    explainer, X, scores = fitted
    rows = rows_with(X, scores, 200, 4)
    odd = rows[3] if side == "the model has one more" else rows[1]

    def change(table, outputs):
        mine = (table == odd).all(axis=1)
        outputs[mine] = outputs[mine][:, ::-1]
        return outputs

    copy, _ = watched(explainer, change)
    with pytest.warns(sev.exceptions.FallbackWarning) if side == "the model has one more" else monkeypatch.context():
        together = copy.explain(rows)
    with pytest.warns(sev.exceptions.FallbackWarning) if side == "the model has one more" else monkeypatch.context():
        apart = in_two_calls(copy, monkeypatch, rows)
    assert together.to_json() == apart.to_json()
    assert (together[3].status == "not_target") == (side != "the model has one more")


@pytest.mark.parametrize("reaction", ["raise", "nan"])
def test_a_row_that_the_model_refuses_stops_that_row_only(fitted, monkeypatch, reaction):
    explainer, X, scores = fitted
    rows = rows_with(X, scores, 60, 1)
    odd = rows[20]

    def change(table, outputs):
        mine = (table == odd).all(axis=1)
        if mine.any() and reaction == "raise":
            raise ValueError("no such row")
        outputs[mine] = np.nan
        return outputs

    copy, _ = watched(explainer, change)
    together = copy.explain(rows)
    assert together.to_json() == in_two_calls(copy, monkeypatch, rows).to_json()
    assert np.flatnonzero(together.statuses == "error").tolist() == [20]


def test_frames_whose_columns_get_wider_dtypes(monkeypatch):
    """The mean of integers is not one: changed rows have other dtypes than the rows themselves."""
    generator = np.random.default_rng(1)
    X = pd.DataFrame(generator.integers(0, 9, size=(400, 4)), columns=list("abcd"))
    y = (X.sum(axis=1) > 17).astype(int)
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
    explainer = sev.Explainer(model, X, y, reference="mean")
    rows = X[model.predict(X) == 1][:100]
    together = explainer.explain(rows)
    assert (together.statuses == "optimal").any()
    assert together.to_json() == in_two_calls(explainer, monkeypatch, rows).to_json()
