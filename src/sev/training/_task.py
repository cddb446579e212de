"""The rows of a training run in encoded space, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from sev.exceptions import InputError, TrainingError
from sev.training._settings import Settings
from sev.typing import BoolArray, FloatArray, IntArray, NativeTable

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


#: Share of the rows whose reference stays below the threshold by the margin, where there are several references.
_GUARDED_SHARE = 0.9


@dataclass(frozen=True, eq=False)
class TrainingTask:
    """Encoded rows with what an explanation would be made of.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Rows as the final estimator takes them.
    labels : ndarray of shape (n_rows,)
        0 and 1.
    column_feature : ndarray of int, shape (n_columns,)
        The feature of each column.
    reference : ndarray of shape (n_columns,) or (n_references, n_columns)
        The reference, encoded: one for all rows, or several.
    allowed : ndarray of bool, shape (n_features,)
        Features that an explanation may use.
    weights : ndarray of shape (n_rows,) or None
        Weight of each row, 1 on average; None: all the same.
    native : callable or None
        Encoded rows in the form that the final estimator takes, where that is not an array of numbers: category
        columns of boosted trees.
    assigned : ndarray of int, shape (n_rows, n_candidates), or None
        With several references, the numbers of those that each row is compared with; None: one for all rows.
    """

    rows: FloatArray
    labels: FloatArray
    column_feature: IntArray
    reference: FloatArray
    allowed: BoolArray
    weights: FloatArray | None = None
    native: Callable[[FloatArray], NativeTable] | None = None
    assigned: IntArray | None = None

    def __post_init__(self) -> None:
        if (self.reference.ndim == 1) != (self.assigned is None):
            raise InputError("assigned is needed with several references, and must be None with one.")
        if not self.allowed.any():
            raise InputError("Every feature is restricted: leave at least one that an explanation may use.")

    @cached_property
    def present(self) -> IntArray:
        """Allowed features that have a column: a raw column that the encoder drops has none."""
        found = np.unique(self.column_feature)
        kept: IntArray = found[self.allowed[found]]
        if not kept.size:
            raise InputError("The model uses none of the features that an explanation may use.")
        return kept

    @cached_property
    def restricted(self) -> IntArray:
        """The other features that have a column."""
        found: IntArray = np.setdiff1d(np.unique(self.column_feature), self.present)
        return found

    @property
    def n_candidates(self) -> int:
        """How many references each row is compared with."""
        return 1 if self.assigned is None else self.assigned.shape[1]

    @property
    def references(self) -> FloatArray:
        """All references, shape (n_references, n_columns)."""
        return np.atleast_2d(self.reference)

    def one_step(self, rows: IntArray, *, plus: bool) -> Iterator[FloatArray]:
        """The neighbours of some rows, given by number: for each candidate reference and each feature in turn."""
        for candidate in range(self.n_candidates):
            reference = self.reference
            if self.assigned is not None:
                reference = reference[self.assigned[rows, candidate]]
            for feature in self.present.tolist():
                yield self.neighbours(self.rows[rows], feature, plus=plus, reference=reference)

    def neighbours(
        self, rows: FloatArray, feature: int, *, plus: bool, reference: FloatArray | None = None
    ) -> FloatArray:
        """Rows with one feature of the reference or, for ``plus``, the reference with one feature of each row."""
        mine = self.column_feature == feature
        other = self.reference if reference is None else reference
        changed: FloatArray = np.where(mine, rows, other) if plus else np.where(mine, other, rows)
        return changed

    def guarded_logit(self, logits: ArrayLike) -> float:
        """From the logits of the references, the one that the share of positive rows must not push too high.

        Of several it is the one that those of nine rows in ten do not exceed: among many real rows some are always
        close to the threshold.
        """
        if self.assigned is None:
            return float(np.ravel(logits)[0])
        return float(np.quantile(np.asarray(logits, dtype=np.float64)[self.assigned[:, 0]], _GUARDED_SHARE))

    def to_native(self, rows: FloatArray) -> NativeTable:
        """Encoded rows as the final estimator takes them."""
        return rows if self.native is None else self.native(rows)


@dataclass(frozen=True, eq=False)
class Trained:
    """A tuned final estimator.

    Parameters
    ----------
    estimator : object
        Of the same class as the one to start from.
    history : list of dict
        Mean of each loss term in each pass over the rows.
    """

    estimator: BaseEstimator
    history: list[dict[str, float]] = field(default_factory=list)


class Trainer(Protocol):
    """A fitted final estimator and the rows to tune it on: whatever does not depend on penalties is computed once."""

    def train(self, settings: Settings) -> Trained:
        """Tune a copy of the estimator."""
        ...


def positive_rate(logits: FloatArray, weights: FloatArray | None = None) -> float:
    """Share of rows that a base model predicts positive, which must not be zero."""
    rate = float(np.average(logits >= 0.0, weights=weights))
    if rate == 0.0:
        raise TrainingError(
            "The base model predicts no row of the training data positive, so there is no decision to explain: pass a "
            'base_estimator with less regularisation, or class_weight="balanced".'
        )
    return rate
