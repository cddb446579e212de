"""What the estimators hand to the trainers, and what they make of what comes back."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from training.tables import numbers

pytest.importorskip("torch", reason="training needs torch")

import sev
from sev.exceptions import TrainingError, TrainingWarning
from sev.training import _estimators
from sev.training._task import Trained


@pytest.fixture
def handed(monkeypatch):
    """Calls of the trainer: base model, task and settings; the base model comes back, moved by ``shift``."""
    calls = []

    def train(base, task, settings):
        calls.append((base, task, settings))
        tuned = deepcopy(base)
        tuned.intercept_ = tuned.intercept_ + train.shift
        return Trained(tuned, [{"total": 0.0}])

    train.shift = 0.0
    # the share of decisions on rows held out would call the trainer again
    monkeypatch.setattr(_estimators, "hold_out", lambda *_: None)
    train.calls = calls
    monkeypatch.setattr(_estimators, "train", train)
    return train


def table():
    """Two numbers and a text of three values, with their labels."""
    rows, labels = numbers(150, 3)
    frame = pd.DataFrame(rows[:, :2], columns=["age", "debt"])
    frame.insert(1, "home", np.choose(np.digitize(rows[:, 2], [-0.5, 0.5]), ["own", "rent", "free"]))
    return frame, labels


def test_the_task_is_the_encoded_table(handed):
    frame, labels = table()
    model = sev.SEVLogisticRegression(restricted=["home"], random_state=0).fit(frame, labels)
    ((_, task, _),) = handed.calls
    assert task.column_feature.tolist() == [0, 2, 1, 1, 1]  # numbers first, then the columns of the text
    assert task.allowed.tolist() == [True, False, True]
    assert task.present.tolist() == [0, 2]
    assert task.restricted.tolist() == [1]
    np.testing.assert_array_equal(task.labels, labels)
    np.testing.assert_array_equal(task.rows, model.encoder_.transform(frame))


def test_the_reference_is_the_mean_of_the_negatives(handed):
    frame, labels = table()
    model = sev.SEVLogisticRegression(random_state=0).fit(frame, labels)
    negatives = frame[labels == 0]
    expected = {"age": negatives["age"].mean(), "debt": negatives["debt"].mean(), "home": negatives["home"].mode()[0]}
    assert model.reference_ == pytest.approx(expected)
    ((_, task, _),) = handed.calls
    row = pd.DataFrame([expected])[list(frame.columns)]
    np.testing.assert_allclose(task.reference, model.encoder_.transform(row)[0])


def test_seeds_are_those_of_the_user(handed):
    rows, labels = numbers(150)
    for state in (0, 0, 1):
        sev.SEVLogisticRegression(random_state=state).fit(rows, labels)
    seeds = [settings.seed for _, _, settings in handed.calls]
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_base_without_a_seed_gets_one(handed):
    rows, labels = numbers(150)
    asked = LogisticRegression()
    model = sev.SEVLogisticRegression(base_estimator=asked, random_state=0).fit(rows, labels)
    ((base, _, settings),) = handed.calls
    assert base.random_state == settings.seed
    assert asked.random_state is None
    assert not hasattr(asked, "coef_")
    given = sev.SEVLogisticRegression(base_estimator=LogisticRegression(random_state=3), random_state=0)
    assert given.fit(rows, labels).base_estimator_.random_state == 3
    assert model.base_estimator_ is base


def test_nobody_positive_after_training_is_refused(handed):
    rows, labels = numbers(150)
    handed.shift = -100.0
    with pytest.raises(TrainingError, match="no row of the training data is predicted 1"):
        sev.SEVLogisticRegression(random_state=0).fit(rows, labels)


def test_a_reference_that_is_just_positive_is_told(handed):
    rows, labels = numbers(150)
    plain = sev.SEVLogisticRegression(random_state=0).fit(rows, labels)
    ((_, task, _),) = handed.calls
    handed.shift = 0.01 - plain.final_estimator_.decision_function(task.reference[None])[0]
    with pytest.warns(TrainingWarning, match=r"its score is 0\.502"):
        sev.SEVLogisticRegression(random_state=0).fit(rows, labels)


def test_decisions_turn_at_one_half(handed):
    rows, labels = numbers(400)
    model = sev.SEVLogisticRegression(random_state=0).fit(rows, labels)
    np.testing.assert_array_equal(model.predict(rows), model.predict_proba(rows)[:, 1] >= 0.5)
    assert ((model.predict_proba(rows)[:, 1] > 0.4) & (model.predict(rows) == 0)).any()


@pytest.mark.parametrize(("n_rows", "stops"), [(99, False), (100, True)])
def test_the_default_perceptron_stops_early_where_rows_can_be_spared(n_rows, stops):
    base = sev.SEVMLPClassifier()._default_base(7, n_rows)
    assert isinstance(base, MLPClassifier)
    assert (base.hidden_layer_sizes, base.early_stopping, base.random_state) == ((128, 128), stops, 7)
