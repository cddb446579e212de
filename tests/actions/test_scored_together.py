"""A few rows with any permitted values are scored together with what becomes of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import sev
from sev.explainers import _free

MODELS = {"trees": GradientBoostingClassifier(n_estimators=20, random_state=0), "linear": LogisticRegression()}


def table(n_rows, seed, dtype="float64"):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)).round(2), columns=list("abcd"))
    return frame.assign(n=rng.integers(0, 9, n_rows).astype(dtype))


def make(name, dtype="float64"):
    frame = table(300, 0, dtype)
    labels = (frame["a"] + frame["b"] * 0.7 + frame["n"] / 9 > 0.6).astype(int)
    model = MODELS[name].fit(frame, labels)
    explainer = sev.Explainer(model, frame, labels)
    rows = table(300, 1, dtype)
    rows = rows[model.predict_proba(rows)[:, 1] > 0.55].reset_index(drop=True)
    explainer.explain(rows[:3], values="any")  # what is known of the model is found out
    return explainer, rows


class Calls:
    """Counts the tables that a model scores."""

    def __init__(self, monkeypatch, explainer):
        self.sizes = []
        [task] = explainer.tasks
        whole = type(task.scorer).scores
        monkeypatch.setattr(type(task.scorer), "scores", lambda scorer, rows: self._count(whole, scorer, rows))

    def _count(self, whole, scorer, rows):
        self.sizes.append(len(rows))
        return whole(scorer, rows)


def shown(many):
    return [(one.sets, one.cost, one.changes, one.score, one.result_score, one.status.value) for one in many]


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_answers_are_those_of_rows_that_are_scored_first(name, dtype, monkeypatch):
    explainer, rows = make(name, dtype)
    together = shown(explainer.explain(rows[:16], values="any"))
    monkeypatch.setattr(_free, "_ROWS_AT_ONCE", 0)
    assert repr(shown(explainer.explain(rows[:16], values="any"))) == repr(together)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_one_call_of_the_model_is_enough_for_one_row(name, monkeypatch):
    explainer, rows = make(name)
    calls = Calls(monkeypatch, explainer)
    one = explainer.explain_one(rows.iloc[[0]], values="any")
    assert one.size >= 1
    assert calls.sizes == [1 + len(one.sets)]


@pytest.mark.parametrize("name", sorted(MODELS))
def test_rows_of_the_other_class_and_near_the_decision_are_scored_first(name, monkeypatch):
    explainer, rows = make(name)
    others = table(300, 2)
    others = others[explainer.model.predict(others) == 0][:3]
    calls = Calls(monkeypatch, explainer)
    many = explainer.explain(pd.concat([rows[:2], others]), values="any")
    assert [one.status.value for one in many] == ["optimal"] * 2 + ["not_target"] * 3
    assert calls.sizes[0] == 5


def test_where_reading_and_model_differ_the_model_alone_answers(monkeypatch):
    explainer, rows = make("trees")
    [task] = explainer.tasks
    whole = type(task.reading).gaps
    monkeypatch.setattr(type(task.reading), "gaps", lambda *given: whole(*given) + 2.0)
    one = explainer.explain_one(rows.iloc[[0]], values="any")
    assert one.values_searched == "candidates"
