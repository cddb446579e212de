"""One problem over permitted values of a linear or additive model: best values, sets, and their least costly values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.actions import ChoiceDestinations, Moves, NumberDestinations, on_grid
from sev.backends.free._additive_cost import find_least_cost, find_refused
from sev.backends.free._additive_groups import list_grid
from sev.backends.free._ends import BetterEnd, Ends, better_ends, ends_of_all
from sev.backends.free._enough import find_ranges
from sev.backends.free._least_cost import FeatureTerms
from sev.backends.free._problem import Enough, FreeProblem, FreeSolution
from sev.backends.free._rows import move_rows, put_values, replace_columns
from sev.backends.free._set_values import SetValues
from sev.backends.linear import solve_gains
from sev.core import LazyList, Problem, Solution, unpack
from sev.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sev.backends.free._additive import AdditiveSearch

#: How far beyond the decision values are chosen, as a share of the size of the terms: more than a slope is off by
#: rounding.
_BEYOND = 1e-9


@dataclass(frozen=True, eq=False)
class _Best:
    """The best permitted value of one feature in each row."""

    target: FloatArray  # NaN where it becomes missing, the place of a choice
    gain: FloatArray  # what it adds to the margin, 0 where nothing is permitted
    usable: BoolArray
    complete: bool


_NO_SETS = np.zeros(0, dtype=np.bool_)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sets:
    """Sets of features with values, those of a row after each other; and what the model says, once it is asked."""

    rows: IntArray
    sets: BoolArray
    values: FloatArray
    costs: FloatArray
    proven: BoolArray
    refused: BoolArray = field(default_factory=lambda: _NO_SETS)
    results: pd.DataFrame | None = None
    scores: FloatArray | None = None

    @classmethod
    def of(cls, found: SetValues, places: IntArray) -> _Sets:
        """Some of the sets whose values are known, before the model is asked."""
        return cls(
            rows=found.rows[places],
            sets=found.sets[places],
            values=found.values[places],
            costs=found.costs[places],
            proven=found.proven[places],
        )


class AdditiveRun:
    """One problem."""

    def __init__(self, search: AdditiveSearch, problem: FreeProblem) -> None:
        self._search = search
        self._problem = problem
        self._sign = -float(problem.direction)  # margins times this fall when they come nearer
        self._encoded = search.encode(problem.queries) if problem.encoded is None else problem.encoded
        self._own = search.own_terms(self._encoded)

    def solve(self) -> FreeSolution:
        """All minimum sets of every row, each with its least costly values."""
        problem, n_features = self._problem, len(self._problem.space)
        best = [self._find_best(number) for number in range(n_features)]
        start = self._search.margins(self._encoded)
        gains = np.column_stack([one.gain for one in best])
        usable = np.column_stack([one.usable for one in best])
        targets = np.column_stack([one.target for one in best])
        base = self._search.base_margin
        size = np.abs(start) + abs(base) + np.abs(self._own - base).sum(axis=1) + np.abs(gains).sum(axis=1)
        slack = 8.0 * self._search.rounding * (self._encoded.shape[1] + 4) * size

        def evaluate(rows: IntArray, sets: BoolArray) -> FloatArray:
            moved = move_rows(problem.queries, problem.space, problem.destinations, rows, sets, targets[rows])
            return problem.crosses(moved).astype(np.float64)

        plain = Problem(
            kind="minus",
            direction=problem.direction,
            low=problem.low,
            high=problem.high,
            queries=np.zeros((problem.n_rows, 0)),
            reference=np.zeros(0),
            column_feature=np.zeros(0, dtype=np.int64),
            active=usable,
            evaluate=evaluate,
            is_across=lambda scores: scores > 0.5,
            across_sign=1,
            limits=problem.limits,
        )
        solution = solve_gains(plain, start, np.where(usable, gains, 0.0), slack)
        line = problem.low if self._sign > 0 else -problem.high
        # surely across, and not by the last bit
        sure = self._sign * start - line + slack + 0.5 * _BEYOND * size
        need = sure + 0.5 * _BEYOND * size
        terms = [self._feature_terms(number, one) for number, one in enumerate(best)]
        rows = np.repeat(np.arange(len(solution)), np.diff(solution.offsets))
        found = SetValues(terms, targets, need, rows, unpack(solution.masks, n_features))
        listed = np.ones(problem.n_rows, dtype=np.bool_)
        if problem.first_only and problem.minimise == "features":
            solution, sets, listed = self._keep_first(solution, found)
        else:
            everything = np.arange(len(rows))
            found.find(everything)
            sets = _Sets.of(found, everything)
        sets = self._check_values(sets, targets, terms)
        complete = np.full(problem.n_rows, all(one.complete for one in best))
        fewest = FreeSolution(
            solution=solution,
            moves=Moves(targets=sets.values, cost=sets.costs, proven_cost=sets.proven),
            complete_values=complete,
            enough=LazyList(len(sets.rows), partial(_find_enough, sets, terms, sure)),
            scores=sets.scores,
            results=sets.results,
            listed=listed,
        )
        if problem.minimise == "cost":
            return find_least_cost(problem, fewest, terms, usable, need, sure)
        return fewest

    # -- the best value of each feature --------------------------------------------------------------------------------

    def _find_best(self, number: int) -> _Best:
        one = self._problem.destinations.features[number]
        shape = self._search.shapes.get(number)
        n_rows = self._problem.n_rows
        if isinstance(one, ChoiceDestinations):
            return self._best_choice(number, one)
        nothing = _Best(np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows, dtype=np.bool_), True)
        if one is None:
            return nothing
        best = nothing
        if shape is not None:
            place = int(np.searchsorted(self._problem.destinations.numbers.features, number))
            low, high, exists = (end[place] for end in self._ends)
            target, gain, usable = (part[place] for part in self._better_ends)
            best = _Best(target, gain, usable, True)
        candidates: list[tuple[FloatArray, BoolArray]] = []
        complete = True
        if shape is not None and shape.kind == "parabola":
            candidates += self._around_vertex(one, shape.vertex, low, high, exists)
        elif shape is not None and shape.kind == "other":
            listed, complete = self._list_values(number, one, low, high, exists)
            best = self._best_of(number, one, best, listed, low, high, exists)
        if one.missing.any():
            candidates.append((np.full(n_rows, np.nan), one.missing))
        for values, permitted in candidates:
            best = self._choose_better(number, one, best, values, permitted)
        return _Best(best.target, best.gain, best.usable, complete)

    def _around_vertex(
        self, one: NumberDestinations, vertex: float, low: FloatArray, high: FloatArray, exists: BoolArray
    ) -> list[tuple[FloatArray, BoolArray]]:
        inside = np.clip(np.full(len(low), vertex), low, np.maximum(low, high))
        if one.step is None:
            return [(inside, exists)]
        place = (inside - one.origin) / one.step
        return [
            (np.clip(on_grid(rounded, one.step, one.origin), low, np.maximum(low, high)), exists)
            for rounded in (np.floor(place), np.ceil(place))
        ]

    def _list_values(
        self, number: int, one: NumberDestinations, low: FloatArray, high: FloatArray, exists: BoolArray
    ) -> tuple[FloatArray, bool]:
        """Values to try beside the ends of what is permitted, and whether the best is surely among all of these."""
        if not exists.any():
            return np.zeros(0), True
        grid = list_grid(one)
        if grid is not None:
            return grid, True
        first, last = float(low[exists].min()), float(high[exists].max())
        observed = self._problem.observed.get(number, np.zeros(0))
        values = observed[(observed >= first) & (observed <= last)]
        curve = self._search.curves.get(number)
        complete = curve is not None and curve.covers(first, last)
        if curve is not None:
            values = np.concatenate([values, curve.best_values(observed)])
        if one.step is None:
            return np.unique(values), complete
        # the best of a stretch that rises or falls is its first or its last value
        beside = [
            on_grid(side((values - origin) / one.step), one.step, origin)
            for side in (np.floor, np.ceil)
            for origin in np.unique(one.origin).tolist()
        ]
        return np.unique(np.concatenate(beside)), complete

    def _best_of(
        self,
        number: int,
        one: NumberDestinations,
        best: _Best,
        values: FloatArray,
        low: FloatArray,
        high: FloatArray,
        exists: BoolArray,
    ) -> _Best:
        """The better of what is known and any of some values, row by row."""
        if not len(values):
            return best
        terms = self._search.terms_at(number, values)
        order = np.argsort(self._sign * terms, kind="stable")  # the best first
        values, terms = values[order], terms[order]
        permitted = exists[:, None] & (low[:, None] <= values) & (values <= high[:, None])
        permitted &= (values != one.old[:, None]) & np.isfinite(terms)
        if one.step is not None and len(np.unique(one.origin)) > 1:
            steps = (values - one.origin[:, None]) / one.step
            permitted &= np.abs(steps - np.round(steps)) < 1e-9
        place = np.argmax(permitted, axis=1)
        gain = terms[place] - self._own[:, number]
        better = permitted[np.arange(len(place)), place] & (self._sign * gain < self._sign * best.gain)
        return _Best(
            np.where(better, values[place], best.target),
            np.where(better, gain, best.gain),
            best.usable | better,
            best.complete,
        )

    def _choose_better(
        self,
        number: int,
        one: NumberDestinations,
        best: _Best,
        values: FloatArray,
        permitted: BoolArray,
    ) -> _Best:
        """The better of what is known and other values, row by row."""
        permitted = permitted & (np.isnan(values) != np.isnan(one.old)) | permitted & (values != one.old) & ~np.isnan(
            values
        )
        if not permitted.any():
            return best
        encoded = self._encode_moved(number, values, permitted)
        if encoded is None:
            return best
        gain = np.zeros(len(values))
        gain[permitted] = self._search.terms(number, encoded) - self._own[permitted, number]
        better = permitted & np.isfinite(gain) & (self._sign * gain < self._sign * best.gain)
        return _Best(
            np.where(better, values, best.target),
            np.where(better, gain, best.gain),
            best.usable | better,
            best.complete,
        )

    def _encode_moved(self, number: int, values: FloatArray, permitted: BoolArray) -> FloatArray | None:
        """Some rows with one number changed, encoded; None where the encoder takes no missing value."""
        [column] = self._problem.space.features[number].columns
        queries = self._problem.queries.iloc[np.flatnonzero(permitted)].reset_index(drop=True)
        everywhere = np.ones(len(queries), dtype=np.bool_)
        try:
            moved = put_values(queries[column], everywhere, values[permitted])
            return self._search.encode(replace_columns(queries, {column: moved}))
        except ValueError:
            if not np.isnan(values).any():
                raise
            return None

    @cached_property
    def _ends(self) -> Ends:
        """The smallest and the largest permitted value of each number."""
        return ends_of_all(self._problem.destinations.numbers)

    @cached_property
    def _better_ends(self) -> BetterEnd:
        """The better of these."""
        numbers, search = self._problem.destinations.numbers, self._search
        shaped = np.array([number in search.shapes for number in numbers.features.tolist()], dtype=np.bool_)
        ends = self._ends._replace(exists=self._ends.exists & shaped[:, None])
        own = self._own[:, numbers.features].T
        return better_ends(numbers, ends, own, self._sign, search.end_terms, list(self._problem.queries.dtypes.array))

    def _best_choice(self, number: int, one: ChoiceDestinations) -> _Best:
        terms = self._search.choice_terms(number, one)
        gains = np.where(one.allowed, terms[None, :] - self._own[:, [number]], np.inf * self._sign)
        ordered = self._sign * np.where(np.isnan(gains), np.inf * self._sign, gains)
        if not len(terms):
            nothing = np.zeros(self._problem.n_rows)
            return _Best(nothing, nothing, np.zeros(len(nothing), dtype=np.bool_), True)
        target = np.argmin(ordered, axis=1)
        value = ordered[np.arange(len(target)), target]
        usable = value < 0
        return _Best(target.astype(np.float64), np.where(usable, self._sign * value, 0.0), usable, True)

    # -- values of the sets --------------------------------------------------------------------------------------------

    def _keep_first(self, solution: Solution, found: SetValues) -> tuple[Solution, _Sets, BoolArray]:
        """The least costly set of each row, and the rows that have no others.

        Where the model refuses its values, others may cost less: all sets of such a row are kept.
        """
        n_rows = self._problem.n_rows
        first = found.find_first()
        checked = self._check_sets(_Sets.of(found, first))
        counts = np.diff(solution.offsets)
        listed = (counts == 0) | ((counts == 1) & solution.complete)
        refused = checked.rows[checked.refused]
        if refused.size:
            listed[refused] = True
            others = np.flatnonzero(listed[found.rows])
            found.find(others)
            first = np.union1d(first, others)
            checked = _Sets.of(found, first)
        kept = np.bincount(found.rows[first], minlength=n_rows)
        smaller = replace(
            solution,
            offsets=np.concatenate([[0], np.cumsum(kept)]).astype(np.int64),
            masks=solution.masks[first],
            set_margins=None,
            complete=solution.complete & listed,
        )
        return smaller, checked, listed

    def _check_sets(self, sets: _Sets) -> _Sets:
        """The same sets after the model has scored their values."""
        if sets.results is not None:
            return sets
        refused, results, scores = find_refused(self._problem, sets.rows, sets.sets, sets.values)
        return replace(sets, refused=refused, results=results, scores=scores)

    def _check_values(self, sets: _Sets, targets: FloatArray, terms: list[FeatureTerms]) -> _Sets:
        """The same sets, with the best values of all where the model refuses others."""
        sets = self._check_sets(sets)
        if not sets.refused.any():
            return sets
        values, costs, proven = sets.values.copy(), sets.costs.copy(), sets.proven & ~sets.refused
        for place in np.flatnonzero(sets.refused).tolist():  # these are what the search has proven
            row = int(sets.rows[place])
            values[place] = targets[row]
            costs[place] = sum(
                terms[number].cost(row, targets[row, number]) for number in np.flatnonzero(sets.sets[place]).tolist()
            )
        return replace(sets, values=values, costs=costs, proven=proven, results=None, scores=None)

    def _feature_terms(self, number: int, best: _Best) -> FeatureTerms:
        one = self._problem.destinations.features[number]
        shape = self._search.shapes.get(number)
        gains = None
        seen, terms, seen_all = *self._search.seen_terms.get(number, (np.zeros(0), np.zeros(0))), False
        if shape is not None and shape.kind != "line" and isinstance(one, NumberDestinations):
            values = list_grid(one)
            if values is not None:
                seen, terms, seen_all = values, self._search.terms_at(number, values), True
        if isinstance(one, ChoiceDestinations):
            gains = -self._sign * (self._search.choice_terms(number, one)[None, :] - self._own[:, [number]])
        return FeatureTerms(
            destinations=one,
            best=best.target,
            gain=-self._sign * best.gain,
            slope=-self._sign * shape.slope if shape is not None and shape.kind == "line" else None,
            choice_gains=gains,
            seen=seen,
            seen_gains=-self._sign * (terms[None, :] - self._own[:, [number]]),
            seen_all=seen_all,
            own=self._own[:, number],
            sign=-self._sign,
            terms_at=partial(self._search.terms_at, number) if isinstance(one, NumberDestinations) else None,
            curve=self._search.curves.get(number) if isinstance(one, NumberDestinations) else None,
        )


def _find_enough(
    sets: _Sets, terms: list[FeatureTerms], sure: FloatArray, places: list[int]
) -> list[Mapping[int, Enough]]:
    """For some sets, ranges whose values gain what surely is enough."""
    found: list[Mapping[int, Enough]] = []
    for place in places:
        members = {number: terms[number] for number in np.flatnonzero(sets.sets[place]).tolist()}
        row = int(sets.rows[place])
        is_sure = not sets.refused[place]
        found.append(find_ranges(members, row, sets.values[place], float(sure[row])) if is_sure else {})
    return found
