"""Exact search where every feature moves the margin by a fixed amount."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sev.core import Problem, Solution, SolutionBuilder, Status, n_words, pack
from sev.kernels import load_kernels
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
    kernels = load_kernels("sev.backends.linear._kernels")
    moves = _turn(kernels, problem, weights, intercept, rounding)
    sure, possible = np.full((2, problem.n_rows), -1, dtype=np.int64)
    masks = np.zeros((problem.n_rows, n_words(problem.n_features)), dtype=np.uint64)
    active = np.ascontiguousarray(problem.active)
    kernels.first_sets(moves.start, moves.gains, active, moves.low, moves.high, sure, possible, masks)
    limit = problem.limits.max_size if problem.limits.max_size is not None else problem.n_features
    clear = (sure == possible) & (sure <= limit)
    if problem.limits.first_only:
        counts, complete = clear.astype(np.int64) * (sure > 0), sure < 0
        masks = masks[counts > 0]
    else:
        counts, complete, masks = _list_sets(kernels, moves, active, np.where(clear, sure, 0), problem.limits.max_sets)
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
    start, magnitude = np.empty((2, problem.n_rows))
    gains = np.zeros((problem.n_rows, problem.n_features))
    kernels.moves(
        np.ascontiguousarray(problem.queries, dtype=np.float64),
        np.ascontiguousarray(problem.reference, dtype=np.float64),
        np.ascontiguousarray(weights, dtype=np.float64),
        float(intercept),
        np.ascontiguousarray(problem.column_feature, dtype=np.int64),
        int(problem.kind == "minus"),
        sign,
        start,
        gains,
        magnitude,
    )
    low, high = (problem.low, problem.high) if sign > 0 else (-problem.high, -problem.low)
    slack = 4.0 * (weights.shape[0] + 4) * rounding * magnitude
    return _Moves(start, gains, low - slack, high + slack)


def _list_sets(
    kernels: Any, moves: _Moves, active: BoolArray, sizes: IntArray, most: int
) -> tuple[IntArray, BoolArray, MaskArray]:
    """All sets of each row, as the kernel of this name gives them, with room made as it is needed."""
    n_rows, n_features = moves.gains.shape
    counts, complete = np.zeros(n_rows, dtype=np.int64), np.ones(n_rows, dtype=np.bool_)
    parts = []
    row = 0
    while row < n_rows:
        room = np.zeros((max(n_rows - row, most, 16), n_words(n_features)), dtype=np.uint64)
        begin = row
        row = kernels.list_sets(
            *(begin, moves.start, moves.gains, active, moves.low, moves.high, sizes, most, counts, complete, room)
        )
        parts.append(room[: np.maximum(counts[begin:row], 0).sum()])
    return counts, complete, np.concatenate(parts) if parts else np.zeros((0, n_words(n_features)), dtype=np.uint64)


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
            values, positions = np.empty(room), np.empty((room, size), dtype=np.int64)
            order = np.empty(room, dtype=np.int64)
            start, high = float(self._moves.start[row]), float(self._moves.high[row])
            seen = self._best_sets(start, gains, size, high, values, positions, order)
            values, positions = values[order[:seen]], positions[order[:seen]]
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
