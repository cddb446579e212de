"""A margin that is a weighted sum of encoded columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from sev.backends._encoding import as_float_matrix
from sev.backends.linear._solver import solve_additive, solve_gains
from sev.core import Problem, Solution
from sev.typing import FloatArray, ModelOutput, NativeTable, Response


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
    to_columns: Callable[[ModelOutput], FloatArray] = as_float_matrix
    family: str = "linear"
    score_tolerance: float = 1e-12

    #: Listing all minimum sets is fast and can wait until someone asks for them.
    lists_sets_later: ClassVar[bool] = True

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
        return solve_additive(problem, self.weights, self.intercept, self._rounding)

    def solve_each(self, problem: Problem, references: FloatArray) -> Solution | None:
        """Solve a "minus" problem in which each row has a reference of its own; None beyond the largest float.

        Parameters
        ----------
        problem : Problem
            Its own reference is not read.
        references : ndarray of shape (n_rows, n_columns)
            One encoded reference for each row.
        """
        before, after = problem.queries * self.weights, references * self.weights
        gains = np.zeros((problem.n_rows, problem.n_features))
        for column, feature in enumerate(problem.column_feature.tolist()):
            gains[:, feature] += after[:, column] - before[:, column]
        size = abs(self.intercept) + np.abs(before).sum(axis=1) + np.abs(after).sum(axis=1)
        if not np.isfinite(4.0 * size).all():
            return None
        slack = 4.0 * self._rounding * (self.n_columns + 4) * size
        return solve_gains(problem, self.margins(problem.queries), gains, slack)

    @property
    def _rounding(self) -> float:
        """Relative error of a term: a score that is off by the tolerance is off by no more in units of the terms."""
        return max(float(np.finfo(np.float64).eps), self.score_tolerance * 1e-3)


def additive_backend(
    contributions: Callable[[NativeTable], FloatArray], n_columns: int, intercept: float, response: Response
) -> LinearBackend:
    """A model whose log-odds are a sum of one contribution per column.

    Parameters
    ----------
    contributions : callable
        Rows to the contribution of each column.
    n_columns : int
        Number of columns.
    intercept : float
        What the sum starts from.
    response : {"predict_proba", "decision_function"}
        Whether the score is a probability or the log-odds.
    """
    return LinearBackend(
        weights=np.ones(n_columns),
        intercept=float(intercept),
        link=expit if response == "predict_proba" else identity,
        to_columns=contributions,
        family="additive",
        score_tolerance=1e-9,
    )
