"""Wrappers around a classifier: pipelines, searches, thresholds, calibration.

Each is taken off if that is mathematically right: what comes before the final estimator becomes a transform of the
rows, what comes after it a map of its score that never falls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sev.backends._protocol import CannotReadError
from sev.typing import FloatArray, NativeTable, Response


@dataclass
class Unwrapped:
    """A final estimator and what was around it."""

    estimator: Any
    response: Response
    transforms: list[Callable[[NativeTable], Any]] = field(default_factory=list)
    links: list[Callable[[FloatArray], FloatArray]] = field(default_factory=list)

    def transform(self, rows: NativeTable) -> Any:
        """Rows as the model takes them, as its final estimator takes them."""
        for transform in self.transforms:
            rows = transform(rows)
        return rows

    def link(self, scores: FloatArray) -> FloatArray:
        """Scores of the final estimator, as scores of the model."""
        for link in reversed(self.links):
            scores = link(scores)
        return scores


@dataclass(frozen=True)
class DecisionRule:
    """How a threshold wrapper decides: positive when the score of ``positive`` is at least ``threshold``."""

    response: Response
    threshold: float
    positive: Any


def unwrap(model: Any, response: Response) -> Unwrapped:
    """Take wrappers off until the final estimator is reached.

    Raises
    ------
    CannotReadError
        When a wrapper combines several models, or maps scores in a way that is not monotone.
    """
    found = Unwrapped(model, response)
    while True:
        name = _sklearn_name(found.estimator)
        handler = _HANDLERS.get(name) if name is not None else None
        if handler is None and hasattr(found.estimator, "split_encoder"):
            handler = _encoder_pair
        if handler is None:
            return found
        handler(found)


def decision_rule(model: Any) -> DecisionRule | None:
    """The rule of a threshold wrapper, also where it sits in a pipeline or a search; None when there is none."""
    name = _sklearn_name(model)
    if name == "Pipeline":
        return decision_rule(model.steps[-1][1])
    if name in _SEARCHES:
        return decision_rule(getattr(model, "best_estimator_", None))
    if name not in ("FixedThresholdClassifier", "TunedThresholdClassifierCV"):
        return None
    response: Response = "decision_function"
    if model.response_method == "predict_proba" or (
        model.response_method == "auto" and hasattr(model, "predict_proba")
    ):
        response = "predict_proba"
    middle = 0.5 if response == "predict_proba" else 0.0
    threshold = getattr(model, "best_threshold_", None)
    if threshold is None:
        threshold = middle if model.threshold == "auto" else model.threshold
    positive = getattr(model, "pos_label", None)
    if positive is None and hasattr(model, "_curve_scorer"):
        positive = model._curve_scorer._get_pos_label()
    if positive is None:
        positive = np.asarray(model.classes_).tolist()[1]
    return DecisionRule(response, float(threshold), positive)


def _pipeline(found: Unwrapped) -> None:
    pipeline = found.estimator
    if len(pipeline.steps) > 1:
        found.transforms.append(pipeline[:-1].transform)
    found.estimator = pipeline.steps[-1][1]


def _search(found: Unwrapped) -> None:
    found.estimator = found.estimator.best_estimator_


def _inner(found: Unwrapped) -> None:
    found.estimator = getattr(found.estimator, "estimator_", None) or found.estimator.estimator


def _encoder_pair(found: Unwrapped) -> None:
    encode, estimator = found.estimator.split_encoder()
    found.transforms.append(encode)
    found.estimator = estimator


def _calibrated(found: Unwrapped) -> None:
    fitted = found.estimator.calibrated_classifiers_
    if len(fitted) != 1:
        raise CannotReadError(
            f"CalibratedClassifierCV averages {len(fitted)} calibrated models, which is no monotone map of one; "
            "ensemble=False keeps one"
        )
    if len(fitted[0].calibrators) != 1 or len(fitted[0].classes) != 2:
        raise CannotReadError("a calibration of more than two classes is no monotone map of one score")
    found.links.append(partial(_calibrate, fitted[0].calibrators[0]))
    found.estimator = fitted[0].estimator
    found.response = "decision_function" if hasattr(found.estimator, "decision_function") else "predict_proba"


def _calibrate(calibrator: Any, scores: FloatArray) -> FloatArray:
    mapped = np.asarray(calibrator.predict(scores), dtype=np.float64)
    return mapped[:, 1] if mapped.ndim == 2 else mapped


_SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")

_HANDLERS: dict[str, Callable[[Unwrapped], None]] = {
    "Pipeline": _pipeline,
    "FrozenEstimator": _inner,
    "FixedThresholdClassifier": _inner,
    "TunedThresholdClassifierCV": _inner,
    "CalibratedClassifierCV": _calibrated,
    **dict.fromkeys(_SEARCHES, _search),
}


def _sklearn_name(model: Any) -> str | None:
    """Name of the scikit-learn class that an object is, or descends from, if it is one of the wrappers."""
    for cls in type(model).__mro__:
        if cls.__module__.partition(".")[0] == "sklearn" and cls.__name__ in _HANDLERS:
            return cls.__name__
    return None
