"""Rules between features, exactly: features that rules tie together move as one, with the values that keep the rules.

Which of them change is chosen first. For each choice the family's own search sees one feature in their place, whose
values are the permitted combinations that change just these and break no rule. A set that it finds has as many
features as the combination changes, and the others. So the smallest over all choices is the smallest of all, and no
choice has to be searched further than the smallest set that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from sev.actions import ChoiceDestinations, Destinations, FeatureDestinations, Moves, NumberDestinations
from sev.backends._reading import Reading
from sev.backends.free._joint_blocks import TooManyValuesError, make_block
from sev.backends.free._joint_ranges import widest_ranges
from sev.backends.free._joint_values import Block, find_blocks
from sev.backends.free._nearer import bring_nearer
from sev.backends.free._problem import Enough, ExactSearch, FreeProblem, FreeSearch, FreeSolution
from sev.core import LazyList, Limits, SolutionBuilder, Status, n_words, pack, unpack
from sev.space import FeatureSpace
from sev.typing import BoolArray, Cells, FloatArray, IntArray

#: Entries of the tables of combinations that are made at once.
_ENTRIES_AT_ONCE = 4_000_000
#: Sizes that are searched alone before all others.
_SIZES_ALONE = 2
#: How often a choice of the features that change may be searched for a row.
_ROUNDS = 3
#: Choices of the features that change which are gone through.
_MOST_CHOICES = 64

#: Makes the family's search for other features of the same columns.
MakeSearch = Callable[[Reading, FeatureSpace], ExactSearch | None]


class JointSearch:
    """Searches permitted values that keep rules between features.

    Parameters
    ----------
    reading : Reading
        The model.
    search : ExactSearch
        The family's own search.
    make : callable
        Makes the family's search for other features.
    """

    def __init__(self, reading: Reading, search: ExactSearch, make: MakeSearch) -> None:
        self._reading = reading
        self._search = search
        self._make = make
        self._known: dict[tuple[tuple[int, ...], ...], _Merged] = {}

    def solve(self, problem: FreeProblem, known: FreeSolution) -> tuple[IntArray, FreeSolution] | None:
        """Solve the problem exactly, within its limits; None where the rules tie too many values together.

        Rows that the family's search cannot answer have reasons. Other rows may be left out.

        Parameters
        ----------
        problem : FreeProblem
            The rows, with what is proven about them.
        known : FreeSolution
            Sets of theirs that keep the rules, as small or as little costly as any without rules.

        Raises
        ------
        CannotReadError
            As the family's search.
        """
        features = find_blocks(problem.rules, problem.destinations)
        if not features or 2 ** sum(map(len, features)) > _MOST_CHOICES:
            return None
        try:
            blocks = [make_block(problem, one, self._search) for one in features]
        except TooManyValuesError:
            return self._solve_halves(problem, known)
        if any(one is None for one in blocks):
            return None
        merged = self._merged(problem.space, tuple(features))
        run = _JointRun(problem, merged, [one for one in blocks if one is not None])
        return np.arange(problem.n_rows), run.solve(known)

    def _solve_halves(self, problem: FreeProblem, known: FreeSolution) -> tuple[IntArray, FreeSolution] | None:
        if problem.n_rows == 1:
            return None
        parts = []
        for half in np.array_split(np.arange(problem.n_rows), 2):
            found = self.solve(problem.take(half), known.take(half))
            if found is not None:
                parts.append((half[found[0]], found[1]))
        if not parts:
            return None
        rows = np.sort(np.concatenate([rows for rows, _ in parts]))
        return rows, FreeSolution.merge([(np.searchsorted(rows, some), one) for some, one in parts])

    def _merged(self, space: FeatureSpace, blocks: tuple[tuple[int, ...], ...]) -> _Merged:
        known = self._known.get(blocks)
        if known is None:
            known = self._known[blocks] = _Merged.of(self._reading, space, blocks, self._make)
        return known


@dataclass(frozen=True, eq=False)
class _Merged:
    """Features that are one for each block, and their search."""

    space: FeatureSpace
    search: FreeSearch
    numbers: IntArray  # for each of these features, the number of the feature that it is; -1 - block for blocks
    choices: dict[int, tuple[tuple[Any, ...], tuple[Cells, ...]]]

    @classmethod
    def of(cls, reading: Reading, space: FeatureSpace, blocks: Sequence[tuple[int, ...]], make: MakeSearch) -> _Merged:
        inside = {number for block in blocks for number in block}
        alone = [number for number in range(len(space)) if number not in inside]
        members = {space.names[number]: space.features[number].columns for number in alone}
        for block in blocks:
            name = " and ".join(space.names[number] for number in block)
            while name in members:
                name += " "
            members[name] = sum((space.features[number].columns for number in block), ())
        other = FeatureSpace.of_columns(members, space.columns)
        search = make(replace(reading, encoding=reading.encoding.with_features(other)), other)
        assert search is not None
        return cls(other, search, np.array([*alone, *(-1 - place for place in range(len(blocks)))]), {})

    def choices_of(self, place: int, block: Block) -> tuple[Cells, ...]:
        """The combinations of a block; the same object as before where they are the same, so that searches know."""
        key = tuple(part for one in block.values for part in one.key) if all(one.key for one in block.values) else ()
        known = self.choices.get(place)
        if known is None or not key or not _are_same(known[0], key):
            known = self.choices[place] = (key, block.list_cells())
        return known[1]


def _are_same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether keys are the same: bytes that are equal, or the same objects."""
    return len(one) == len(other) and all(
        a is b or (isinstance(a, bytes) and a == b) for a, b in zip(one, other, strict=True)
    )


class _Item(NamedTuple):
    """What was found for one row where given features of the blocks change."""

    status: Status
    lower_bound: int  # of sets that change all of these
    complete: bool


class _Part(NamedTuple):
    """The sets that one search found."""

    rows: IntArray  # of each set
    sets: BoolArray
    moves: Moves
    enough: LazyList[Mapping[int, Enough]]


#: Which features of each block change.
_Changed = tuple[tuple[bool, ...], ...]


class _JointRun:
    """The rows of one problem."""

    def __init__(self, problem: FreeProblem, merged: _Merged, blocks: list[Block]) -> None:
        self._problem = problem
        self._merged = merged
        self._blocks = blocks
        self._choices = [merged.choices_of(place, block) for place, block in enumerate(blocks)]
        space = problem.space
        columns = [[name for number in block.features for name in space.features[number].columns] for block in blocks]
        self._kept = [
            block.kept(problem.rules, mine, problem.queries) for block, mine in zip(blocks, columns, strict=True)
        ]
        self._allowed: dict[tuple[int, tuple[bool, ...]], BoolArray] = {}
        n_rows = problem.n_rows
        #: Of the budget of a row, for one of the searches.
        self._share = 1.0 / (_ROUNDS * 2 ** sum(len(block.features) for block in blocks))
        self._best = np.full(n_rows, np.inf)  # the fewest features of a set, or its least cost
        self._items: list[list[_Item]] = [[] for _ in range(n_rows)]
        self._parts: list[_Part] = []
        self._complete_values = np.ones(n_rows, dtype=np.bool_)
        self._reasons: dict[int, str] = {}

    def solve(self, known: FreeSolution) -> FreeSolution:
        """The smallest sets of every row, over all choices of the features that change.

        Most answers are hardly larger than without rules: those sizes come first, one by one. Of the first all sets are
        known that can keep the rules, with some values.
        """
        problem = self._problem
        self._take_known(known)
        rows = np.arange(problem.n_rows)
        limit = np.inf if problem.limits.max_size is None else float(problem.limits.max_size)
        if problem.minimise == "features":
            sizes = np.array([problem.proven.get(row, 0) + 1 for row in rows.tolist()])
            listed = np.array([row in problem.smallest for row in rows.tolist()], dtype=np.bool_)
            self._search_listed(rows[listed], sizes[listed])
            for more in range(_SIZES_ALONE):
                rows = rows[~(self._best[rows] <= sizes[rows] + more)]
                some = rows[(sizes[rows] + more < limit) & ~(listed[rows] & (more == 0))]
                self._search_all(some, (sizes[some] + more).astype(np.float64))
            rows = rows[~(self._best[rows] <= sizes[rows] + _SIZES_ALONE - 1)]
        self._search_all(rows, np.full(len(rows), limit))
        return self._together()

    def _take_known(self, known: FreeSolution) -> None:
        owner = np.repeat(np.arange(self._problem.n_rows), np.diff(known.solution.offsets))
        sets = unpack(known.solution.masks, len(self._problem.space))
        self._parts.append(_Part(rows=owner, sets=sets, moves=known.moves, enough=known.enough))
        self._note_best(owner, sets, known.moves.cost)

    def _search_listed(self, rows: IntArray, sizes: IntArray) -> None:
        """Search rows for sets of one size, all of which are known that may cross."""
        found: dict[int, tuple[list[int], list[_Changed], list[BoolArray]]] = {}
        for row, size in zip(rows.tolist(), sizes.tolist(), strict=True):
            self._items[row] = [_Item(Status.UNDECIDED, size + 1, True)]
            usable: dict[_Changed, BoolArray] = {}
            for chosen in self._problem.smallest[row]:
                changed = tuple(tuple(chosen[list(block.features)].tolist()) for block in self._blocks)
                usable[changed] = usable.get(changed, chosen) | chosen
            for changed, features in usable.items():
                some, changes, others = found.setdefault(size - _count_fewer(changed), ([], [], []))
                some.append(row)
                changes.append(changed)
                others.append(features)
        for most, (some, changes, others) in found.items():
            self._search(np.array(some, dtype=np.int64), changes, most, np.array(others))

    def _search_all(self, rows: IntArray, largest: FloatArray) -> None:
        """Search rows for sets of at most so many features, over all choices of those that change."""
        for row in rows.tolist():
            self._items[row] = []
        by_number: dict[int, list[_Changed]] = {}
        for changed in product(*(product((False, True), repeat=len(one.features)) for one in self._blocks)):
            by_number.setdefault(sum(map(sum, changed)), []).append(changed)
        for number in sorted(by_number):
            for most, some, choices in self._to_search(by_number[number], number, rows, largest):
                self._search(some, choices, most)

    # -- one choice after the other ------------------------------------------------------------------------------------

    def _to_search(
        self, choices: Sequence[_Changed], number: int, rows: IntArray, largest: FloatArray
    ) -> Iterator[tuple[int | None, IntArray, list[_Changed]]]:
        """Rows, each with the features of blocks that change: those for which the search has the same largest size."""
        found: dict[int | None, tuple[list[int], list[_Changed]]] = {}
        by_cost = self._problem.minimise == "cost"
        for changed in choices:
            n_fewer = _count_fewer(changed)
            possible = np.ones(len(rows), dtype=np.bool_)
            for place, mine in enumerate(changed):
                if any(mine):
                    possible &= self._allowed_of(place, mine)[rows].any(axis=1)
            for row, limit in zip(rows[possible].tolist(), largest[possible].tolist(), strict=True):
                limit = limit if by_cost else min(limit, self._best[row])
                if number > limit:  # nothing with so many is wanted
                    self._items[row].append(_Item(Status.UNDECIDED, number, False))
                    continue
                most = None if np.isinf(limit) else int(limit) - n_fewer
                some, changes = found.setdefault(most, ([], []))
                some.append(row)
                changes.append(changed)
        for most, (some, changes) in found.items():
            yield most, np.array(some, dtype=np.int64), changes

    def _allowed_of(self, place: int, changed: tuple[bool, ...]) -> BoolArray:
        """The combinations of a block that each row may take by changing just these features."""
        known = self._allowed.get((place, changed))
        if known is None:
            block, kept = self._blocks[place], self._kept[place]
            known = block.permitted(changed, kept) if any(changed) else np.zeros(kept.shape, dtype=np.bool_)
            self._allowed[place, changed] = known
        return known

    def _search(
        self, rows: IntArray, choices: Sequence[_Changed], most: int | None, usable: BoolArray | None = None
    ) -> None:
        """Search rows in which given features of blocks change, with the family's own search.

        Other features may change where ``usable`` says so.
        """
        width = sum(kept.shape[1] for kept in self._kept)
        at_once = max(1, _ENTRIES_AT_ONCE // max(1, width))
        for first in range(0, len(rows), at_once):
            some = slice(first, first + at_once)
            problem = self._make_problem(rows[some], choices[some], most, None if usable is None else usable[some])
            self._note(rows[some], choices[some], self._merged.search.solve(problem))

    def _make_problem(
        self, rows: IntArray, choices: Sequence[_Changed], most: int | None, usable: BoolArray | None
    ) -> FreeProblem:
        problem, numbers = self._problem, self._merged.numbers.tolist()
        mine = problem.destinations.take(rows)
        mine = mine if usable is None else mine.only(usable)
        features: list[FeatureDestinations] = [mine.features[number] for number in numbers if number >= 0]
        for place, block in enumerate(self._blocks):
            allowed = np.array(
                [self._allowed_of(place, one[place])[row] for row, one in zip(rows.tolist(), choices, strict=True)]
            )
            features.append(
                ChoiceDestinations(
                    choices=self._choices[place],
                    old=block.own[rows],
                    allowed=allowed,
                    weight=1.0,
                    distances=block.costs[rows],
                )
            )
        return replace(
            problem,
            queries=problem.queries.iloc[rows],
            space=self._merged.space,
            destinations=Destinations(features=tuple(features)),
            keeps_rules=None,
            rules=(),
            limits=_part_of(problem.limits, most, self._share),
            share=self._share,
            firsts=None,
            observed={
                place: problem.observed[number] for place, number in enumerate(numbers) if number in problem.observed
            },
            proven={},
            smallest={},
            encoded=None if problem.encoded is None else problem.encoded[rows],
        )

    def _note(self, rows: IntArray, choices: Sequence[_Changed], found: FreeSolution) -> None:
        """Keep what a search found, in the features of the problem."""
        solution = found.solution
        owner = np.repeat(np.arange(len(rows)), np.diff(solution.offsets))
        sets, targets = self._split(rows[owner], unpack(solution.masks, len(self._merged.space)), found.moves.targets)
        moves, is_other = self._nearer(rows[owner], sets, targets, found.moves)
        find = partial(self._find_enough, rows[owner], sets, targets, is_other, found.enough)
        self._parts.append(_Part(rows=rows[owner], sets=sets, moves=moves, enough=LazyList(len(owner), find)))
        self._note_best(rows[owner], sets, moves.cost)
        for place, (row, changed) in enumerate(zip(rows.tolist(), choices, strict=True)):
            if place in solution.reasons:
                self._reasons[row] = solution.reasons[place]
            status = Status.from_code(int(solution.status[place]))
            bound = int(solution.lower_bound[place]) + _count_fewer(changed)
            self._items[row].append(_Item(status, bound, bool(solution.complete[place])))
            self._complete_values[row] &= bool(found.complete_values[place])

    def _note_best(self, rows: IntArray, sets: BoolArray, costs: FloatArray) -> None:
        """Keep what the best of some sets has or costs."""
        np.minimum.at(self._best, rows, self._worth(sets, costs))

    def _worth(self, sets: BoolArray, costs: FloatArray) -> FloatArray:
        """What is to be least."""
        return costs if self._problem.minimise == "cost" else sets.sum(axis=1).astype(np.float64)

    def _nearer(self, rows: IntArray, sets: BoolArray, targets: FloatArray, moves: Moves) -> tuple[Moves, BoolArray]:
        """The moves of sets, less costly where only those values were tried that decide; and which sets these are."""
        wide = [number for block in self._blocks for number in block.wide]
        some = np.flatnonzero(sets[:, wide].any(axis=1))
        is_other = np.zeros(len(rows), dtype=np.bool_)
        is_other[some] = True
        costs, values = moves.cost.copy(), targets.copy()
        if some.size:
            values[some] = bring_nearer(self._problem, rows[some], sets[some], targets[some], wide)
        for number in wide:
            one = self._problem.destinations.features[number]
            assert isinstance(one, NumberDestinations)
            for at in some[sets[some, number]].tolist():
                before, after = one.cost(int(rows[at]), np.array([targets[at, number], values[at, number]])).tolist()
                costs[at] += after - before
        return Moves(targets=values, cost=costs, proven_cost=moves.proven_cost & ~is_other), is_other

    def _split(self, rows: IntArray, merged: BoolArray, targets: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Sets of merged features, and their values, in the features of the problem."""
        n_features, numbers = len(self._problem.space), self._merged.numbers
        alone = numbers >= 0
        sets, values = np.zeros((len(rows), n_features), dtype=np.bool_), np.zeros((len(rows), n_features))
        sets[:, numbers[alone]], values[:, numbers[alone]] = merged[:, alone], targets[:, alone]
        for place, block in enumerate(self._blocks):
            at = int(np.flatnonzero(numbers == -1 - place)[0])
            moved = np.flatnonzero(merged[:, at])
            combination = targets[moved, at].astype(np.int64)
            for number, one, places in zip(block.features, block.values, block.places, strict=True):
                new = places[combination]
                sets[moved, number] = new != one.own[rows[moved]]
                values[moved, number] = new if one.numbers is None else one.numbers[new]
        return sets, values

    def _find_enough(
        self,
        rows: IntArray,
        sets: BoolArray,
        targets: FloatArray,
        is_other: BoolArray,
        enough: LazyList[Mapping[int, Enough]],
        places: list[int],
    ) -> list[Mapping[int, Enough]]:
        """Ranges of merged features, in the features of the problem."""
        found: list[Mapping[int, Enough]] = []
        numbers = self._merged.numbers.tolist()
        for at, mine in zip(places, enough.get(places), strict=True):
            ranges: dict[int, Enough] = {}
            found.append(ranges)
            if is_other[at]:  # what is proven holds for the values that were tried
                continue
            for merged, one in mine.items():
                number = numbers[merged]
                if number >= 0:
                    ranges[number] = one
                elif isinstance(one, frozenset):
                    block, row = self._blocks[-1 - number], int(rows[at])
                    ranges.update(widest_ranges(block, row, sets[at], targets[at], one))
        return found

    # -- all choices together ------------------------------------------------------------------------------------------

    def _together(self) -> FreeSolution:
        problem = self._problem
        n_features = len(problem.space)
        rows = np.concatenate([part.rows for part in self._parts])
        sets = np.concatenate([part.sets for part in self._parts])
        moves = Moves(
            targets=np.concatenate([part.moves.targets for part in self._parts]),
            cost=np.concatenate([part.moves.cost for part in self._parts]),
            proven_cost=np.concatenate([part.moves.proven_cost for part in self._parts]),
        )
        best = np.flatnonzero(self._worth(sets, moves.cost) == self._best[rows])
        # the least costly first; of a set that several searches found, that one
        order = best[np.lexsort((best, moves.cost[best], rows[best]))]
        builder = SolutionBuilder(problem.n_rows, n_words(n_features))
        kept: list[int] = []
        bounds = np.searchsorted(rows[order], np.arange(problem.n_rows + 1))
        for row in range(problem.n_rows):
            mine = _without_repeats(order[bounds[row] : bounds[row + 1]], sets)
            kept += self._record(builder, row, mine, sets)
        items = np.array(kept, dtype=np.int64)
        return FreeSolution(
            solution=builder.build().with_errors(self._reasons) if self._reasons else builder.build(),
            moves=Moves(targets=moves.targets[items], cost=moves.cost[items], proven_cost=moves.proven_cost[items]),
            complete_values=self._complete_values,
            enough=LazyList.concatenate([part.enough for part in self._parts]).take(kept),
        )

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
        size = int(self._best[row])
        listed = found[: limits.max_sets]
        complete = len(listed) == len(found) and all(one.complete or one.lower_bound > size for one in open_items)
        builder.found(row, pack(sets[listed]), lower_bound=min(bound, size), complete=complete, proven=bound >= size)
        return listed

    def _count_active(self, row: int) -> int:
        """Features that a row may change, whatever the rules say."""
        problem = self._problem
        return sum(_is_active(one, row) for one in problem.destinations.features)


def _count_fewer(changed: _Changed) -> int:
    """How many features fewer a search counts where these features of blocks change."""
    return sum(map(sum, changed)) - sum(map(any, changed))


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


def _part_of(limits: Limits, most: int | None, share: float) -> Limits:
    """Limits of one search of several."""
    seconds = None if limits.time_limit is None else limits.time_limit * share
    return replace(limits, max_size=most, time_limit=seconds)
