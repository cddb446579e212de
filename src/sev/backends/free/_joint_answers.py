"""What was found for each choice of the features that change, and the answers over all choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sev.actions import ChoiceDestinations, FeatureDestinations, Moves
from sev.backends.free._problem import Enough, FreeProblem, FreeSolution
from sev.core import LazyList, SolutionBuilder, Status, n_words, pack
from sev.typing import BoolArray, FloatArray, IntArray


class Item(NamedTuple):
    """What was found for one row where given features of the blocks change."""

    status: Status
    lower_bound: int  # of sets that change all of these
    complete: bool


class Part(NamedTuple):
    """The sets that one search found."""

    rows: IntArray  # of each set
    sets: BoolArray
    moves: Moves
    enough: LazyList[Mapping[int, Enough]]
    is_searched: bool = True


class JointAnswers:
    """Collects what searches found for the rows of a problem.

    Parameters
    ----------
    problem : FreeProblem
        The problem.
    """

    def __init__(self, problem: FreeProblem) -> None:
        self._problem = problem
        n_rows = problem.n_rows
        #: The fewest features of a set of each row, or its least cost.
        self.best = np.full(n_rows, np.inf)
        self._items: list[list[Item]] = [[] for _ in range(n_rows)]
        self._parts: list[Part] = []
        self._complete_values = np.ones(n_rows, dtype=np.bool_)
        self._reasons: dict[int, str] = {}

    def begin(self, row: int, *items: Item) -> None:
        """What is known of a row from now on, besides its sets."""
        self._items[row] = [*items]

    def add_item(self, row: int, item: Item) -> None:
        """One more choice of the features that change was searched for a row, or need not be."""
        self._items[row].append(item)

    def add_sets(self, part: Part) -> None:
        """More sets."""
        self._parts.append(part)
        np.minimum.at(self.best, part.rows, self._worth(part.sets, part.moves.cost))

    def note(self, row: int, *, complete_values: bool, reason: str | None) -> None:
        """Whether a search tried all permitted values of a row, and why it could not answer."""
        self._complete_values[row] &= complete_values
        if reason is not None:
            self._reasons[row] = reason

    def _worth(self, sets: BoolArray, costs: FloatArray) -> FloatArray:
        """What is to be least."""
        return costs if self._problem.minimise == "cost" else sets.sum(axis=1).astype(np.float64)

    def together(self) -> tuple[FreeSolution, BoolArray]:
        """The answers over all choices, and which of the sets were searched for, and not known."""
        problem = self._problem
        n_features = len(problem.space)
        rows = np.concatenate([part.rows for part in self._parts])
        sets = np.concatenate([part.sets for part in self._parts])
        moves = Moves(
            targets=np.concatenate([part.moves.targets for part in self._parts]),
            cost=np.concatenate([part.moves.cost for part in self._parts]),
            proven_cost=np.concatenate([part.moves.proven_cost for part in self._parts]),
        )
        best = np.flatnonzero(self._worth(sets, moves.cost) == self.best[rows])
        # the least costly first; of a set that several searches found, that one
        order = best[np.lexsort((best, moves.cost[best], rows[best]))]
        builder = SolutionBuilder(problem.n_rows, n_words(n_features))
        kept: list[int] = []
        bounds = np.searchsorted(rows[order], np.arange(problem.n_rows + 1))
        for row in range(problem.n_rows):
            mine = _without_repeats(order[bounds[row] : bounds[row + 1]], sets)
            kept += self._record(builder, row, mine, sets)
        items = np.array(kept, dtype=np.int64)
        is_searched = np.repeat([part.is_searched for part in self._parts], [len(part.rows) for part in self._parts])
        answers = FreeSolution(
            solution=builder.build().with_errors(self._reasons) if self._reasons else builder.build(),
            moves=Moves(targets=moves.targets[items], cost=moves.cost[items], proven_cost=moves.proven_cost[items]),
            complete_values=self._complete_values,
            enough=LazyList.concatenate([part.enough for part in self._parts]).take(kept),
        )
        return answers, is_searched[items]

    def _record(self, builder: SolutionBuilder, row: int, found: list[int], sets: BoolArray) -> list[int]:
        """Record the answer of a row; the sets that are listed."""
        items, limits = self._items[row], self._problem.limits
        open_items = [one for one in items if one.status != Status.UNEXPLAINABLE]
        bound = min((one.lower_bound for one in open_items), default=len(self._problem.space) + 1)
        bound = max(bound, self._problem.proven.get(row, 0) + 1)
        if row in self._reasons:
            return []
        if not found:
            if open_items:
                builder.undecided(row, lower_bound=bound)
            else:
                builder.unexplainable(row, n_active=self._count_active(row))
            return []
        if self._problem.minimise == "cost":
            [first] = found[:1]
            size = int(sets[first].sum())
            if all(one.status == Status.OPTIMAL for one in open_items):
                builder.found(row, pack(sets[[first]]), lower_bound=min(bound, size), complete=False)
            else:
                builder.feasible(row, pack(sets[[first]]), lower_bound=min(bound, size))
            return [first]
        size = int(self.best[row])
        listed = found[: limits.max_sets]
        complete = len(listed) == len(found) and all(one.complete or one.lower_bound > size for one in open_items)
        builder.found(row, pack(sets[listed]), lower_bound=min(bound, size), complete=complete, proven=bound >= size)
        return listed

    def _count_active(self, row: int) -> int:
        """Features that a row may change, whatever the rules say."""
        problem = self._problem
        return sum(_is_active(one, row) for one in problem.destinations.features)


def _is_active(one: FeatureDestinations, row: int) -> bool:
    if one is None:
        return False
    if isinstance(one, ChoiceDestinations):
        return bool(one.allowed[row].any())
    return bool(one.low[row] <= one.high[row] or one.missing[row])


def _without_repeats(places: IntArray, sets: BoolArray) -> list[int]:
    """The first place of each set, in order."""
    first: dict[bytes, int] = {}
    for place in places.tolist():
        first.setdefault(sets[place].tobytes(), place)
    return list(first.values())
