"""The model's own score of one class, and the decision that it leads to."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sev.backends._outputs import as_scores, count_rows
from sev.backends._stopping import check_stopped
from sev.core import list_names, plain_value, suggest_name, warn_user
from sev.exceptions import InputError, ModelError, TargetError, TargetWarning
from sev.typing import BoolArray, ClassLabel, FloatArray, ModelOutput, NativeTable, Response


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
    response : {"predict_proba", "decision_function", "call", "predict"}
        Which output that is; "predict": labels only, as scores of 0 and 1.
    n_classes : int
        Number of classes of the model.
    target : object
        The class being explained.
    target_index : int
        Its place among the classes.
    threshold : float
        A row is positive when its score is at least this.
    leads : bool
        Whether the score is the lead over the best other class.
    """

    ask: Callable[[NativeTable], ModelOutput]
    response: Response
    n_classes: int
    target: ClassLabel | None
    target_index: int
    threshold: float
    leads: bool = False

    def scores(self, rows: NativeTable) -> FloatArray:
        """Score of the target for each row, as the model itself returns it.

        Parameters
        ----------
        rows : table or array
            Rows as the model takes them.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        check_stopped()
        return self.scores_of(self.ask(rows), count_rows(rows))

    def outputs(self, rows: NativeTable) -> FloatArray:
        """Scores of all classes for each row, as the model itself returns them.

        Parameters
        ----------
        rows : table or array
            Rows as the model takes them.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, n_classes).
        """
        return as_scores(self.ask(rows), count_rows(rows)).astype(np.float64, copy=False)

    def scores_of(self, outputs: ModelOutput, n_rows: int | None = None) -> FloatArray:
        """Score of the target, from what the model returned for each of some rows.

        Parameters
        ----------
        outputs : array-like
            What the model returned.
        n_rows : int, default=None
            Number of rows that it was given; None leaves the length unchecked.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).

        Raises
        ------
        ModelError
            If the model does not return one number for each row, or one for each row and class.
        """
        array = as_scores(outputs, n_rows).astype(np.float64, copy=False)
        if array.ndim == 1:
            if self.n_classes > 2:
                raise ModelError(
                    f"The model has {self.n_classes} classes but returns one score per row: pass a function "
                    "that returns one column per class."
                )
            return array if self.target_index == 1 else self._score_of_first(array)
        if array.shape[1] != self.n_classes:
            raise ModelError(
                f"The model has {self.n_classes} classes but returns {array.shape[1]} scores per row: pass a "
                "function that returns one column per class."
            )
        if self.leads:
            others = np.delete(array, self.target_index, axis=1)
            return np.asarray(array[:, self.target_index] - others.max(axis=1))
        return np.asarray(array[:, self.target_index])

    def _score_of_first(self, second: FloatArray) -> FloatArray:
        """Score of the first class, from that of the second."""
        return -second if self.response == "decision_function" else 1.0 - second

    def of_second_class(self, scores: FloatArray) -> FloatArray:
        """Scores of the class being explained, as scores of the second of two classes; and the other way round.

        Parameters
        ----------
        scores : ndarray of float64
            Scores.

        Returns
        -------
        ndarray of float64
            Of the same shape.
        """
        return scores if self.sign == 1 else self._score_of_first(scores)

    def is_positive(self, scores: FloatArray) -> BoolArray:
        """Which scores are predicted as the class being explained; False for a score that is not finite.

        Parameters
        ----------
        scores : ndarray of float64
            Scores.

        Returns
        -------
        ndarray of bool
            One for each score.
        """
        return np.isfinite(scores) & (scores >= self.threshold)

    def is_negative(self, scores: FloatArray) -> BoolArray:
        """Which scores are not predicted as the class being explained; False for a score that is not finite.

        Parameters
        ----------
        scores : ndarray of float64
            Scores.

        Returns
        -------
        ndarray of bool
            One for each score.
        """
        return np.isfinite(scores) & (scores < self.threshold)

    @property
    def is_binary(self) -> bool:
        """Whether the model has two classes."""
        return self.n_classes == 2

    @cached_property
    def sign(self) -> int:
        """1 when the score grows with that of the second class, -1 when it falls."""
        return 1 if self.target_index == 1 else -1

    @cached_property
    def threshold_of_second_class(self) -> float:
        """The threshold, on the score of the second of two classes."""
        if self.sign == 1:
            return self.threshold
        return -self.threshold if self.response == "decision_function" else 1.0 - self.threshold


@dataclass(frozen=True, eq=False)
class ModelScores:
    """How a model is scored, before a class is chosen.

    Parameters
    ----------
    ask, response
        See :class:`Scorer`.
    classes : tuple
        Its classes, in the order of its columns.
    own_threshold : tuple of float and int, default=None
        The threshold by which the model itself predicts, and the place of the class that it is for.
    n_columns : int
        Number of scores for each row: 1, or one for each class.
    """

    ask: Callable[[NativeTable], ModelOutput]
    response: Response
    classes: tuple[ClassLabel, ...]
    own_threshold: tuple[float, int] | None = None
    n_columns: int = 1

    @property
    def decides_by_lead(self) -> bool:
        """Whether, without a threshold, the class with the highest score is predicted."""
        if self.response == "predict":
            return False
        # a probability of one half decides between two classes, as do decision values in one column
        return len(self.classes) > 2 or (self.response == "decision_function" and self.n_columns == 2)

    def for_target(self, target: ClassLabel | None, threshold: float | None) -> Scorer:
        """Choose the class to explain.

        Parameters
        ----------
        target : object
            One of the model's classes; None is the second one, with a warning if there are more than two.
        threshold : float or None
            On the score of the target; None is the model's own decision.

        Returns
        -------
        Scorer
            Scores and decisions about this class.

        Raises
        ------
        TargetError
            If the model does not know the class, or a callable scores another one.
        """
        index = index_of_class(self.classes, target)
        if target is None and len(self.classes) > 2:
            warn_user(
                f"The model has {len(self.classes)} classes and target= was not given: the class being explained is "
                f'{self.classes[index]!r}. Pass target= one of {list(self.classes)}, or target="predicted" for the '
                "predicted class of each row.",
                TargetWarning,
            )
        own = self._default_threshold(index)  # a model may have one that no score reaches
        chosen = own if threshold is None or threshold == own else self._checked_threshold(threshold)
        if self.response == "call" and self.n_columns == 1 and index == 0:
            raise TargetError(
                f"The model returns only one score, that of the class {plain_value(self.classes[1])!r}: leave out the "
                f"target to explain that class. To explain {plain_value(self.classes[0])!r}, pass a model that knows "
                f"its classes, or a function that returns the score of {plain_value(self.classes[0])!r}."
            )
        return Scorer(
            ask=self.ask,
            response=self.response,
            n_classes=len(self.classes),
            target=self.classes[index],
            target_index=index,
            threshold=chosen,
            leads=self.decides_by_lead and threshold is None,
        )

    def _default_threshold(self, index: int) -> float:
        if self.decides_by_lead:
            return 0.0  # the lead over the best other class
        middle = 0.0 if self.response == "decision_function" else 0.5
        if self.own_threshold is None:
            return middle
        own, own_index = self.own_threshold
        return own if own_index == index else 2.0 * middle - own

    def _checked_threshold(self, threshold: float) -> float:
        is_number = isinstance(threshold, numbers.Real) and not isinstance(threshold, bool)
        chosen = float(threshold) if is_number else np.nan
        if not np.isfinite(chosen):
            raise InputError(
                f"threshold={threshold!r} is not a finite number: pass the least score of the class being explained."
            )
        if self.response in ("predict_proba", "predict") and not 0.0 <= chosen <= 1.0:
            raise InputError(
                f"threshold={threshold!r} lies outside [0, 1], but the scores of this model are probabilities: no "
                "decision could ever change. Pass a probability."
            )
        return chosen


def index_of_class(classes: tuple[ClassLabel, ...], target: ClassLabel | None) -> int:
    """Place of a class among those of a model; None is the second one."""
    if target is None:
        return 1
    for index, name in enumerate(classes):
        if name == target and isinstance(name, bool) == isinstance(target, (bool, np.bool_)):
            return index
    for index, name in enumerate(classes):  # True for 1 and 1 for True, when nothing fits better
        if name == target:
            return index
    plain = [plain_value(name) for name in classes]
    raise TargetError(
        f"target={plain_value(target)!r} is not a class of the model{suggest_name(target, plain)} Its classes are "
        f"{list_names(plain)}."
    )


def check_probabilities(scorer: Scorer, scores: FloatArray, threshold: float | None) -> None:
    """Refuse to guess a threshold for a callable whose scores are not probabilities, and one outside of those that are.

    Parameters
    ----------
    scorer : Scorer
        The score of the class being explained.
    scores : ndarray
        Scores of background rows.
    threshold : float or None
        As the user gave it.

    Raises
    ------
    InputError
        If the scores leave [0, 1] and there is no threshold, or the threshold leaves it.
    """
    finite = scores[np.isfinite(scores)]
    if scorer.response != "call" or scorer.leads or not finite.size:
        return
    low, high = float(finite.min()), float(finite.max())
    are_probabilities = low >= 0.0 and high <= 1.0
    if threshold is None and not are_probabilities:
        raise InputError(
            f"The callable's scores lie between {low:.3g} and {high:.3g}, so they are not probabilities: pass "
            "threshold= (0 for log-odds)."
        )
    if threshold is not None and are_probabilities and not 0.0 <= threshold <= 1.0:
        raise InputError(
            f"threshold={threshold!r} lies outside [0, 1], while the callable's scores of the background lie between "
            f"{low:.3g} and {high:.3g}: no decision could ever change."
        )
