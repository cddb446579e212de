"""The search where only some of the sets that cross count: a second sum over trees is bounded along with the first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np

from sev import _native
from sev.backends.trees._forest import Forest
from sev.backends.trees.search import plan
from sev.backends.trees.search.run import Answers, Run
from sev.core import Problem, Solution
from sev.typing import BoolArray, FloatArray, IntArray

_MOST_SIZE = 1 << 40


def solve_joint_trees(problem: Problem, forest: Forest, noise: float, grid: float) -> Solution:
    """Solve a "minus" problem of a forest.

    Parameters
    ----------
    problem : Problem
        One that accepts some vertices only.
    forest : Forest
        The model's trees.
    noise : float
        How far the model's own sum may be from the exact one.
    grid : float
        Margins closer than this count as equal in the order of sets.
    """
    down = problem.direction < 0
    low, high = problem.low - noise, problem.high + noise
    sure, limit = (low, high) if down else (-high, -low)
    queries = np.ascontiguousarray(problem.queries, dtype=np.float64)
    session = _native.JointSession.with_forest(
        _read_second_sum(problem),
        np.ascontiguousarray(problem.active),
        np.full(problem.n_rows, sure),
        np.full(problem.n_rows, limit),
        np.full(problem.n_rows, grid),
        _max_size(problem),
        not problem.second_is_all,
        forest.native,
        np.ascontiguousarray(problem.reference, dtype=np.float64),
        queries,
        np.ascontiguousarray(problem.column_feature, dtype=np.int64),
        1.0 if down else -1.0,
    )
    return JointRun(session, problem, sure, forest.native.margins(queries)).solve()


def solve_joint_gains(
    problem: Problem, start: FloatArray, gains: FloatArray, low: FloatArray, high: FloatArray, grid: FloatArray
) -> Solution:
    """Solve a "minus" problem in which each feature adds a fixed amount.

    Parameters
    ----------
    problem : Problem
        One that accepts some vertices only.
    start, gains : ndarray
        Margins of the queries, and what each feature adds; sign-flipped where needed so that sets cross by falling.
    low, high : ndarray
        For each row: below it a set surely crosses, above it it does not.
    grid : ndarray
        Margins closer than this count as equal in the order of sets.
    """
    session = _native.JointSession.with_gains(
        _read_second_sum(problem),
        np.ascontiguousarray(problem.active),
        np.zeros(problem.n_rows),
        high - low,
        grid,
        _max_size(problem),
        not problem.second_is_all,
        start - low,
        np.ascontiguousarray(gains),
    )
    # margins are relative to each row's own decision here
    return replace(JointRun(session, problem, 0.0, None).solve(), set_margins=None)


def _read_second_sum(problem: Problem) -> _native.SecondSum | None:
    second = problem.second
    if second is None:
        return None
    return _native.SecondSum(
        second.forest.native,
        np.ascontiguousarray(second.reference),
        np.ascontiguousarray(second.queries),
        np.ascontiguousarray(second.column_feature, dtype=np.int64),
        problem.n_features,
        second.at_least,
    )


def _max_size(problem: Problem) -> int:
    return _MOST_SIZE if problem.limits.max_size is None else min(problem.limits.max_size, _MOST_SIZE)


class JointRun(Run):
    """The same search with one kernel for all sizes.

    Parameters
    ----------
    session : sev._native.JointSession
        The rows, ready to be searched.
    problem : Problem
        Limits, and the model's own decisions.
    sure : float
        Margins below it surely cross.
    margins : ndarray or None
        Those of the queries, where they are known.
    """

    def __init__(
        self, session: _native.JointSession, problem: Problem, sure: float, margins: FloatArray | None
    ) -> None:
        super().__init__(cast("_native.Session", session), problem, sure, looks_up_triples=False)
        self._margins = margins

    def _search_rows(self, rows: IntArray, cap: int) -> Iterator[Answers]:
        work = np.full(rows.size, plan.row_work(timed=self._is_timed), dtype=np.int64)
        yield from self._end_spent(self._call_kernel("search", rows, cap, work=work))

    def _query_margins(self) -> FloatArray | None:
        return self._margins

    def _find_helpful_features(self) -> BoolArray | None:
        return None
