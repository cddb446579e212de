"""The rows of a training run in encoded space, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from sev.exceptions import InputError, TrainingError
from sev.training._settings import Settings
from sev.typing import BoolArray, FloatArray, IntArray


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
    reference : ndarray of shape (n_columns,)
        The reference, encoded.
    allowed : ndarray of bool, shape (n_features,)
        Features that an explanation may use.
    weights : ndarray of shape (n_rows,) or None
        Weight of each row, 1 on average; None: all the same.
    native : callable or None
        Encoded rows in the form that the final estimator takes, where that is not an array of numbers: category
        columns of boosted trees.
    """

    rows: FloatArray
    labels: FloatArray
    column_feature: IntArray
    reference: FloatArray
    allowed: BoolArray
    weights: FloatArray | None = None
    native: Callable[[FloatArray], Any] | None = None

    def __post_init__(self) -> None:
        if not self.allowed.any():
            raise InputError("Every feature is restricted: leave at least one that an explanation may use.")

    @cached_property
    def present(self) -> IntArray:
        """Allowed features that have a column: a raw column that the encoder drops has none."""
        found = np.unique(self.column_feature)
        kept: IntArray = found[self.allowed[found]]
        if not kept.size:
            raise InputError("No feature that an explanation may use reaches the model.")
        return kept

    @cached_property
    def restricted(self) -> IntArray:
        """The other features that have a column."""
        found: IntArray = np.setdiff1d(np.unique(self.column_feature), self.present)
        return found

    def neighbours(self, rows: FloatArray, feature: int, *, plus: bool) -> FloatArray:
        """Rows with one feature of the reference or, for ``plus``, the reference with one feature of each row."""
        mine = self.column_feature == feature
        changed: FloatArray = np.where(mine, rows, self.reference) if plus else np.where(mine, self.reference, rows)
        return changed

    def to_native(self, rows: FloatArray) -> Any:
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

    estimator: Any
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
