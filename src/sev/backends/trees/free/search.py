"""The search over any permitted values as explainers ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sev.actions import Destinations, Moves, NumberDestinations, on_grid
from sev.backends._links import inner_backend
from sev.backends._reading import Reading
from sev.backends.free import Enough, FreeProblem, FreeSolution
from sev.backends.trees._backend import TreeBackend
from sev.backends.trees.free.problem import CellProblem, Goal
from sev.backends.trees.free.ranges import find_ranges
from sev.backends.trees.free.solver import FreeTrees, solve_free
from sev.core import LazyList, Solution, unpack
from sev.space import FeatureSpace
from sev.typing import BoolArray, FloatArray, IntArray

#: Values on a grid that are all searched, where the encoding of a number neither rises nor falls.
_MOST_ON_GRID = 256


class TreeSearch:
    """Searches permitted values of a tree ensemble.

    Parameters
    ----------
    reading : Reading
        The model, with a backend of trees.
    space : FeatureSpace
        Which columns belong to which feature.
    """

    def __init__(self, reading: Reading, space: FeatureSpace) -> None:
        backend, self._direction = inner_backend(reading.backend)
        assert isinstance(backend, TreeBackend)
        self._trees = FreeTrees(backend, reading.encoding, space)

    @staticmethod
    def takes(reading: Reading) -> bool:
        """Whether a reading is one of trees."""
        return isinstance(inner_backend(reading.backend)[0], TreeBackend)

    def solve(self, problem: FreeProblem) -> FreeSolution:
        """Solve the problem exactly, within its limits.

        Raises
        ------
        CannotReadError
            When a query lies where the cells are not those of its own encoding.
        """
        wanted, listed = self._cell_problem(problem)
        solution, moves = solve_free(self._trees, wanted)
        waits = solution.has_set if wanted.goal == Goal.CHEAPEST else np.zeros(problem.n_rows, dtype=np.bool_)
        return FreeSolution(
            solution=solution,
            moves=moves,
            complete_values=self._is_complete(problem.destinations, problem.n_rows, listed),
            enough=LazyList(len(moves.cost), lambda places: self._enough(wanted, solution, moves, np.array(places))),
            listed=~waits,
        )

    def find(self, problem: FreeProblem, row: int, chosen: BoolArray, targets: FloatArray) -> Mapping[int, Enough]:
        """The values of the features of one set of a row that do, by number of the feature."""
        mine = np.array([row])
        alone = replace(problem, queries=problem.queries.iloc[mine], destinations=problem.destinations.take(mine))
        [found] = self._ranges(self._cell_problem(alone)[0], np.zeros(1, dtype=np.int64), chosen[None], targets[None])
        return found

    def _cell_problem(self, problem: FreeProblem) -> tuple[CellProblem, frozenset[int]]:
        """The problem over cells, and the numbers whose permitted values are all listed."""
        values, listed = list_values(problem)
        low, high = (problem.low, problem.high) if self._direction == 1 else (-problem.high, -problem.low)
        wanted = CellProblem(
            direction=self._direction * problem.direction,
            low=low,
            high=high,
            queries=problem.queries,
            destinations=problem.destinations,
            crosses=problem.crosses,
            goal=Goal.COST if problem.minimise == "cost" else Goal.CHEAPEST if problem.first_only else Goal.ALL,
            limits=problem.limits,
            confirm=False,
            observed=values,
        )
        return wanted, listed

    def _is_complete(self, destinations: Destinations, n_rows: int, listed: frozenset[int]) -> BoolArray:
        """Rows of which all permitted values were searched."""
        complete = np.ones(n_rows, dtype=np.bool_)
        for number, one in enumerate(destinations.features):
            if not isinstance(one, NumberDestinations) or number in listed:
                continue
            if self._trees.values_searched(np.array([number]))[0] != "any":
                complete &= ~(one.low <= one.high)
        return complete

    def _enough(
        self, problem: CellProblem, solution: Solution, moves: Moves, places: IntArray
    ) -> list[Mapping[int, Enough]]:
        """Proven ranges of some sets, by number of the feature."""
        owner = np.repeat(np.arange(len(solution)), np.diff(solution.offsets))[places]
        sets = unpack(solution.masks, len(self._trees.space))[places]
        return self._ranges(problem, owner, sets, moves.targets[places])

    def _ranges(
        self, problem: CellProblem, owner: IntArray, sets: BoolArray, targets: FloatArray
    ) -> list[Mapping[int, Enough]]:
        ranges = find_ranges(self._trees, problem, owner, sets, targets)
        found: list[Mapping[int, Enough]] = []
        for place, chosen in enumerate(sets):
            mine: dict[int, Enough] = {}
            for number in np.flatnonzero(chosen).tolist():
                low, high = float(ranges.low[place, number]), float(ranges.high[place, number])
                if number in ranges.choices[place]:
                    mine[number] = frozenset(ranges.choices[place][number])
                elif low <= float(targets[place, number]) <= high:  # not where it becomes missing
                    mine[number] = (low, high)
            found.append(mine)
        return found


def list_values(problem: FreeProblem) -> tuple[dict[int, FloatArray], frozenset[int]]:
    """Values of each number to search one by one where need be, and the numbers of which these are all."""
    values, listed = dict(problem.observed), set()
    for number, one in enumerate(problem.destinations.features):
        if not isinstance(one, NumberDestinations) or one.step is None:
            continue
        exists = one.low <= one.high
        if not exists.any():
            listed.add(number)
            continue
        origin = one.origin[exists]
        first, last = ((ends - origin[0]) / one.step for ends in (one.low[exists].min(), one.high[exists].max()))
        if (origin == origin[0]).all() and last - first < _MOST_ON_GRID:
            steps = np.arange(np.floor(first), np.ceil(last) + 1.0)
            values[number] = np.unique(
                np.concatenate([problem.observed.get(number, steps[:0]), on_grid(steps, one.step, origin[0])])
            )
            listed.add(number)
    return values, frozenset(listed)
