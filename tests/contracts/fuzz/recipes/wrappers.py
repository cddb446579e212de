"""Calibration, thresholds, searches, frozen estimators, and subclasses with rules of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from contracts.fuzz.draw import Rng, classifier, labels_of, numbers, split
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.recipes.boosters import make_lightgbm
from contracts.fuzz.recipes.plain import LINEAR, TREES, pick
from contracts.fuzz.setups import Setup
from sklearn import ensemble, linear_model, naive_bayes, svm, tree
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

INNER = {**{name: LINEAR[name] for name in ("logistic", "svc", "gaussian")}, **TREES, "lightgbm": make_lightgbm}
CLOSE = {"rounding": 1e-9, "order_tolerance": 1e-6}


@recipe
def calibrated_models(rng: Rng) -> Setup:
    rows = numbers(rng)
    # labels with much noise: a calibration on them may fall
    background, y, queries = split(rows, labels_of(rng, rows, noise=float(rng.choice([0.3, 5.0]))))
    frozen = bool(rng.random() < 0.5)
    inner = FrozenEstimator(pick(rng, INNER).fit(background, y)) if frozen else pick(rng, INNER)
    model = CalibratedClassifierCV(
        inner, method=str(rng.choice(["sigmoid", "isotonic"])), ensemble=bool(rng.random() < 0.2), cv=3
    )
    # a score on the step of an isotonic map is decided by the last bit of the inner score
    return classifier(rng, model.fit(background, y), background, y, queries, **CLOSE)


@recipe
def falling_calibrations(rng: Rng) -> Setup:
    """Calibrated on other labels than those that the model was fitted on: the probability falls with the score."""
    rows = numbers(rng)
    background, y, queries = split(rows, labels_of(rng, rows, noise=0.1))
    inner = pick(rng, {name: INNER[name] for name in ("logistic", "svc", "forest", "boosting", "hist")})
    inner.fit(background, y)
    model = CalibratedClassifierCV(FrozenEstimator(inner), method="sigmoid", ensemble=False, cv=3)
    model.fit(background, 1 - y)
    return classifier(rng, model, background, 1 - y, queries, **CLOSE)


@recipe
def threshold_wrappers(rng: Rng) -> Setup:
    """Thresholds around, inside and below other wrappers; the decision is that of ``predict``."""
    rows = numbers(rng)
    background, y, queries = split(rows, labels_of(rng, rows))
    threshold = float(rng.choice([0.25, 0.4, 0.65]))
    inner = pick(rng, {name: INNER[name] for name in ("logistic", "gaussian", "forest", "boosting", "hist")})
    model: Any = FixedThresholdClassifier(inner, threshold=threshold, response_method="predict_proba")
    shape = str(rng.choice(["plain", "frozen", "frozen inside", "pipeline", "search", "frozen in pipeline"]))
    if shape == "frozen":
        model = FrozenEstimator(model.fit(background, y))
    elif shape == "frozen inside":
        model = FixedThresholdClassifier(
            FrozenEstimator(inner.fit(background, y)), threshold=threshold, response_method="predict_proba"
        ).fit(background, y)
    elif shape == "pipeline":
        model = make_pipeline(StandardScaler(), model).fit(background, y)
    elif shape == "search":
        model = GridSearchCV(model, {}, cv=2).fit(background, y)
    elif shape == "frozen in pipeline":
        scaler = StandardScaler().fit(background)
        model = make_pipeline(scaler, FrozenEstimator(model.fit(scaler.transform(background), y)))
    else:
        model = model.fit(background, y)
    return classifier(rng, model, background, y, queries, vary_threshold=False, threshold=threshold, **CLOSE)


@recipe
def tuned_thresholds(rng: Rng) -> Setup:
    rows = numbers(rng)
    background, y, queries = split(rows, labels_of(rng, rows))
    inner = pick(rng, {name: INNER[name] for name in ("logistic", "forest", "hist")})
    model: Any = TunedThresholdClassifierCV(inner, cv=2, thresholds=9, response_method="predict_proba")
    model.fit(background, y)
    threshold = float(model.best_threshold_)
    if rng.random() < 0.5:
        model = FrozenEstimator(model)
    return classifier(rng, model, background, y, queries, vary_threshold=False, threshold=threshold, **CLOSE)


class _Rule:
    """Overrides what the model returns for rows beyond a limit that no background row reaches."""

    limit = 3.0

    def predict_proba(self, X: Any) -> np.ndarray:
        outputs = super().predict_proba(X).copy()  # type: ignore[misc]
        values = np.asarray(X, dtype=float)
        beyond = (np.abs(values[:, 0]) > self.limit) & (values[:, -1] < self.limit)
        outputs[beyond] = [0.05, 0.95]
        return outputs

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[(self.predict_proba(X)[:, 1] >= 0.5).astype(int)]


class RuledLogistic(_Rule, linear_model.LogisticRegression):
    pass


class RuledForest(_Rule, ensemble.RandomForestClassifier):
    pass


class RuledTree(_Rule, tree.DecisionTreeClassifier):
    pass


class RuledBayes(_Rule, naive_bayes.GaussianNB):
    pass


def _ruled_xgboost() -> Any:
    import xgboost

    class RuledBooster(_Rule, xgboost.XGBClassifier):
        pass

    return RuledBooster(n_estimators=5, max_depth=3, n_jobs=1)


@recipe
def subclasses_with_their_own_rule(rng: Rng) -> Setup:
    rows = np.clip(numbers(rng, int(rng.integers(2, 6))), -3.0, 3.0)
    background, y, queries = split(rows, labels_of(rng, rows))
    queries = queries.copy()
    queries[rng.random(len(queries)) < 0.7, 0] = 4.0
    made = {
        "logistic": RuledLogistic,
        "forest": lambda: RuledForest(6, max_depth=3, random_state=0),
        "tree": lambda: RuledTree(max_depth=3, random_state=0),
        "bayes": RuledBayes,
        "xgboost": _ruled_xgboost,
    }
    model: Any = pick(rng, made)
    if rng.random() < 0.3:
        model = make_pipeline(StandardScaler(with_mean=False, with_std=False), model)
    return classifier(
        rng, model.fit(background, y), background, y, queries, saves=False, rounding=1e-9, order_tolerance=1e-5
    )


class ShiftedSVC(svm.LinearSVC):
    """Decides at another value than its ancestor, for rows that no background row is like."""

    def decision_function(self, X: Any) -> np.ndarray:
        values = np.asarray(X, dtype=float)
        return super().decision_function(X) + np.where(values[:, 0] > 3.0, 2.0, 0.0)


@recipe
def subclasses_of_decision_functions(rng: Rng) -> Setup:
    rows = np.clip(numbers(rng, int(rng.integers(2, 6))), -3.0, 3.0)
    background, y, queries = split(rows, labels_of(rng, rows))
    queries = queries.copy()
    queries[rng.random(len(queries)) < 0.7, 0] = 4.0
    model = ShiftedSVC(random_state=0, max_iter=100).fit(background, y)
    return classifier(rng, model, background, y, queries, saves=False, rounding=1e-9, order_tolerance=1e-6)
