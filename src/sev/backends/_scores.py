"""Asking a model for its scores: which output, of which class, against which threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sev.backends._registry import scorer_for
from sev.backends._wrappers import decision_rule
from sev.exceptions import InputError, ModelError, TargetError, UnfittedModelError
from sev.typing import BoolArray, FloatArray, NativeTable, Response


@dataclass(frozen=True, eq=False)
class Scorer:
    """The model's own score of one class, and the decision that it leads to.

    The score is the probability of the target, or its decision value. With more than two classes and no threshold
    given, it is the lead of the target over the best other class, so that a row is positive exactly while the
    target is the predicted class.

    Parameters
    ----------
    ask : callable
        Rows to outputs: one column, or one for each class.
    response : {"predict_proba", "decision_function", "call"}
        Which output that is.
    n_classes : int
        Number of classes that the model tells apart.
    target : object
        The class being explained.
    target_index : int
        Its place among the classes.
    threshold : float
        A row is positive when its score is at least this.
    leads : bool
        Whether the score is the lead over the best other class.
    """

    ask: Callable[[NativeTable], Any]
    response: Response
    n_classes: int
    target: Any
    target_index: int
    threshold: float
    leads: bool = False

    def scores(self, rows: NativeTable) -> FloatArray:
        """Score of the target for each row, as the model itself gives it."""
        return self.scores_of(self.ask(rows))

    def scores_of(self, outputs: Any) -> FloatArray:
        """Score of the target, from what the model gave for each row."""
        outputs = np.asarray(outputs)
        if outputs.dtype.kind not in "fiub":
            raise ModelError(f"The model's scores are of dtype {outputs.dtype}; numbers are needed.")
        if outputs.ndim == 2 and outputs.shape[1] == 1:
            outputs = outputs[:, 0]
        if outputs.ndim == 1:
            scores = outputs if self.target_index == 1 else -outputs
        elif self.leads:
            others = np.delete(outputs, self.target_index, axis=1)
            scores = outputs[:, self.target_index] - others.max(axis=1)
        else:
            scores = outputs[:, self.target_index]
        return scores.astype(np.float64, copy=False)

    def is_positive(self, scores: FloatArray) -> BoolArray:
        """Which scores mean the class being explained."""
        return scores >= self.threshold

    @property
    def is_binary(self) -> bool:
        """Whether the model tells two classes apart."""
        return self.n_classes == 2

    @property
    def sign(self) -> int:
        """1 when the score grows with that of the second class, -1 when it falls."""
        return 1 if self.target_index == 1 else -1

    @property
    def threshold_of_second_class(self) -> float:
        """The threshold, on the score of the second of two classes."""
        if self.sign == 1:
            return self.threshold
        return -self.threshold if self.response == "decision_function" else 1.0 - self.threshold


@dataclass(frozen=True, eq=False)
class ModelScores:
    """How a model is asked for scores, before a class is chosen."""

    ask: Callable[[NativeTable], Any]
    response: Response
    classes: tuple[Any, ...]
    own_threshold: tuple[float, int] | None = None
    one_column: bool = False

    def for_target(self, target: Any, threshold: float | None) -> Scorer:
        """Choose the class to explain.

        Parameters
        ----------
        target : object
            One of the model's classes; None is the second one.
        threshold : float or None
            On the score of the target; None is the model's own decision.
        """
        index = _index_of(self.classes, target)
        many = len(self.classes) > 2
        chosen = self._default_threshold(index) if threshold is None else float(threshold)
        if not np.isfinite(chosen):
            raise InputError(f"threshold={threshold!r} is not a finite number.")
        if self.response == "call" and self.one_column and index == 0:
            raise TargetError("A callable scores one class only: pass a callable that scores the class to explain.")
        return Scorer(
            ask=self.ask,
            response=self.response,
            n_classes=len(self.classes),
            target=self.classes[index],
            target_index=index,
            threshold=chosen,
            leads=many and threshold is None,
        )

    def _default_threshold(self, index: int) -> float:
        if len(self.classes) > 2:
            return 0.0  # the lead over the best other class
        middle = 0.0 if self.response == "decision_function" else 0.5
        if self.own_threshold is None:
            return middle
        own, own_index = self.own_threshold
        return own if own_index == index else 2.0 * middle - own


def model_scores(model: Any, sample: NativeTable) -> ModelScores:
    """Find out how to ask a model for scores.

    Parameters
    ----------
    model : object
        Fitted classifier, booster, module or callable.
    sample : table
        A few rows to try it on.
    """
    _check_fitted(model)
    rule = decision_rule(model)
    factory = scorer_for(model)
    if factory is not None:
        return _from_callable(factory(model), sample, getattr(model, "classes_", None))
    response: Response
    if rule is not None:
        response = rule.response
    elif hasattr(model, "predict_proba"):
        response = "predict_proba"
    elif hasattr(model, "decision_function"):
        response = "decision_function"
    elif callable(model):
        return _from_callable(model, sample, None)
    else:
        raise ModelError(
            f"{type(model).__name__} gives no scores: it has neither predict_proba nor decision_function, and is not "
            "callable. Pass a function from rows to scores instead."
        )
    ask = getattr(model, response)
    classes = getattr(model, "classes_", None)
    if classes is None or getattr(np.asarray(classes), "ndim", 1) != 1:
        width = np.asarray(ask(sample)).shape
        classes = range(width[1] if len(width) == 2 and width[1] > 1 else 2)
    names = tuple(np.asarray(classes).tolist()) if not isinstance(classes, range) else tuple(classes)
    if len(names) < 2:
        raise ModelError(f"The model knows one class only ({names[0]!r}): there is no other side to cross to.")
    own = None if rule is None else (rule.threshold, _index_of(names, rule.positive))
    return ModelScores(ask, response, names, own)


def _from_callable(ask: Callable[[NativeTable], Any], sample: NativeTable, classes: Any) -> ModelScores:
    outputs = np.asarray(ask(sample))
    width = outputs.shape[1] if outputs.ndim == 2 else 1
    if outputs.ndim not in (1, 2) or outputs.shape[0] != _n_rows(sample):
        raise ModelError(
            f"The model gave scores of shape {outputs.shape} for {_n_rows(sample)} rows: one score a row is needed, or "
            "one column a class."
        )
    if classes is not None and len(classes) == max(width, 2):
        names = tuple(np.asarray(classes).tolist())
    else:
        names = tuple(range(max(width, 2)))
    return ModelScores(ask, "call", names, one_column=width == 1)


def check_probabilities(scorer: Scorer, scores: FloatArray, threshold: float | None) -> None:
    """Refuse to guess a threshold for a callable whose scores are not probabilities."""
    finite = scores[np.isfinite(scores)]
    if scorer.response != "call" or threshold is not None or scorer.leads or not finite.size:
        return
    if finite.min() < 0.0 or finite.max() > 1.0:
        raise InputError(
            f"The callable's scores lie between {finite.min():.3g} and {finite.max():.3g}, so they are no "
            "probabilities: pass threshold= (0 for log-odds)."
        )


def _check_fitted(model: Any) -> None:
    if isinstance(model, type):
        raise ModelError(f"Got the class {model.__name__}, not an object: pass a fitted model.")
    if isinstance(model, BaseEstimator):
        try:
            check_is_fitted(model)
        except NotFittedError as error:
            raise UnfittedModelError(
                f"This {type(model).__name__} is not fitted: call model.fit(X_train, y_train) first."
            ) from error


def _index_of(classes: tuple[Any, ...], target: Any) -> int:
    if target is None:
        return 1
    for index, name in enumerate(classes):
        if name == target and isinstance(name, bool) == isinstance(target, (bool, np.bool_)):
            return index
    for index, name in enumerate(classes):  # True for 1 and 1 for True, when nothing fits better
        if name == target:
            return index
    raise TargetError(f"target={target!r} is not a class of the model: its classes are {list(classes)}.")


def _n_rows(rows: NativeTable) -> int:
    return rows.shape[0]
