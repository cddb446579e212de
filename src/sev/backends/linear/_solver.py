"""Exact search where every feature moves the margin by a fixed amount."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sev import _native
from sev.backends.blackbox import solve_blackbox
from sev.backends.trees.search.joint import solve_joint_gains
from sev.core import Problem, Solution, SolutionBuilder, Status, n_words, unpack
from sev.typing import BoolArray, FloatArray, IntArray, MaskArray

#: Sets within rounding of the decision that the model may score for one row before the search gives up.
_MOST_TIES = 100_000
#: Work, in units of roughly two nanoseconds, that listing the best sets of one row may take.
_LISTING_WORK = 20_000_000
#: Margins closer than this many roundings of the sum count as equal in the order of sets.
_GRID_ROUNDINGS = 8.0


@dataclass(frozen=True, eq=False)
class _Moves:
    """Rows of a problem, sign-flipped where needed so that crossing means falling below ``low``."""

    start: FloatArray
    gains: FloatArray
    active: BoolArray
    low: FloatArray
    high: FloatArray
    grid: FloatArray

    def take(self, rows: IntArray) -> _Moves:
        """Some of the rows."""
        return _Moves(
            self.start[rows], self.gains[rows], self.active[rows], self.low[rows], self.high[rows], self.grid[rows]
        )

    @property
    def parts(self) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray, FloatArray, FloatArray]:
        """The arrays in the order in which kernels take them."""
        return self.start, self.gains, self.active, self.low, self.high, self.grid


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
    moves, magnitude = _make_moves(problem, weights, intercept, rounding)
    if np.isfinite(magnitude).all():
        return _solve_finite(problem, moves)
    # Where a term or a sum is beyond the largest float, only the model's own scores say what happens.
    finite, others = np.flatnonzero(np.isfinite(magnitude)), np.flatnonzero(~np.isfinite(magnitude))
    parts = [(others, solve_blackbox(_some_rows(problem, others)))]
    if finite.size:
        parts.append((finite, _solve_finite(_some_rows(problem, finite), moves.take(finite))))
    return Solution.merge(parts)


def solve_gains(problem: Problem, start: FloatArray, gains: FloatArray, slack: FloatArray) -> Solution:
    """Find all minimum sets where each feature of each row has a gain of its own.

    Parameters
    ----------
    problem : Problem
        Without encoded queries; ``direction`` and the band are those of the margins.
    start : ndarray of shape (n_rows,)
        Margins of the queries, finite.
    gains : ndarray of shape (n_rows, n_features)
        What each feature adds to the margin, finite.
    slack : ndarray of shape (n_rows,)
        How far a sum of gains may be from the model's own margin.
    """
    sign = -float(problem.direction)
    low, high = (problem.low, problem.high) if sign > 0 else (-problem.high, -problem.low)
    grid = _GRID_ROUNDINGS * np.finfo(np.float64).eps * (np.abs(start) + np.abs(gains).sum(axis=1))
    active = np.ascontiguousarray(problem.active)
    moves = _Moves(sign * start, np.ascontiguousarray(sign * gains), active, low - slack, high + slack, grid)
    return _solve_finite(problem, moves)


def _solve_finite(problem: Problem, moves: _Moves) -> Solution:
    if problem.accepts is not None:
        return solve_joint_gains(problem, moves.start, moves.gains, moves.low, moves.high, moves.grid)
    sure, possible, masks = _native.first_sets(*moves.parts)
    limit = problem.limits.max_size if problem.limits.max_size is not None else problem.active.shape[1]
    clear = (sure == possible) & (sure <= limit)
    if problem.limits.first_only:
        counts, complete = clear.astype(np.int64) * (sure > 0), sure < 0
        masks = masks[counts > 0]
    else:
        counts, complete, masks = _list_sets(moves, np.where(clear, sure, 0), problem.limits.max_sets)
        clear &= counts >= 0
    solution = _solve_clear_rows(problem, sure, counts, complete, masks)
    if clear.all():
        return solution
    # rows with ties, or beyond the size limit, one by one
    others = np.flatnonzero(~clear)
    return Solution.merge(
        [
            (np.flatnonzero(clear), solution.take(np.flatnonzero(clear))),
            (others, _RowSearch(problem, moves, limit).run(others, possible)),
        ]
    )


def _some_rows(problem: Problem, rows: IntArray) -> Problem:
    accepts, second = problem.accepts, problem.second
    return replace(
        problem,
        queries=problem.queries[rows],
        active=problem.active[rows],
        evaluate=lambda numbers, sets: problem.evaluate(rows[numbers], sets),
        accepts=None if accepts is None else lambda numbers, sets: accepts(rows[numbers], sets),
        second=None if second is None else second.take(rows),
    )


def _make_moves(problem: Problem, weights: FloatArray, intercept: float, rounding: float) -> tuple[_Moves, FloatArray]:
    sign = -float(problem.direction)
    start, gains, magnitude = _native.moves(
        np.ascontiguousarray(problem.queries, dtype=np.float64),
        np.ascontiguousarray(problem.reference, dtype=np.float64),
        np.ascontiguousarray(weights, dtype=np.float64),
        float(intercept),
        np.ascontiguousarray(problem.column_feature, dtype=np.int64),
        problem.active.shape[1],
        problem.kind == "minus",
        sign,
    )
    low, high = (problem.low, problem.high) if sign > 0 else (-problem.high, -problem.low)
    with np.errstate(invalid="ignore", over="ignore"):  # rows beyond the largest float are taken out by the caller
        # A term may be near the largest float while twice its size, which a gain may have, is beyond it.
        magnitude = np.where(np.isfinite(2.0 * magnitude), magnitude, np.inf)
        one_rounding = (weights.shape[0] + 4) * magnitude
        slack = 4.0 * rounding * one_rounding
        grid = _GRID_ROUNDINGS * np.finfo(np.float64).eps * one_rounding
        return _Moves(start, gains, np.ascontiguousarray(problem.active), low - slack, high + slack, grid), magnitude


def _list_sets(moves: _Moves, sizes: IntArray, most: int) -> tuple[IntArray, BoolArray, MaskArray]:
    """The best sets of each row, how many there are (-1 where only the model can tell), and whether these are all."""
    # One set more than wanted tells whether these are all; sets come best first: where the last is sure, all are.
    kept, _, all_seen, masks, values = _native.list_sets(*moves.parts, sizes, most + 1, _LISTING_WORK)
    ends = np.cumsum(kept)
    tied = kept > 0
    tied[tied] = values[ends[tied] - 1] >= moves.low[tied]
    place = np.arange(len(values)) - np.repeat(ends - kept, kept)
    masks = masks[(place < most) & ~np.repeat(tied, kept)]
    return np.where(tied, -1, np.minimum(kept, most)), (kept <= most) & (all_seen != 0), masks


def _solve_clear_rows(
    problem: Problem, sure: IntArray, counts: IntArray, complete: BoolArray, masks: MaskArray
) -> Solution:
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
    """Lists the minimum sets of single rows, and lets the model settle ties."""

    def __init__(self, problem: Problem, moves: _Moves, limit: int) -> None:
        self._problem = problem
        self._moves = moves
        self._limit = limit

    def run(self, rows: IntArray, possible: IntArray) -> Solution:
        """Solve some rows; ``possible`` is the smallest size that might cross, -1 for none."""
        builder = SolutionBuilder(len(rows), n_words(self._problem.n_features))
        for number, row in enumerate(rows.tolist()):
            self._solve_row(builder, number, row, int(possible[row]))
        return builder.build()

    def _solve_row(self, builder: SolutionBuilder, number: int, row: int, first_size: int) -> None:
        features = np.flatnonzero(self._problem.active[row])
        gains = np.sort(self._moves.gains[row, features])
        best = self._moves.start[row] + np.concatenate([[0.0], np.cumsum(gains)])
        for size in range(first_size, len(features) + 1) if first_size > 0 else ():
            if size > self._limit:
                builder.undecided(number, lower_bound=self._limit + 1)
                return
            if best[size] > self._moves.high[row]:
                continue  # larger sets hold gains that lead away
            outcome = self._sets_of_size(row, size)
            if outcome is None:
                builder.undecided(number, lower_bound=size)
                return
            sets, complete = outcome
            if len(sets):
                builder.found(number, sets, lower_bound=size, complete=complete)
                return
        builder.unexplainable(number, n_active=len(features))

    def _sets_of_size(self, row: int, size: int) -> tuple[MaskArray, bool] | None:
        """The best sets of one size that cross, and whether these are all; None when there are too many ties for the
        model to score.
        """
        most = self._problem.limits.max_sets
        moves = self._moves.take(np.array([row]))
        capacity = most + 1  # one more than wanted tells whether these are all
        while True:
            _, count, all_seen, masks, values = _native.list_sets(
                *moves.parts, np.array([size]), capacity, _LISTING_WORK
            )
            crosses = values < moves.low[0]
            ties = np.flatnonzero(~crosses)
            if ties.size:
                sets = unpack(masks[ties], self._problem.n_features)
                crosses[ties] = self._problem.crosses(np.full(ties.size, row, dtype=np.int64), sets)
            cut = bool(count[0] > len(values))
            if not cut or crosses.sum() > most:
                chosen = masks[crosses]
                if not len(chosen) and not all_seen[0]:
                    return None
                return chosen[:most], not cut and bool(all_seen[0]) and len(chosen) <= most
            if capacity >= _MOST_TIES:
                return None if not crosses.any() else (masks[crosses][:most], False)
            capacity = min(capacity * 8, _MOST_TIES)
