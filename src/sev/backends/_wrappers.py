"""Wrappers around a classifier: pipelines, searches, thresholds, calibration.

Each is taken off if that is mathematically right: what comes before the final estimator becomes a transform of the
rows, what comes after it a monotone map of its score.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from sev.backends._links import Link, calibration_link
from sev.backends._overrides import refuse_overrides
from sev.backends._protocol import CannotReadError
from sev.typing import FloatArray, NativeTable, Response


@dataclass
class Unwrapped:
    """A final estimator and what was around it."""

    estimator: Any
    response: Response
    transforms: list[Callable[[NativeTable], Any]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def transform(self, rows: NativeTable) -> Any:
        """Rows as the model takes them, as its final estimator takes them."""
        for transform in self.transforms:
            rows = transform(rows)
        return rows

    def link(self, scores: FloatArray) -> FloatArray:
        """Scores of the final estimator, as scores of the model."""
        for link in reversed(self.links):
            scores = link.apply(scores)
        return scores

    @property
    def direction(self) -> Literal[-1, 1]:
        """1 when the model's score never falls as that of the final estimator grows, -1 when it never rises."""
        n_falling = sum(link.direction == -1 for link in self.links)
        return -1 if n_falling % 2 else 1


@dataclass(frozen=True)
class DecisionRule:
    """How a model with a threshold of its own decides: positive when the score of ``positive`` reaches it.

    A ``positive`` of None is the second class.
    """

    response: Response
    threshold: float
    positive: Any = None


def unwrap(model: Any, response: Response) -> Unwrapped:
    """Take wrappers off until the final estimator is reached.

    Raises
    ------
    CannotReadError
        When a wrapper combines several models, or maps scores in a way that is not monotone.
    """
    found = Unwrapped(model, response)
    while True:
        wrapper = _sklearn_class(found.estimator, _HANDLERS)
        if wrapper is not None:
            refuse_overrides(found.estimator, wrapper)
            _HANDLERS[wrapper.__name__](found)
        elif hasattr(found.estimator, "split_encoder"):
            _take_encoder_off(found)
        else:
            return found


def decision_rule(model: Any) -> DecisionRule | None:
    """The threshold of its own by which a model predicts; None when it has none.

    It is looked for wherever ``predict`` leads: through pipelines, searches and frozen estimators.
    """
    while (inner := _predicted_by(model)) is not None:
        model = inner
    if class_is_among(model, {"catboost.CatBoostClassifier"}):
        return _rule_of_catboost(model)
    if class_is_among(model, {"skorch.NeuralNetBinaryClassifier"}):
        return DecisionRule("predict_proba", float(model.threshold))
    if _sklearn_class(model, _THRESHOLDS) is not None:
        return _rule_of_wrapper(model)
    return None


def _predicted_by(model: Any) -> Any | None:
    """The model inside a wrapper that hands ``predict`` on to it."""
    wrapper = _sklearn_class(model, {*_HANDLERS, "StackingClassifier"})
    name = None if wrapper is None else wrapper.__name__
    if name == "Pipeline":
        return model.steps[-1][1]
    if name == "StackingClassifier":
        return model.final_estimator_
    if name in _SEARCHES:
        return getattr(model, "best_estimator_", None)
    if name == "FrozenEstimator":
        return model.estimator
    return model.estimator_ if name in (*_DELEGATING, "RFE") else None


def _rule_of_catboost(model: Any) -> DecisionRule | None:
    if len(model.classes_) != 2:
        return None
    return DecisionRule("predict_proba", float(model.get_probability_threshold()))


def _rule_of_wrapper(model: Any) -> DecisionRule:
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
    return DecisionRule(response, float(threshold), positive)


def _take_pipeline_off(found: Unwrapped) -> None:
    *before, (_, last) = found.estimator.steps
    steps = [step for _, step in before if step is not None and step != "passthrough"]
    if any(hasattr(step, "fit_resample") for step in steps):
        # Samplers of imbalanced-learn work in `fit` only: rows to be scored pass them unchanged.
        found.transforms += [step.transform for step in steps if not hasattr(step, "fit_resample")]
    elif steps:
        found.transforms.append(found.estimator[:-1].transform)
    if last is None or last == "passthrough":
        raise CannotReadError("its last step is no estimator")
    found.estimator = last


def _take_search_off(found: Unwrapped) -> None:
    found.estimator = found.estimator.best_estimator_


def _take_freeze_off(found: Unwrapped) -> None:
    # `estimator_` would be an attribute of the frozen model: forests and bagging have one that is not fitted.
    found.estimator = found.estimator.estimator


def _take_threshold_off(found: Unwrapped) -> None:
    wrapper = found.estimator
    found.estimator = getattr(wrapper, "estimator_", wrapper.estimator)


def _take_delegate_off(found: Unwrapped) -> None:
    found.estimator = found.estimator.estimator_


def _take_selection_off(found: Unwrapped) -> None:
    found.transforms.append(found.estimator.transform)
    found.estimator = found.estimator.estimator_


def _take_one_vs_rest_off(found: Unwrapped) -> None:
    members = found.estimator.estimators_
    if len(members) != 1 or len(found.estimator.classes_) != 2:
        raise CannotReadError(f"OneVsRestClassifier combines {len(members)} models")
    found.estimator = members[0]


def _take_encoder_off(found: Unwrapped) -> None:
    encode, estimator = found.estimator.split_encoder()
    found.transforms.append(encode)
    found.estimator = estimator


def _take_calibration_off(found: Unwrapped) -> None:
    fitted = found.estimator.calibrated_classifiers_
    if len(fitted) != 1:
        raise CannotReadError(
            f"CalibratedClassifierCV averages {len(fitted)} calibrated models, which is no monotone map of one; "
            "ensemble=False keeps one"
        )
    if len(fitted[0].calibrators) != 1 or len(fitted[0].classes) != 2:
        raise CannotReadError("a calibration of more than two classes is no monotone map of one score")
    inside = fitted[0].estimator
    found.response = "decision_function" if hasattr(inside, "decision_function") else "predict_proba"
    found.links.append(calibration_link(fitted[0].calibrators[0], found.response))
    found.estimator = inside


_SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
_THRESHOLDS = ("FixedThresholdClassifier", "TunedThresholdClassifierCV")
#: Wrappers that train a model in their own way and then hand every prediction on to it.
_DELEGATING = ("SelfTrainingClassifier",)

_HANDLERS: dict[str, Callable[[Unwrapped], None]] = {
    "Pipeline": _take_pipeline_off,
    "FrozenEstimator": _take_freeze_off,
    "CalibratedClassifierCV": _take_calibration_off,
    "OneVsRestClassifier": _take_one_vs_rest_off,
    "RFE": _take_selection_off,
    **dict.fromkeys(_SEARCHES, _take_search_off),
    **dict.fromkeys(_THRESHOLDS, _take_threshold_off),
    **dict.fromkeys(_DELEGATING, _take_delegate_off),
}


def _sklearn_class(model: Any, names: Collection[str]) -> type | None:
    """The scikit-learn class that an object is, or descends from, if it is one of some."""
    for cls in type(model).__mro__:
        if cls.__module__.partition(".")[0] == "sklearn" and cls.__name__ in names:
            return cls
    return None


def class_is_among(model: Any, keys: Collection[str]) -> bool:
    """Whether the class of a model, or an ancestor of it, is one of ``"package.Class"``."""
    return any(f"{cls.__module__.partition('.')[0]}.{cls.__name__}" in keys for cls in type(model).__mro__)
