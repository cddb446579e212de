"""Wrappers around models: how each is taken off, what it hands predictions on to, and which threshold it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sev.backends import CannotReadError, DecisionRule, Unwrapped
from sev.libraries.sklearn.calibration import calibration_link
from sev.typing import Response

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, MetaEstimatorMixin
    from sklearn.ensemble import StackingClassifier
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.pipeline import Pipeline


def take_pipeline_off(found: Unwrapped) -> None:
    """The steps before the last one transform rows."""
    *before, (_, last) = found.estimator.steps
    steps = [step for _, step in before if step is not None and step != "passthrough"]
    if any(hasattr(step, "fit_resample") for step in steps):
        # Samplers of imbalanced-learn work in `fit` only: rows to be scored pass them unchanged.
        found.transforms += [step.transform for step in steps if not hasattr(step, "fit_resample")]
    elif steps:
        found.transforms.append(found.estimator[:-1].transform)
    if last is None or last == "passthrough":
        raise CannotReadError("its last step is not an estimator")
    found.estimator = last


def take_search_off(found: Unwrapped) -> None:
    """A search over parameters scores with its best estimator."""
    found.estimator = found.estimator.best_estimator_


def take_freeze_off(found: Unwrapped) -> None:
    """A frozen estimator scores as the one inside."""
    # `estimator_` would be an attribute of the frozen model: forests and bagging have one that is not fitted.
    found.estimator = found.estimator.estimator


def take_threshold_off(found: Unwrapped) -> None:
    """A threshold changes labels, no scores."""
    wrapper = found.estimator
    found.estimator = getattr(wrapper, "estimator_", wrapper.estimator)


def take_self_training_off(found: Unwrapped) -> None:
    """It trains a model in its own way and then scores with it."""
    found.estimator = found.estimator.estimator_


def take_selection_off(found: Unwrapped) -> None:
    """Columns are selected before the model scores."""
    found.transforms.append(found.estimator.transform)
    found.estimator = found.estimator.estimator_


def take_one_vs_rest_off(found: Unwrapped) -> None:
    """One model for two classes is that model."""
    members = found.estimator.estimators_
    if len(members) != 1 or len(found.estimator.classes_) != 2:
        raise CannotReadError(f"OneVsRestClassifier combines {len(members)} models")
    found.estimator = members[0]


def take_calibration_off(found: Unwrapped) -> None:
    """A calibration is a monotone map of the score of one model."""
    fitted = found.estimator.calibrated_classifiers_
    if len(fitted) != 1:
        raise CannotReadError(
            f"CalibratedClassifierCV averages {len(fitted)} calibrated models, so its score is not a monotone function "
            "of one model's score; fit it with ensemble=False to keep one model"
        )
    if len(fitted[0].calibrators) != 1 or len(fitted[0].classes) != 2:
        raise CannotReadError("calibrated scores of more than two classes are not a monotone function of one score")
    inside = fitted[0].estimator
    found.response = "decision_function" if hasattr(inside, "decision_function") else "predict_proba"
    found.links.append(calibration_link(fitted[0].calibrators[0], found.response))
    found.estimator = inside


# -- what predicts in place of a wrapper, None where nothing fitted is inside ------------------------------------------


def last_step(pipeline: Pipeline) -> BaseEstimator:
    """Of a pipeline."""
    return pipeline.steps[-1][1]


def final_estimator(stack: StackingClassifier) -> BaseEstimator:
    """Of a stack."""
    return stack.final_estimator_


def best_estimator(search: BaseSearchCV) -> BaseEstimator | None:
    """Of a search over parameters."""
    return getattr(search, "best_estimator_", None)


def frozen_estimator(frozen: FrozenEstimator) -> BaseEstimator:
    """Of an estimator that is not fitted again."""
    return frozen.estimator


def fitted_estimator(wrapper: MetaEstimatorMixin) -> BaseEstimator:
    """Of a wrapper that fits one estimator."""
    return wrapper.estimator_


def decision_rule(model: MetaEstimatorMixin) -> DecisionRule:
    """The threshold of a wrapper that has one."""
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
