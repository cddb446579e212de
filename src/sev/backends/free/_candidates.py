"""Any model: all sets of one size with all candidate values, then of the next, scored by the model within a budget.

Candidates are the permitted values among those that occur in the background, the ends of what is permitted, and all
permitted categories. What is proven is relative to them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import combinations, islice, product
from math import prod
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd

from sev.actions import ChoiceDestinations, FeatureDestinations, Moves, NumberDestinations, permitted_number
from sev.backends.free._first_answer import Candidates, Found, find_some
from sev.backends.free._problem import Enough, FreeProblem, FreeSolution
from sev.backends.free._rows import move_rows
from sev.core import LazyList, SolutionBuilder, n_words, pack
from sev.typing import BoolArray, FloatArray, IntArray, MaskArray

_ROWS_PER_CALL = 20_000
#: Combinations of values of several sets that are scored in one call.
_ROWS_TOGETHER = 1_024
#: Values of one number that are tried.
_MOST_VALUES = 16
#: Rows scored for one query where the user sets no limit.
_BUDGET = 1_000_000
#: One in so many is kept back for some set without a proof, where the others do not suffice for one.
_PART_FOR_SOME = 4
#: Combinations of values that are sorted by their cost, and how many of them are scored first.
_MOST_SORTED = 200_000
_FIRST_ROWS = 64


class _Part(NamedTuple):
    """Combinations of the values of one set: places in the lists of its features, and costs."""

    at: int
    places: IntArray
    costs: FloatArray


class RangeFinder(Protocol):
    """Proves ranges around the values of a set."""

    def find(self, problem: FreeProblem, row: int, chosen: BoolArray, targets: FloatArray) -> Mapping[int, Enough]:
        """The values of the features of one set of a row that do, by number of the feature."""
        ...


class RangesOfProven:
    """Ranges of rows of which it is known that no smaller set crosses: those that the finder's own search could read.

    Parameters
    ----------
    ranges : RangeFinder
        Proves the ranges.
    """

    def __init__(self, ranges: RangeFinder) -> None:
        self._ranges = ranges

    def find(self, problem: FreeProblem, row: int, chosen: BoolArray, targets: FloatArray) -> Mapping[int, Enough]:
        """The values of the features of one set of a row that do, by number of the feature; none for other rows."""
        return self._ranges.find(problem, row, chosen, targets) if row in problem.proven else {}


class CandidateSearch:
    """Searches candidate values with the model's own decisions.

    Parameters
    ----------
    ranges : RangeFinder, default=None
        Proves ranges around what was found; None: there are none.
    """

    def __init__(self, ranges: RangeFinder | None = None) -> None:
        self._ranges = ranges

    def solve(self, problem: FreeProblem) -> FreeSolution:
        """Solve the problem within its budget of predictions and seconds."""
        n_features = len(problem.space)
        builder = SolutionBuilder(problem.n_rows, n_words(n_features))
        found: list[Found] = []
        complete = np.zeros(problem.n_rows, dtype=np.bool_)
        proven: list[bool] = []
        owner: list[int] = []
        for row in range(problem.n_rows):
            search = _RowSearch(problem, row)
            complete[row] = search.is_complete
            mine = search.run(builder)
            found += mine
            owner += [row] * len(mine)
            proven += [search.is_complete and not search.has_ended] * len(mine)
        moves = Moves(
            targets=np.array([one.targets for one in found]).reshape(len(found), n_features),
            cost=np.array([one.cost for one in found], dtype=np.float64),
            proven_cost=np.array(proven, dtype=np.bool_),
        )
        return FreeSolution(
            solution=builder.build(),
            moves=moves,
            complete_values=complete,
            enough=LazyList(
                len(found), lambda places: [self._find_enough(problem, owner[at], found[at]) for at in places]
            ),
        )

    def _find_enough(self, problem: FreeProblem, row: int, found: Found) -> Mapping[int, Enough]:
        if self._ranges is None:
            return {}
        return self._ranges.find(problem, row, found.chosen, found.targets)


class _RowSearch:
    """The search for one row."""

    def __init__(self, problem: FreeProblem, row: int) -> None:
        self._problem = problem
        self._row = row
        limits = problem.limits
        budget = _BUDGET if limits.max_predictions is None else limits.max_predictions
        self._kept_back = budget // _PART_FOR_SOME if problem.distance is not None else 0
        self._left = budget - self._kept_back
        self._start = time.monotonic()
        share = 1.0 if problem.distance is None else 1.0 - 1.0 / _PART_FOR_SOME
        self._end = None if limits.time_limit is None else self._start + share * limits.time_limit
        found = [
            candidates_of(one, row, problem.observed.get(number))
            for number, one in enumerate(problem.destinations.features)
        ]
        self._features = [number for number, one in enumerate(found) if len(one.targets)]
        self._candidates = found
        #: Whether the candidates are all permitted values, and whether a limit ended the search.
        self.is_complete = all(found[number].complete for number in self._list_reachable())
        self.has_ended = False

    def run(self, builder: SolutionBuilder) -> list[Found]:
        """Record the answer of the row; its sets with their values and costs."""
        if self._problem.minimise == "cost":
            return self._run_by_cost(builder)
        limits = self._problem.limits
        most = self._largest_size()
        for size in range(self._first_size(), most + 1):
            found = self._solve_level(size)
            if found:
                found.sort(key=lambda one: one.cost)
                kept = found[: limits.max_sets]
                done = not self.has_ended and len(found) <= limits.max_sets
                builder.found(self._row, _pack_sets(kept), lower_bound=size, complete=done)
                return kept
            if self.has_ended:
                return self._give_up(builder, lower_bound=size)
        self._record_none(builder, most)
        return []

    def _run_by_cost(self, builder: SolutionBuilder) -> list[Found]:
        """One size after the other, without sets that cost at least as much as what is known."""
        best: Found | None = None
        lower_bound, most = self._first_size(), self._largest_size()
        least = np.sort([self._candidates[number].costs[0] for number in self._features])
        for size in range(lower_bound, most + 1):
            if best is not None and not least[:size].sum() < best.cost:
                break
            best = self._level_by_cost(size, best)
            if self.has_ended:
                break
            if best is None:
                lower_bound = size + 1
        if best is None and self.has_ended:
            return self._give_up(builder, lower_bound=lower_bound)
        if best is None:
            self._record_none(builder, most)
            return []
        # larger sets than may be listed could cost less
        cut = most < len(self._features) and least[: most + 1].sum() < best.cost
        if self.has_ended or cut:
            builder.feasible(self._row, _pack_sets([best]), lower_bound=lower_bound)
        else:
            builder.found(self._row, _pack_sets([best]), lower_bound=lower_bound, complete=False)
        return [best]

    def _first_size(self) -> int:
        """The first size of which it is not known that no set crosses."""
        return self._problem.proven.get(self._row, 0) + 1

    def _list_reachable(self) -> list[int]:
        """Features of the sets that may be looked at."""
        known = self._problem.smallest.get(self._row)
        if known is None or self._largest_size() > self._first_size():
            return list(range(len(self._problem.space)))
        return np.flatnonzero(known.any(axis=0)).tolist()

    def _sets_of(self, size: int) -> Iterator[tuple[int, ...]]:
        """The sets of one size that may cross."""
        known = self._problem.smallest.get(self._row)
        if known is None or size != self._first_size():
            return combinations(self._features, size)
        return (tuple(np.flatnonzero(one).tolist()) for one in known)

    def _largest_size(self) -> int:
        most = self._problem.limits.max_size
        return len(self._features) if most is None else min(most, len(self._features))

    def _record_none(self, builder: SolutionBuilder, most: int) -> None:
        if most < len(self._features):
            builder.undecided(self._row, lower_bound=most + 1)
        else:
            builder.unexplainable(self._row, n_active=len(self._features))

    def _give_up(self, builder: SolutionBuilder, *, lower_bound: int) -> list[Found]:
        """Some set that crosses, from what was kept back of the budget; proven only if it has no feature to spare."""
        some = find_some(self._evaluate_moves, self._candidates, self._features, self._largest_size(), self._kept_back)
        if some is None:
            builder.undecided(self._row, lower_bound=lower_bound)
            return []
        if self._problem.minimise == "cost":
            builder.feasible(self._row, _pack_sets([some]), lower_bound=lower_bound)
        else:
            builder.found(self._row, _pack_sets([some]), lower_bound=lower_bound, complete=False, proven=False)
        return [some]

    def _solve_level(self, size: int) -> list[Found]:
        """The sets of one size that cross, each with its least costly values."""
        found: list[Found] = []
        for sets in self._group_sets(self._sets_of(size)):
            found += self._best_of_each(sets, np.inf)
            if self.has_ended:
                break
        return found

    def _level_by_cost(self, size: int, known: Found | None) -> Found | None:
        """The least costly of what is known and the sets of one size."""
        for sets in self._group_sets(self._sets_of(size)):
            limit = np.inf if known is None else known.cost
            useful = [names for names in sets if sum(self._candidates[one].costs[0] for one in names) < limit]
            found = self._best_of_each(useful, limit)
            known = min(found, key=lambda one: one.cost) if found else known
            if self.has_ended:
                break
        return known

    def _group_sets(self, sets: Iterator[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
        """Sets whose combinations of values are scored in one call."""
        together: list[tuple[int, ...]] = []
        n_rows = 0
        for names in sets:
            mine = prod(len(self._candidates[number].targets) for number in names)
            if together and n_rows + mine > _ROWS_TOGETHER:
                yield together
                together, n_rows = [], 0
            together.append(names)
            n_rows += mine
        if together:
            yield together

    def _is_spent(self) -> bool:
        return self._left <= 0 or (self._end is not None and time.monotonic() > self._end)

    def _best_of_each(self, sets: list[tuple[int, ...]], limit: float) -> list[Found]:
        """The least costly values of each of some sets that cross and cost less than a limit.

        A part of the combinations of every set is scored in one call, the least costly first, then the next part.
        """
        best: dict[int, Found] = {}
        waiting = {at: _in_order([self._candidates[number] for number in names]) for at, names in enumerate(sets)}
        while waiting and not self.has_ended:
            if self._is_spent():
                self.has_ended = True
                break
            parts: list[_Part] = []
            for at in list(waiting):
                part = next(waiting[at], None)
                if part is None:
                    del waiting[at]
                    continue
                useful = part[1] < (best[at].cost if at in best else limit)
                parts += self._within_budget(at, part[0][useful], part[1][useful])
                if self.has_ended:
                    break
            self._score_parts(sets, parts, best)
        return [best[at] for at in sorted(best)]

    def _within_budget(self, at: int, places: IntArray, costs: FloatArray) -> list[_Part]:
        """Combinations of one set as far as the budget goes; nothing where there are none."""
        if len(places) > self._left:
            places, costs, self.has_ended = places[: self._left], costs[: self._left], True
        self._left -= len(places)
        return [_Part(at, places, costs)] if len(places) else []

    def _score_parts(self, sets: list[tuple[int, ...]], parts: list[_Part], best: dict[int, Found]) -> None:
        """Score some combinations in one call, and keep the least costly of each set that cross."""
        if not parts:
            return
        ends = np.cumsum([len(part.costs) for part in parts]).tolist()
        targets = np.zeros((ends[-1], len(self._problem.space)))
        chosen = np.zeros(targets.shape, dtype=np.bool_)
        begins = [0, *ends[:-1]]
        for part, begin, end in zip(parts, begins, ends, strict=True):
            for place, number in enumerate(sets[part.at]):
                targets[begin:end, number] = self._candidates[number].targets[part.places[:, place]]
                chosen[begin:end, number] = True
        crosses = self._crosses(chosen, targets)
        for part, begin, end in zip(parts, begins, ends, strict=True):
            cost = np.where(crosses[begin:end], part.costs, np.inf)
            least = int(np.argmin(cost))
            if np.isfinite(cost[least]):
                best[part.at] = Found(chosen[begin + least], targets[begin + least], float(cost[least]))

    def _crosses(self, chosen: BoolArray, targets: FloatArray) -> BoolArray:
        problem, rows, moved = self._problem, *self._move_rows(chosen, targets)
        crosses = problem.crosses(moved)
        if problem.keeps_rules is not None:
            crosses &= problem.keeps_rules(rows, moved)
        return crosses

    def _move_rows(self, chosen: BoolArray, targets: FloatArray) -> tuple[IntArray, pd.DataFrame]:
        problem, rows = self._problem, np.full(len(chosen), self._row, dtype=np.int64)
        return rows, move_rows(problem.queries, problem.space, problem.destinations, rows, chosen, targets)

    def _evaluate_moves(self, chosen: BoolArray, targets: FloatArray) -> tuple[FloatArray, BoolArray]:
        """How far rows are from crossing, and which cross and keep the rules."""
        problem, rows, moved = self._problem, *self._move_rows(chosen, targets)
        assert problem.distance is not None
        distance = problem.distance(moved)
        crosses = problem.crosses(moved)
        if problem.keeps_rules is not None:
            kept = problem.keeps_rules(rows, moved)
            crosses &= kept
            distance = np.where(kept, distance, np.inf)  # what breaks a rule is followed where nothing else is left
        return distance, crosses


def _pack_sets(found: list[Found]) -> MaskArray:
    return pack(np.array([one.chosen for one in found]))


def _in_order(lists: list[Candidates]) -> Iterator[tuple[IntArray, FloatArray]]:
    """All combinations of places of listed values, with their costs; the least costly first, unless too many."""
    counts = [len(one.targets) for one in lists]
    if prod(counts) > _MOST_SORTED:
        places = product(*map(range, counts))
        while some := list(islice(places, _ROWS_PER_CALL)):
            chunk = np.array(some, dtype=np.int64)
            yield chunk, np.sum([one.costs[chunk[:, at]] for at, one in enumerate(lists)], axis=0)
        return
    every = np.indices(counts).reshape(len(counts), -1).T
    costs = np.sum([one.costs[every[:, at]] for at, one in enumerate(lists)], axis=0)
    order = np.argsort(costs, kind="stable")
    first, width = 0, _FIRST_ROWS
    while first < len(order):
        some_places = order[first : first + width]
        yield every[some_places], costs[some_places]
        first, width = first + width, min(4 * width, _ROWS_PER_CALL)


def candidates_of(
    one: FeatureDestinations, row: int, observed: FloatArray | None, most: int = _MOST_VALUES
) -> Candidates:
    """The values of a feature that are tried for a row."""
    nothing = np.zeros(0)
    if one is None:
        return Candidates(nothing, nothing, True)
    if isinstance(one, ChoiceDestinations):
        places = np.flatnonzero(one.allowed[row])
        prices = one.costs(np.array([row]))[0, places]
        order = np.argsort(prices, kind="stable")
        return Candidates(places[order].astype(np.float64), prices[order], True)
    values, complete = number_candidates(one, row, observed, most)
    if one.missing[row]:
        values = np.concatenate([values, [np.nan]])
    costs = one.cost(row, values)
    order = np.argsort(costs, kind="stable")
    return Candidates(values[order], costs[order], complete)


def number_candidates(
    one: NumberDestinations, row: int, observed: FloatArray | None, most: int
) -> tuple[FloatArray, bool]:
    """Permitted values of a number, at most about so many, and whether these are all."""
    every = permitted_number(one, row, most)
    if every is not None:
        return every, True
    low, high = one.low[row], one.high[row]
    wanted = [low, high] if observed is None else [low, high, *observed[(observed >= low) & (observed <= high)]]
    near = permitted_number(one, row, most, wanted=np.array(wanted))
    values = np.zeros(0) if near is None else near
    if len(values) > most:
        values = values[np.unique(np.linspace(0, len(values) - 1, most).round().astype(np.int64))]
    return values, False
