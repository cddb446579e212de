"""Linear and additive models: the least total cost over all permitted changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from sev.actions import Moves
from sev.backends.free._enough import find_ranges
from sev.backends.free._knapsack import least_cost_of_any
from sev.backends.free._least_cost import FeatureTerms, Listed
from sev.backends.free._problem import Enough, FreeProblem, FreeSolution
from sev.backends.free._rows import move_rows
from sev.backends.free._tables import LineTable
from sev.core import LazyList, Status, pack
from sev.typing import BoolArray, FloatArray, IntArray


def find_refused(
    problem: FreeProblem, rows: IntArray, sets: BoolArray, targets: FloatArray
) -> tuple[BoolArray, pd.DataFrame | None, FloatArray | None]:
    """Sets that the model itself does not take across with these values, the changed rows, and their scores.

    The rows are None where there are none, the scores where the problem does not tell them.
    """
    if not len(rows):
        return np.zeros(0, dtype=np.bool_), None, None
    moved = move_rows(problem.queries, problem.space, problem.destinations, rows, sets, targets)
    if problem.decide is None:
        return ~problem.crosses(moved), moved, None
    crosses, scores = problem.decide(moved)
    return ~crosses, moved, scores


def find_least_cost(
    problem: FreeProblem,
    fewest: FreeSolution,
    terms: list[FeatureTerms],
    usable: BoolArray,
    need: FloatArray,
    sure: FloatArray,
) -> FreeSolution:
    """The least costly set of each row, whatever its size.

    Parameters
    ----------
    problem : FreeProblem
        The problem.
    fewest : FreeSolution
        Its sets of the fewest features: what is kept where the least cost is not found.
    terms : list of FeatureTerms
        What the values of each feature gain.
    usable : ndarray of bool, shape (n_rows, n_features)
        Features that gain something.
    need, sure : ndarray of shape (n_rows,)
        What has to be gained, and what surely is enough for a range.
    """
    return _Run(problem, fewest, terms, usable, need, sure).solve()


class _Run:
    def __init__(
        self,
        problem: FreeProblem,
        fewest: FreeSolution,
        terms: list[FeatureTerms],
        usable: BoolArray,
        need: FloatArray,
        sure: FloatArray,
    ) -> None:
        self._problem, self._fewest, self._terms = problem, fewest, terms
        self._need, self._sure = need, sure
        self._usable = usable
        self._rows = np.flatnonzero(fewest.solution.has_set)
        # what is known: of the sets of the fewest features the least costly
        offsets = fewest.solution.offsets
        self._items = np.array(
            [
                offsets[row] + np.argmin(fewest.moves.cost[offsets[row] : offsets[row + 1]])
                for row in self._rows.tolist()
            ],
            dtype=np.int64,
        )
        n_features = len(problem.space)
        self._sets = np.zeros((len(self._rows), n_features), dtype=np.bool_)
        self._targets = fewest.moves.targets[self._items].copy()
        self._costs = np.full(len(self._rows), np.inf)
        self._proven = np.zeros(len(self._rows), dtype=np.bool_)
        self._complete = np.ones(len(self._rows), dtype=np.bool_)

    def solve(self) -> FreeSolution:
        """All rows that have a set."""
        waiting = self._fill_lines()
        for place in np.flatnonzero(waiting).tolist():
            self._search_row(place)
        most = self._problem.limits.max_size
        found = np.isfinite(self._costs)
        if most is not None:
            found &= self._sets.sum(axis=1) <= most
        tried = np.flatnonzero(found)
        found[tried] = ~find_refused(self._problem, self._rows[tried], self._sets[tried], self._targets[tried])[0]
        return self._build_solution(found)

    def _fill_lines(self) -> BoolArray:
        """Rows in which every number gains in proportion to its cost from where it is, all at once; the others wait."""
        table = LineTable.of(self._terms, self._problem.n_rows)
        usable = self._usable[self._rows]
        plain = ~(usable & ~(table.is_line & (table.fixed == 0.0))[self._rows]).any(axis=1)
        counts = usable.sum(axis=1)
        for count in np.unique(counts[plain]).tolist():
            places = np.flatnonzero(plain & (counts == count))
            members = np.nonzero(usable[places])[1].reshape(len(places), count)
            rows = self._rows[places]
            values, costs, works = table.least_cost(rows, members, self._need[rows])
            moved = (values != table.old[rows[:, None], members]) & works[:, None]
            self._targets[places[:, None], members] = values
            self._sets[places[:, None], members] = moved
            self._costs[places] = np.where(works, costs, np.inf)
            self._proven[places] = works
        return ~plain

    def _search_row(self, place: int) -> None:
        row = int(self._rows[place])
        members = np.flatnonzero(self._usable[row])
        values = [self._terms[number].of_row(row) for number in members.tolist()]
        self._complete[place] = all(one.complete for one in values if isinstance(one, Listed))
        found = least_cost_of_any(values, float(self._need[row]))
        if found is None:
            return
        self._sets[place, members[found.moved]] = True
        self._targets[place, members] = found.targets
        self._costs[place], self._proven[place] = found.cost, found.proven

    def _build_solution(self, found: BoolArray) -> FreeSolution:
        """The sets that were found, and where none was, the one that is known."""
        fewest, n_features = self._fewest, len(self._problem.space)
        solution = fewest.solution
        masks = np.where(found[:, None], pack(self._sets.reshape(-1, n_features)), solution.masks[self._items])
        status = solution.status.copy()
        status[self._rows] = np.where(found & self._proven, Status.OPTIMAL.code, Status.FEASIBLE.code)
        counts = np.zeros(len(solution), dtype=np.int64)
        counts[self._rows] = 1
        complete, complete_values = solution.complete.copy(), fewest.complete_values.copy()
        complete[self._rows] = False  # others may cost as little
        complete_values[self._rows] &= self._complete
        return FreeSolution(
            solution=replace(
                solution,
                status=status,
                offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
                masks=masks.astype(np.uint64),
                complete=complete,
                set_margins=None,
            ),
            moves=Moves(
                targets=np.where(found[:, None], self._targets, fewest.moves.targets[self._items]),
                cost=np.where(found, self._costs, fewest.moves.cost[self._items]),
                proven_cost=found & self._proven,
            ),
            complete_values=complete_values,
            enough=LazyList(
                len(self._rows),
                lambda places: [
                    self._ranges_of_set(place) if found[place] else fewest.enough[int(self._items[place])]
                    for place in places
                ],
            ),
        )

    def _ranges_of_set(self, place: int) -> Mapping[int, Enough]:
        row = int(self._rows[place])
        members = {number: self._terms[number] for number in np.flatnonzero(self._sets[place]).tolist()}
        return find_ranges(members, row, self._targets[place], float(self._sure[row]))
