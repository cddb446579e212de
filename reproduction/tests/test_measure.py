"""What a task measures, against the same computed by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from sev_reproduction import Plan, _conditions, _measure, _models, models
from sev_reproduction._data import FIRST_SEED, split
from sev_reproduction._task import Task

PLAN = Plan.of(quick=True, data=("german",), splits=(0,), max_train_rows=300, max_test_rows=40)


def test_a_model_sees_only_the_training_part():
    X_train, X_test, y_train, y_test = split("german", 0, PLAN)
    found = models.run(Task("models", "german", 0, "l2"), PLAN)
    numbers = X_train.select_dtypes("number")
    texts = X_train.drop(columns=numbers.columns)

    def encode(X):
        scaled = (X[numbers.columns] - numbers.mean()) / numbers.std(ddof=0)
        blocks = []
        for name in texts:
            values = sorted(set(texts[name]))
            kept = values[1:] if len(values) == 2 else values
            blocks += [(X[name] == value).to_numpy(dtype=float) for value in kept]
        return np.column_stack([scaled.to_numpy(), *blocks])

    model = LogisticRegression(C=0.01, max_iter=2000, random_state=FIRST_SEED).fit(encode(X_train), y_train)
    scores = model.predict_proba(encode(X_test))[:, 1]
    assert found["test_auc"] == pytest.approx(roc_auc_score(y_test, scores))
    assert found["test_accuracy"] == pytest.approx(((scores >= 0.5) == (y_test == 1)).mean())
    negatives = X_train[y_train == 0]
    # a number of two values is a category: the reference has the more common one
    row = pd.DataFrame(
        [
            {
                name: float(column.mean()) if name in numbers and column.nunique() > 2 else column.mode()[0]
                for name, column in negatives.items()
            }
        ]
    )
    assert found["reference_score"] == pytest.approx(model.predict_proba(encode(row))[0, 1])


@pytest.fixture(scope="module")
def fitted():
    X_train, X_test, y_train, _ = split("german", 0, PLAN)
    model = _models.baseline("l2", X_train, 0, C=1.0).fit(X_train, y_train)
    return _measure.explainer_of(model, X_train, y_train), X_test


def test_a_query_without_a_set_counts_as_all_features_or_not_at_all(fitted):
    explainer, X_test = fitted
    names = tuple(explainer.feature_names)
    asked = _measure.sizes(explainer, X_test[:60], "minus", PLAN)
    assert asked["sev_minus"] == asked["sev_minus_all_features"] >= 1
    # with one feature left, some queries have a set of one feature and the others none
    some = _measure.sizes(explainer, X_test[:60], "minus", PLAN, restricted=names[1:])
    share = some["restricted_unexplainable"]
    assert 0 < share < 1
    assert some["sev_restricted"] == 1
    assert some["sev_restricted_all_features"] == pytest.approx(share * len(names) + (1 - share))


def test_explanations_without_proof_are_counted():
    many = SimpleNamespace(
        sizes=np.array([1.0, 2.0, np.nan, np.nan]),
        statuses=np.array(["optimal", "feasible", "undecided", "not_target"]),
        mean_size=lambda *how: 1.5,
        feature_shares=lambda: pd.Series({"age": 0.5, "home": 0.0}),
    )
    found = _measure.sizes(SimpleNamespace(explain=lambda *a, **k: many), pd.DataFrame(), "minus", PLAN)
    assert (found["minus_not_proven"], found["minus_queries"], found["minus_states"]) == (2, 3, "12DN")
    assert found["minus_features"] == {"age": 0.5}


def test_a_positive_reference_has_no_sev_plus(fitted, monkeypatch):
    explainer, X_test = fitted
    monkeypatch.setattr(_measure, "reference_score", lambda explainer: 0.7)
    assert _measure.sizes(explainer, X_test[:20], "plus", PLAN)["sev_plus"] is None
    assert _measure.sizes(explainer, X_test[:20], "minus", PLAN)["sev_minus"] >= 1


def test_the_leaking_encoder_has_seen_test_rows():
    X_train, X_test, y_train, _ = split("german", 0, PLAN)
    model = _conditions.fit_with_leak(_models.baseline("l2", X_train, 0), X_train, y_train, X_test)
    ages = pd.concat([X_train, X_test])["age"]
    _, scaler, columns = model[0].transformers_[0]
    assert scaler.mean_[list(columns).index("age")] == pytest.approx(ages.mean())
    assert model[-1].n_features_in_ == model[0].transform(X_test).shape[1]
