"""The search over any permitted values as explainers ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from sev.actions import Destinations, Moves, NumberDestinations, on_grid
from sev.backends._links import inner_backend
from sev.backends._reading import Reading
from sev.backends.free import Enough, FreeProblem, FreeSolution
from sev.backends.trees._backend import TreeBackend
from sev.backends.trees.free.cells import NumberCells
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
        waits = np.zeros(problem.n_rows, dtype=np.bool_)
        if wanted.goal == Goal.CHEAPEST:  # where the budget has ended, there is nothing to go on with
            waits[solution.has_set] = moves.proven_cost[solution.offsets[:-1][solution.has_set]]
        return FreeSolution(
            solution=solution,
            moves=moves,
            complete_values=self._is_complete(problem.destinations, problem.n_rows, listed),
            enough=LazyList(
                len(moves.cost), lambda places: self._find_enough(wanted, solution, moves, np.array(places))
            ),
            listed=~waits,
        )

    def find(self, problem: FreeProblem, row: int, chosen: BoolArray, targets: FloatArray) -> Mapping[int, Enough]:
        """The values of the features of one set of a row that do, by number of the feature."""
        mine = np.array([row])
        alone = replace(
            problem,
            queries=problem.queries.iloc[mine],
            destinations=problem.destinations.take(mine),
            encoded=None if problem.encoded is None else problem.encoded[mine],
        )
        [found] = self._find_ranges(
            self._cell_problem(alone)[0], np.zeros(1, dtype=np.int64), chosen[None], targets[None]
        )
        return found

    def intervals(self, problem: FreeProblem) -> dict[int, tuple[FloatArray, FloatArray]]:
        """The ends of intervals of each number within which no tree tells two values apart, by number of the feature.

        Numbers whose encoding neither rises nor falls have none.

        Raises
        ------
        CannotReadError
            When a query lies where the cells are not those of its own encoding.
        """
        cells = [one.cells for one in self._trees.lay_out(self._cell_problem(problem)[0]).features]
        return {number: (one.lowest, one.highest) for number, one in enumerate(cells) if isinstance(one, NumberCells)}

    def ends(self, problem: FreeProblem) -> dict[int, FloatArray]:
        """The ends of the intervals of each number within which no tree tells two values apart."""
        return {number: np.concatenate(ends) for number, ends in self.intervals(problem).items()}

    def _cell_problem(self, problem: FreeProblem) -> tuple[CellProblem, ListedValues]:
        """The problem over cells, and the values of numbers that are listed."""
        values = ListedValues(problem)
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
            firsts=problem.firsts,
            share=problem.share,
            encoded=problem.encoded,
        )
        return wanted, values

    def _is_complete(self, destinations: Destinations, n_rows: int, listed: ListedValues) -> BoolArray:
        """Rows of which all permitted values were searched."""
        complete = np.ones(n_rows, dtype=np.bool_)
        numbers = destinations.numbers.features
        for number, searched in zip(numbers.tolist(), self._trees.values_searched(numbers), strict=True):
            one = destinations.features[number]
            if searched != "any" and isinstance(one, NumberDestinations) and not listed.are_all(number):
                complete &= ~(one.low <= one.high)
        return complete

    def _find_enough(
        self, problem: CellProblem, solution: Solution, moves: Moves, places: IntArray
    ) -> list[Mapping[int, Enough]]:
        """Proven ranges of some sets, by number of the feature."""
        owner = np.repeat(np.arange(len(solution)), np.diff(solution.offsets))[places]
        sets = unpack(solution.masks, len(self._trees.space))[places]
        return self._find_ranges(problem, owner, sets, moves.targets[places])

    def _find_ranges(
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


class ListedValues(Mapping[int, FloatArray]):
    """Values of each number to search one by one where need be: those that occur, and all of a short grid.

    They are listed when they are asked for: most numbers are searched by intervals.

    Parameters
    ----------
    problem : FreeProblem
        What is permitted, and what occurs.
    """

    def __init__(self, problem: FreeProblem) -> None:
        self._observed = problem.observed
        self._features = problem.destinations.features
        self._known: dict[int, tuple[FloatArray | None, bool]] = {}

    def __getitem__(self, number: int) -> FloatArray:
        values = self._find_values(number)[0]
        if values is None:
            raise KeyError(number)
        return values

    def __iter__(self) -> Iterator[int]:
        return (number for number in range(len(self._features)) if self._find_values(number)[0] is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def are_all(self, number: int) -> bool:
        """Whether the values of a number are all that are permitted."""
        return self._find_values(number)[1]

    def _find_values(self, number: int) -> tuple[FloatArray | None, bool]:
        if number not in self._known:
            self._known[number] = self._list_values(number)
        return self._known[number]

    def _list_values(self, number: int) -> tuple[FloatArray | None, bool]:
        observed, one = self._observed.get(number), self._features[number]
        if not isinstance(one, NumberDestinations) or one.step is None:
            return observed, False
        exists = one.low <= one.high
        if not exists.any():
            return observed, True
        origin = one.origin[exists]
        first, last = ((ends - origin[0]) / one.step for ends in (one.low[exists].min(), one.high[exists].max()))
        if not (origin == origin[0]).all() or not last - first < _MOST_ON_GRID:
            return observed, False
        steps = np.arange(np.floor(first), np.ceil(last) + 1.0)
        grid = on_grid(steps, one.step, origin[0])
        return np.unique(grid if observed is None else np.concatenate([observed, grid])), True
