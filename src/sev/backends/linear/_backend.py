"""A margin that is a weighted sum of encoded columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sev.backends._encoding import as_float_matrix
from sev.backends.linear._solver import solve_additive
from sev.core import Problem, Solution
from sev.typing import FloatArray, NativeTable


def identity(margins: FloatArray) -> FloatArray:
    """Scores that are the margins themselves, as of a decision function."""
    return margins


@dataclass(frozen=True, eq=False)
class LinearBackend:
    """Margin = intercept + weights . encoded row.

    Additive models come here too: their encoding turns each column into its contribution, all weights are then one.

    Parameters
    ----------
    weights : ndarray of shape (n_columns,)
        Weight of each encoded column.
    intercept : float
        Margin where all encoded columns are zero.
    link : callable
        Margins to the model's own scores.
    to_columns : callable
        Rows as the estimator takes them, to encoded columns.
    family : {"linear", "additive"}
        For people.
    score_tolerance : float
        Rounding of the model's own scores.
    """

    weights: FloatArray
    intercept: float
    link: Callable[[FloatArray], FloatArray] = identity
    to_columns: Callable[[Any], FloatArray] = as_float_matrix
    family: str = "linear"
    score_tolerance: float = 1e-12

    #: Listing all minimum sets is cheap and can wait until someone asks.
    lists_sets_later = True

    @property
    def n_columns(self) -> int:
        """Number of encoded columns."""
        return self.weights.shape[0]

    def encode(self, rows: NativeTable) -> FloatArray:
        """Rows as encoded columns."""
        return self.to_columns(rows)

    def margins(self, encoded: FloatArray) -> FloatArray:
        """Weighted sums."""
        return encoded @ self.weights + self.intercept

    def scores(self, margins: FloatArray) -> FloatArray:
        """The model's own score for given margins."""
        return self.link(margins)

    def proof_rows(self, rows: NativeTable) -> None:
        """Real rows say enough about a sum."""

    def solve(self, problem: Problem) -> Solution:
        """Take the biggest movers."""
        # a score that is off by the tolerance is off by no more than this in units of the terms
        rounding = max(np.finfo(np.float64).eps, self.score_tolerance * 1e-3)
        return solve_additive(problem, self.weights, self.intercept, rounding)
