"""The rows of a training run in encoded space, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sev.exceptions import InputError, TrainingError
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
    """

    rows: FloatArray
    labels: FloatArray
    column_feature: IntArray
    reference: FloatArray
    allowed: BoolArray

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


def positive_rate(logits: FloatArray) -> float:
    """Share of rows that a base model predicts positive, which must not be zero."""
    rate = float((logits >= 0.0).mean())
    if rate == 0.0:
        raise TrainingError(
            "The base model predicts no row of the training data positive, so there is no decision to explain: give a "
            "base_estimator with less regularisation, or other class weights."
        )
    return rate
