"""From a user's own fitted model to a better one, or an honest refusal."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from training.tables import numbers, raw

pytest.importorskip("torch", reason="training needs torch")

import sev
from sev.exceptions import InputError, ModelError, TrainingWarning
from sev.training import OptimizationRecord
from sev.training._settings import SCHEDULES


@pytest.fixture(autouse=True)
def _short_schedules(monkeypatch):
    """A quarter of the steps: these tests are about the path, not about where it ends."""
    short = {family: replace(one, epochs=max(10, one.epochs // 4)) for family, one in SCHEDULES["recipe"].items()}
    monkeypatch.setitem(SCHEDULES, "recipe", short)


def encoder():
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income", "constant"]),
        (OneHotEncoder(handle_unknown="ignore"), ["home", "member", "region"]),
    )


MODELS = {
    "linear": lambda: make_pipeline(encoder(), LogisticRegression()),
    "network": lambda: make_pipeline(
        encoder(), MLPClassifier((16,), max_iter=200, learning_rate_init=0.01, tol=1e-3, random_state=0)
    ),
    "trees": lambda: make_pipeline(encoder(), GradientBoostingClassifier(n_estimators=20, random_state=0)),
}


@pytest.mark.parametrize("family", MODELS)
def test_a_users_pipeline_gets_fewer_reasons(family):
    rows, labels = raw(500)
    model = MODELS[family]().fit(rows, labels)
    before = model.predict_proba(rows)
    better, record = sev.optimize(model, rows, labels, penalties=[1.0], max_accuracy_loss=0.1, max_rate_change=0.3)
    assert type(better) is type(model)
    assert isinstance(record, OptimizationRecord)
    assert record.chosen == 1.0
    table = sev.compare({"before": model, "after": better}, rows, labels, kinds=["minus"])
    assert table.loc["after", "sev_minus"] < table.loc["before", "sev_minus"]
    np.testing.assert_array_equal(model.predict_proba(rows), before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        backend = sev.Explainer(better, rows, labels, reference="mean").backend
    assert backend == {"linear": "linear", "network": "networks", "trees": "trees"}[family]


def test_the_record_holds_the_whole_path():
    rows, labels = numbers(500)
    model = LogisticRegression().fit(rows, labels)
    _, record = sev.optimize(model, rows, labels, penalties=[0.3, 0.1], max_accuracy_loss=0.2)
    assert record.path.index.tolist() == [0.0, 0.1, 0.3]
    assert {"accuracy", "auc", "positive_rate", "sev", "share_of_one", "acceptable", "why"} <= set(record.path)
    assert record.path["acceptable"].all()
    assert "cross-validation" in record.validation
    assert "mean SEV" in str(record)


def test_large_data_have_a_validation_part():
    rows, labels = numbers(2400)
    model = LogisticRegression().fit(rows, labels)
    _, record = sev.optimize(model, rows, labels, penalties=[1.0], max_accuracy_loss=1.0)
    assert "a held-out quarter of the rows" in record.validation


def test_nothing_within_the_floor_returns_the_model_and_says_so():
    rows, labels = numbers(500, 6)
    model = LogisticRegression().fit(rows, labels)
    with pytest.warns(TrainingWarning, match="returned unchanged"):
        same, record = sev.optimize(model, rows, labels, penalties=[30.0], max_accuracy_loss=0.0, max_rate_change=1.0)
    assert same is model
    assert record.chosen is None
    assert not record.path.loc[30.0, "acceptable"]
    assert "30: accuracy" in record.reason


def test_a_moved_share_of_positives_is_refused():
    rows, labels = numbers(500, 6)
    model = LogisticRegression().fit(rows, labels)
    with pytest.warns(TrainingWarning, match="share of positives"):
        _, record = sev.optimize(model, rows, labels, penalties=[3.0], max_accuracy_loss=1.0, max_rate_change=0.0)
    assert record.chosen is None
    assert "share of positives" in record.path.loc[3.0, "why"]


def test_a_search_gives_its_best_model():
    rows, labels = numbers(400)
    search = GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]})
    better, _ = sev.optimize(search.fit(rows, labels), rows, labels, penalties=[1.0], max_accuracy_loss=0.2)
    assert [name for name, _ in better.steps] == ["standardscaler", "logisticregression"]


def test_restricted_groups_and_frames():
    rows, labels = numbers(400, 4)
    frame = pd.DataFrame(rows, columns=["age", "debt", "income", "assets"])
    model = LogisticRegression().fit(frame, labels)
    options = {"restricted": ["age"], "groups": {"wealth": ["income", "assets"]}}
    limits = {"max_accuracy_loss": 0.3, "max_rate_change": 0.5}
    _, record = sev.optimize(model, frame, labels, penalties=[1.0], **limits, **options)
    assert record.path.loc[1.0, "unexplainable"] <= record.path.loc[0.0, "unexplainable"]
    assert record.path.loc[1.0, "sev"] < record.path.loc[0.0, "sev"]


def test_histogram_trees_fitted_on_frames_do_not_warn():
    rows, labels = numbers(400, 3)
    frame = pd.DataFrame(rows, columns=["age", "debt", "income"])
    model = HistGradientBoostingClassifier(max_iter=15).fit(frame, labels)
    sev.optimize(model, frame, labels, penalties=[0.3], max_accuracy_loss=1.0, max_rate_change=1.0)


def test_models_of_our_own_are_tuned_further():
    rows, labels = numbers(400)
    model = sev.SEVLogisticRegression(sev_penalty=0.0, max_iter=5, random_state=0).fit(rows, labels)
    better, _ = sev.optimize(model, rows, labels, penalties=[1.0], max_accuracy_loss=0.3)
    assert type(better) is type(model)
    np.testing.assert_array_equal(better.coef_, better.final_estimator_.coef_)
    assert not np.array_equal(better.coef_, model.coef_)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RandomForestClassifier(5), "RandomForestClassifier cannot be tuned"),
        (lambda: make_pipeline(PCA(2), LogisticRegression()), "cannot be tuned feature by feature"),
        (lambda: FixedThresholdClassifier(LogisticRegression(), threshold=0.3), "changes the decision threshold"),
        (lambda: CalibratedClassifierCV(LogisticRegression(), ensemble=False), "then calibrate"),
    ],
)
def test_models_that_cannot_be_tuned_are_refused(make, message):
    rows, labels = numbers()
    with pytest.raises(ModelError, match=message):
        sev.optimize(make().fit(rows, labels), rows, labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalties": []}, "penalties"),
        ({"penalties": [-1.0]}, "penalties"),
        ({"max_accuracy_loss": -0.1}, "max_accuracy_loss=-0.1"),
        ({"objective": "less"}, "objective='less'"),
        ({"restricted": "x0"}, "list of names"),
    ],
)
def test_wrong_use_is_refused(options, message):
    rows, labels = numbers()
    with pytest.raises(InputError, match=message):
        sev.optimize(LogisticRegression().fit(rows, labels), rows, labels, **options)


def test_labels_must_be_the_models():
    rows, labels = numbers()
    model = LogisticRegression().fit(rows, labels)
    with pytest.raises(InputError, match=r"y holds \[2\], but the classes of the model are \[0, 1\]"):
        sev.optimize(model, rows, labels + 1)
    with pytest.raises(InputError, match="one label for each row"):
        sev.optimize(model, rows, labels[:-1])
    with pytest.raises(InputError, match="Only one class in y, 1:"):
        sev.optimize(model, rows, np.ones_like(labels))
