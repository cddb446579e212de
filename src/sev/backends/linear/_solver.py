"""Exact search where every feature moves the margin by a fixed amount."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sev.explanations._status import Status
from sev.search import Problem, Solution, SolutionBuilder, n_words, pack
from sev.typing import BoolArray, FloatArray, IntArray, MaskArray

#: Sets within rounding of the decision that one row may put to the model before the search gives up.
_MOST_TIES = 100_000


@dataclass(frozen=True, eq=False)
class _Moves:
    """All rows of a problem, turned so that crossing means falling below ``low``."""

    start: FloatArray
    gains: FloatArray
    low: FloatArray
    high: FloatArray


def solve_additive(problem: Problem, weights: FloatArray, intercept: float, rounding: float) -> Solution:
    """Find all minimum sets of every row.

    Parameters
    ----------
    problem : Problem
        With encoded queries and reference.
    weights, intercept : ndarray, float
        Margin = intercept + weights . row.
    rounding : float
        Relative error of one term of the model's own sum.
    """
    from sev._compile import load_kernels

    kernels = load_kernels("sev.backends.linear._kernels")
    moves = _turn(kernels, problem, weights, intercept, rounding)
    sure, possible, masks = kernels.first_sets(moves.start, moves.gains, problem.active, moves.low, moves.high)
    limit = problem.limits.max_size if problem.limits.max_size is not None else problem.n_features
    clear = (sure == possible) & (sure <= limit)
    if problem.limits.first_only:
        counts, complete = clear.astype(np.int64) * (sure > 0), sure < 0
        masks = masks[counts > 0]
    else:
        counts, complete, masks = kernels.list_sets(
            moves.start,
            moves.gains,
            problem.active,
            moves.low,
            moves.high,
            np.where(clear, sure, 0),
            problem.limits.max_sets,
        )
        clear &= counts >= 0
    solution = _plain(problem, sure, counts, complete, masks)
    if clear.all():
        return solution
    # rows with ties, or beyond the size limit, one by one
    others = np.flatnonzero(~clear)
    return Solution.merge(
        [
            (np.flatnonzero(clear), solution.take(np.flatnonzero(clear))),
            (others, _RowSearch(problem, moves, kernels, limit).run(others, possible)),
        ]
    )


def _turn(kernels: Any, problem: Problem, weights: FloatArray, intercept: float, rounding: float) -> _Moves:
    sign = -float(problem.direction)
    start, gains, magnitude = kernels.moves(
        problem.queries,
        problem.reference,
        weights,
        float(intercept),
        problem.column_feature,
        problem.n_features,
        problem.kind == "minus",
        sign,
    )
    low, high = (problem.low, problem.high) if sign > 0 else (-problem.high, -problem.low)
    slack = 4.0 * (weights.shape[0] + 4) * rounding * magnitude
    return _Moves(start, gains, low - slack, high + slack)


def _plain(problem: Problem, sure: IntArray, counts: IntArray, complete: BoolArray, masks: MaskArray) -> Solution:
    """Rows whose size is clear; no Python loop over rows."""
    found = sure > 0
    n_active = problem.active.sum(axis=1)
    return Solution(
        status=np.where(found, Status.OPTIMAL.code, Status.UNEXPLAINABLE.code).astype(np.int8),
        lower_bound=np.where(found, sure, n_active + 1),
        offsets=np.concatenate([[0], np.cumsum(np.maximum(counts, 0))]),
        masks=masks,
        complete=complete,
    )


class _RowSearch:
    """Lists the minimum sets of single rows, and settles ties by asking the model."""

    def __init__(self, problem: Problem, moves: _Moves, kernels: Any, limit: int) -> None:
        self._problem = problem
        self._moves = moves
        self._best_sets = kernels.best_sets
        self._limit = limit

    def run(self, rows: IntArray, possible: IntArray) -> Solution:
        """Solve some rows; ``possible`` is the smallest size that might cross, -1 for none."""
        builder = SolutionBuilder(len(rows), n_words(self._problem.n_features))
        for number, row in enumerate(rows.tolist()):
            self._solve_row(builder, number, row, int(possible[row]))
        return builder.build()

    def _solve_row(self, builder: SolutionBuilder, number: int, row: int, first_size: int) -> None:
        features = np.flatnonzero(self._problem.active[row])
        gains = self._moves.gains[row, features]
        order = np.argsort(gains, kind="stable")
        features, gains = features[order], gains[order]
        best = self._moves.start[row] + np.concatenate([[0.0], np.cumsum(gains)])
        for size in range(first_size, len(features) + 1) if first_size > 0 else ():
            if size > self._limit:
                builder.undecided(number, lower_bound=self._limit + 1)
                return
            if best[size] > self._moves.high[row]:
                continue  # larger sets hold gains that lead away
            outcome = self._sets_of_size(row, features, gains, size)
            if outcome is None:
                builder.undecided(number, lower_bound=size)
                return
            sets, complete = outcome
            if len(sets):
                builder.found(number, pack(sets), lower_bound=size, complete=complete)
                return
        builder.unexplainable(number, n_active=len(features))

    def _sets_of_size(
        self, row: int, features: IntArray, gains: FloatArray, size: int
    ) -> tuple[BoolArray, bool] | None:
        """The best sets of one size that cross, and whether these are all; None when there are too many ties to ask
        about.
        """
        most = self._problem.limits.max_sets
        room = most + 1  # one more than wanted tells whether these are all
        while True:
            seen, values, positions = self._best_sets(self._moves.start[row], gains, size, self._moves.high[row], room)
            sets = np.zeros((len(values), self._problem.n_features), dtype=np.bool_)
            np.put_along_axis(sets, features[positions], True, axis=1)
            crosses = values < self._moves.low[row]
            ties = np.flatnonzero(~crosses)
            if ties.size:
                crosses[ties] = self._problem.crosses(np.full(ties.size, row, dtype=np.int64), sets[ties])
            cut = seen > len(values)
            if not cut or crosses.sum() > most:
                chosen = sets[crosses]
                return chosen[:most], not cut and len(chosen) <= most
            if room >= _MOST_TIES:
                return None if not crosses.any() else (sets[crosses][:most], False)
            room = min(room * 8, _MOST_TIES)
