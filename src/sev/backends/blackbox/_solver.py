"""Exact search with nothing but the model's own scores.

All rows of a problem go through the levels together, so that one call of the model scores vertices of many rows. A
greedy descent finds each row an upper bound: after the first levels, or earlier where the budget might not last for
both. The levels go on until something crosses, which is the proof that nothing smaller does, or until a limit ends the
search. Every vertex that is scored counts: no limit is exceeded, whatever found the sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np

from sev.backends.blackbox._calls import ModelCalls, Request
from sev.backends.blackbox._levels import subsets
from sev.backends.blackbox._rows import BestSets, RowSearch
from sev.core import Problem, Solution, SolutionBuilder, n_words, pack
from sev.typing import BoolArray, FloatArray

_DESCEND_AFTER = 2
#: Scores of a query outside the search: its own, and both that and the reported set's once more, to confirm them.
SCORED_OUTSIDE = 3
_NO_LIMIT = 1 << 62


def solve_blackbox(problem: Problem) -> Solution:
    """Find all minimum sets of every row, asking only :meth:`Problem.evaluate`.

    ``max_predictions`` counts every row that the model scores for a query. Three of them are the query itself, the
    query once more and the reported set once more, which confirm the answer, so that the search scores at most
    ``max_predictions - 3`` vertices. A call in which the model raises returns no scores and does not count.
    """
    return _Search(problem).run()


class _Search:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._builder = SolutionBuilder(problem.n_rows, n_words(problem.n_features))
        self._calls = ModelCalls(problem, self._builder)
        limits = problem.limits
        self._max_size = problem.n_features if limits.max_size is None else limits.max_size
        budget = _NO_LIMIT if limits.max_predictions is None else max(0, limits.max_predictions - SCORED_OUTSIDE)
        self._rows = [
            RowSearch(number, np.flatnonzero(active), budget, BestSets(limits.max_sets))
            for number, active in enumerate(problem.active)
        ]

    def run(self) -> Solution:
        rows, size = self._rows, 0
        while rows:
            size += 1
            self._descend_rows([row for row in rows if self._should_descend(row, size)])
            rows = [row for row in rows if not row.done and self._may_try(row, size)]
            for row, sets, scores in self._calls.score(self._solve_level(rows, size)):
                self._record_sets(row, sets, scores, size)
            for row in rows:
                self._close_level(row, size)
            rows = [row for row in rows if not row.done]
        return self._builder.build()

    # -- one level -----------------------------------------------------------------------------------------------------

    def _may_try(self, row: RowSearch, size: int) -> bool:
        """Whether a row's next level is within all limits; if not, its answer is recorded."""
        n_active = len(row.features)
        if size > n_active:
            self._builder.unexplainable(row.number, n_active=n_active)
            row.done = True
        elif size > self._max_size or row.left <= 0 or self._calls.is_late:
            self._stop_row(row, size)
        return not row.done

    def _solve_level(self, rows: list[RowSearch], size: int) -> Iterator[Request]:
        """All sets of one size, row by row, in the order of the features."""
        for row in rows:
            for places in subsets(len(row.features), size, self._calls.most_per_call):
                if row.done or row.cut:
                    break
                sets = row.take_budget(self._sets_of(row, places))
                if len(sets):
                    yield row, sets

    def _sets_of(self, row: RowSearch, places: np.ndarray) -> BoolArray:
        sets = np.zeros((len(places), self._problem.n_features), dtype=np.bool_)
        np.put_along_axis(sets, row.features[places], True, axis=1)
        return sets

    def _record_sets(self, row: RowSearch, sets: BoolArray, scores: FloatArray, size: int) -> None:
        across = self._problem.across_sign * scores
        crosses = self._problem.is_across(scores)
        if crosses.any():
            row.found.add(sets[crosses], across[crosses])
        elif size == 1 and across.max() > row.reached:  # where a descent would begin
            row.reached, row.chosen = float(across.max()), np.flatnonzero(sets[np.argmax(across)]).tolist()

    def _close_level(self, row: RowSearch, size: int) -> None:
        if row.done:
            return
        if row.found.sets is not None:
            complete = not row.cut and row.found.n_seen <= len(row.found.sets)
            self._builder.found(row.number, pack(row.found.sets), lower_bound=size, complete=complete)
            row.done = True
        elif row.cut:
            self._stop_row(row, size)

    def _stop_row(self, row: RowSearch, size: int) -> None:
        """End a row's search: sets smaller than ``size`` are proven not to cross."""
        if row.best is None:
            self._builder.undecided(row.number, lower_bound=size)
        else:
            sets = np.zeros((1, self._problem.n_features), dtype=np.bool_)
            sets[0, list(row.best)] = True
            # nothing smaller crosses: the set of the descent is a smallest one, though others may not be known
            proven = len(row.best) == size
            self._builder.found(row.number, pack(sets), lower_bound=size, complete=False, proven=proven)
        row.done = True

    # -- greedy descent ------------------------------------------------------------------------------------------------

    def _should_descend(self, row: RowSearch, size: int) -> bool:
        """Whether it is time for a row's upper bound: once, before a level that may use up what is left."""
        if row.done or row.descended or size == 1 or size > min(len(row.features), self._max_size):
            return False
        if size > _DESCEND_AFTER or self._calls.is_timed:
            return True
        n_active = len(row.features)
        return comb(n_active, size) + comb(n_active, 2) > row.left

    def _descend_rows(self, rows: list[RowSearch]) -> None:
        """Change the feature that moves the score most, again and again, until the row crosses or may not go on.

        The first step is known from the level of single features.
        """
        for row in rows:
            row.descended = True
        going = rows
        while going:
            best: dict[int, tuple[float, bool, BoolArray]] = {}
            for row, sets, scores in self._calls.score(self._list_steps(going)):
                place = int(np.argmax(self._problem.across_sign * scores))
                reached = float(self._problem.across_sign * scores[place])
                if row.number not in best or reached > best[row.number][0]:
                    crosses = bool(self._problem.is_across(scores[place : place + 1])[0])
                    best[row.number] = reached, crosses, sets[place]
            going = [row for row in going if not row.done and self._take_step(row, best.get(row.number))]
        for row in rows:
            row.cut = False  # a descent that ran out of budget proves nothing; the level itself was not cut

    def _list_steps(self, rows: list[RowSearch]) -> Iterator[Request]:
        for row in rows:
            if row.done:
                continue
            free = np.setdiff1d(row.features, row.chosen)
            sets = np.zeros((len(free), self._problem.n_features), dtype=np.bool_)
            sets[:, row.chosen] = True
            sets[np.arange(len(free)), free] = True
            allowed = row.take_budget(sets)
            if len(allowed):
                yield row, allowed

    def _take_step(self, row: RowSearch, step: tuple[float, bool, BoolArray] | None) -> bool:
        """Whether the descent of a row goes on."""
        if step is None:
            return False
        row.chosen = np.flatnonzero(step[2]).tolist()
        if step[1]:
            row.best = tuple(row.chosen)
            return False
        return not row.cut and len(row.chosen) < min(len(row.features), self._max_size)
