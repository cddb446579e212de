"""Why a model is a black box before any reader has looked at it."""

from __future__ import annotations

from sev.backends._protocol import CannotReadError
from sev.backends._registry import scorer_for
from sev.backends._scores import ModelScores


def refuse_outputs(scores: ModelScores) -> None:
    """Refuse a model whose outputs are not one score of the second of two classes.

    Raises
    ------
    CannotReadError
        With the reason.
    """
    if scores.response == "predict":
        raise CannotReadError("only its labels can be explained, without scores")
    n_classes = len(scores.classes)
    if n_classes != 2:
        raise CannotReadError(f"it has {n_classes} classes, but the exact search supports two only")
    if scores.decides_by_lead:
        raise CannotReadError("it returns one decision value per class")


def is_function(model: object) -> bool:
    """Whether a model is a plain callable, which its user knows to be a black box.

    Parameters
    ----------
    model : object
        What the user passed.

    Returns
    -------
    bool
        False for estimators, boosters and modules.
    """
    scores_rows = hasattr(model, "predict_proba") or hasattr(model, "decision_function") or hasattr(model, "predict")
    return callable(model) and not scores_rows and scorer_for(model) is None


def why_no_reader(estimator: object) -> str:
    """The reason for an estimator that no reader is registered for."""
    if is_function(estimator):
        return "a function can be evaluated, but not read"
    members = getattr(estimator, "estimators_", None)
    if members is not None and len(members) > 1:
        return f"{type(estimator).__name__} combines {len(members)} models, for which there is no exact form"
    return f"there is no exact form of {type(estimator).__name__}"
