"""One problem with rules: the features of blocks that change, one choice after the other, with the family's search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from sev.actions import ChoiceDestinations, Destinations, FeatureDestinations, Moves, NumberDestinations
from sev.backends.free._joint_answers import Item, JointAnswers, Part
from sev.backends.free._joint_ranges import widest_ranges
from sev.backends.free._joint_space import MergedFeatures
from sev.backends.free._joint_values import Block
from sev.backends.free._nearer import bring_nearer
from sev.backends.free._problem import Enough, FreeProblem, FreeSolution
from sev.core import LazyList, Limits, Status, unpack
from sev.typing import BoolArray, FloatArray, IntArray

#: Entries of the tables of combinations that are made at once.
_ENTRIES_AT_ONCE = 4_000_000
#: Sizes that are searched alone before all others.
_SIZES_ALONE = 2
#: How often a choice of the features that change may be searched for a row.
_ROUNDS = 3

#: Which features of each block change.
_Changed = tuple[tuple[bool, ...], ...]


class JointRun:
    """The rows of one problem."""

    def __init__(self, problem: FreeProblem, merged: MergedFeatures, blocks: list[Block]) -> None:
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
        #: Of the budget of a row, for one of the searches.
        self._share = 1.0 / (_ROUNDS * 2 ** sum(len(block.features) for block in blocks))
        self._answers = JointAnswers(problem)

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
                rows = rows[~(self._answers.best[rows] <= sizes[rows] + more)]
                some = rows[(sizes[rows] + more < limit) & ~(listed[rows] & (more == 0))]
                self._search_all(some, (sizes[some] + more).astype(np.float64))
            rows = rows[~(self._answers.best[rows] <= sizes[rows] + _SIZES_ALONE - 1)]
        self._search_all(rows, np.full(len(rows), limit))
        return self._bring_nearer(*self._answers.together())

    def _take_known(self, known: FreeSolution) -> None:
        owner = np.repeat(np.arange(self._problem.n_rows), np.diff(known.solution.offsets))
        sets = unpack(known.solution.masks, len(self._problem.space))
        self._answers.add_sets(Part(rows=owner, sets=sets, moves=known.moves, enough=known.enough, is_searched=False))

    def _search_listed(self, rows: IntArray, sizes: IntArray) -> None:
        """Search rows for sets of one size, all of which are known that may cross."""
        found: dict[int, tuple[list[int], list[_Changed], list[BoolArray]]] = {}
        for row, size in zip(rows.tolist(), sizes.tolist(), strict=True):
            self._answers.begin(row, Item(Status.UNDECIDED, size + 1, True))
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
            self._answers.begin(row)
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
                limit = limit if by_cost else min(limit, self._answers.best[row])
                if number > limit:  # nothing with so many is wanted
                    self._answers.add_item(row, Item(Status.UNDECIDED, number, False))
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
        solution, answers = found.solution, self._answers
        owner = rows[np.repeat(np.arange(len(rows)), np.diff(solution.offsets))]
        merged = unpack(solution.masks, len(self._merged.space))
        sets, targets = self._merged.split(self._blocks, owner, merged, found.moves.targets)
        moves = Moves(targets=targets, cost=found.moves.cost, proven_cost=found.moves.proven_cost)
        # what is proven about ranges holds for the values that were tried
        wide = [number for block in self._blocks for number in block.wide]
        is_other = np.asarray(sets[:, wide].any(axis=1), dtype=np.bool_)
        find = partial(self._find_enough, owner, sets, targets, is_other, found.enough)
        answers.add_sets(Part(rows=owner, sets=sets, moves=moves, enough=LazyList(len(owner), find)))
        for place, (row, changed) in enumerate(zip(rows.tolist(), choices, strict=True)):
            status = Status.from_code(int(solution.status[place]))
            bound = int(solution.lower_bound[place]) + _count_fewer(changed)
            answers.add_item(row, Item(status, bound, bool(solution.complete[place])))
            answers.note(row, complete_values=bool(found.complete_values[place]), reason=solution.reasons.get(place))

    def _bring_nearer(self, found: FreeSolution, is_searched: BoolArray) -> FreeSolution:
        """The same with less costly values of numbers of which only those were tried that decide."""
        wide = [number for block in self._blocks for number in block.wide]
        sets = unpack(found.solution.masks, len(self._problem.space))
        some = np.flatnonzero(is_searched & sets[:, wide].any(axis=1))
        if not some.size:
            return found
        rows = np.repeat(np.arange(self._problem.n_rows), np.diff(found.solution.offsets))[some]
        targets, costs, proven = found.moves.targets.copy(), found.moves.cost.copy(), found.moves.proven_cost.copy()
        before = targets[some]
        targets[some] = bring_nearer(self._problem, rows, sets[some], before, wide)
        proven[some] = False
        for number in wide:
            one = self._problem.destinations.features[number]
            assert isinstance(one, NumberDestinations)
            for at in np.flatnonzero(sets[some, number]).tolist():
                values = np.array([before[at, number], targets[some[at], number]])
                old, new = one.cost(int(rows[at]), values).tolist()
                costs[some[at]] += new - old
        return replace(found, moves=Moves(targets=targets, cost=costs, proven_cost=proven))

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
            if is_other[at]:
                continue
            for merged, one in mine.items():
                number = numbers[merged]
                if number >= 0:
                    ranges[number] = one
                elif isinstance(one, frozenset):
                    block, row = self._blocks[-1 - number], int(rows[at])
                    ranges.update(widest_ranges(block, row, sets[at], targets[at], one))
        return found


def _count_fewer(changed: _Changed) -> int:
    """How many features fewer a search counts where these features of blocks change."""
    return sum(map(sum, changed)) - sum(map(any, changed))


def _part_of(limits: Limits, most: int | None, share: float) -> Limits:
    """Limits of one search of several."""
    seconds = None if limits.time_limit is None else limits.time_limit * share
    return replace(limits, max_size=most, time_limit=seconds)
