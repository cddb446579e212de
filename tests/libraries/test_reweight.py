"""Every library's trees: outputs add up to the margin, and a re-weighted copy is what was asked for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from training.tables import numbers

import sev
from sev.exceptions import ModelError, SevError
from sev.training._ensembles import ensemble_of
from sev.training._trees import TreeTrainer


def _xgboost(**options):
    package = pytest.importorskip("xgboost")
    return package.XGBClassifier(n_estimators=12, max_depth=3, n_jobs=1, **options)


def _lightgbm(**options):
    package = pytest.importorskip("lightgbm")
    return package.LGBMClassifier(n_estimators=12, max_depth=3, n_jobs=1, verbose=-1, **options)


MODELS = {
    "sklearn": lambda: GradientBoostingClassifier(n_estimators=12, random_state=0),
    "sklearn, zero init": lambda: GradientBoostingClassifier(n_estimators=12, init="zero", random_state=0),
    "hist": lambda: HistGradientBoostingClassifier(max_iter=12, random_state=0),
    "xgboost": _xgboost,
    "xgboost, forests": lambda: _xgboost(num_parallel_tree=2, subsample=0.7),
    "lightgbm": _lightgbm,
}


@pytest.fixture(params=MODELS)
def model(request):
    rows, labels = numbers()
    return MODELS[request.param]().fit(rows, labels)


def test_outputs_add_up_to_the_margin(model):
    rows, _ = numbers(seed=1)
    ensemble = ensemble_of(model)
    margins = ensemble.offset + ensemble.outputs(rows).sum(axis=1)
    assert ensemble.outputs(rows).shape == (len(rows), 12)
    np.testing.assert_allclose(expit(margins), model.predict_proba(rows)[:, 1], atol=2e-6)


def test_a_reweighted_copy_has_the_weights_asked_for(model):
    rows, labels = numbers(seed=1)
    before = model.predict_proba(rows)
    ensemble = ensemble_of(model)
    weights = np.random.default_rng(0).uniform(0.2, 1.8, ensemble.n_trees)
    copy = ensemble.reweighted(weights, 0.3)
    expected = expit(ensemble.offset + 0.3 + ensemble.outputs(rows) @ weights)
    assert type(copy) is type(model)
    np.testing.assert_allclose(copy.predict_proba(rows)[:, 1], expected, atol=2e-6)
    np.testing.assert_array_equal(model.predict_proba(rows), before)
    assert sev.Explainer(copy, rows, labels).backend == "trees"


def test_early_stopping_of_xgboost_is_kept():
    rows, labels = numbers()
    model = _xgboost(early_stopping_rounds=2, learning_rate=1.0)
    model.fit(rows[:200], labels[:200], eval_set=[(rows[200:], labels[200:])], verbose=False)
    ensemble = ensemble_of(model)
    assert ensemble.n_trees == model.best_iteration + 1
    np.testing.assert_allclose(
        expit(ensemble.offset + ensemble.outputs(rows).sum(axis=1)), model.predict_proba(rows)[:, 1], atol=2e-6
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RandomForestClassifier(5), "RandomForestClassifier cannot be re-weighted"),
        (lambda: GradientBoostingClassifier(loss="exponential", n_estimators=2), "loss='exponential'"),
        (lambda: GradientBoostingClassifier(init=RandomForestClassifier(2), n_estimators=2), "init"),
        (lambda: _xgboost(booster="dart"), "booster='dart'"),
        (lambda: _lightgbm(boosting_type="rf", bagging_freq=1, bagging_fraction=0.7), "averages its trees"),
        (lambda: _lightgbm(linear_tree=True), "linear_tree"),
    ],
)
def test_what_cannot_be_reweighted_is_refused(make, message):
    rows, labels = numbers()
    model = make().fit(rows, labels)
    with pytest.raises(ModelError, match=message):
        ensemble_of(model)


def test_an_ensemble_without_trees_is_refused_with_a_message_of_this_package():
    xgboost = pytest.importorskip("xgboost")
    rows, labels = numbers()
    model = xgboost.XGBClassifier(n_estimators=0).fit(rows, labels)
    with pytest.raises(SevError, match=r"XGBClassifier has no trees.*n_estimators"):
        TreeTrainer(model, task=None)
