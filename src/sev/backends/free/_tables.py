"""The least costly values of many sets at once, where gains add up.

The same as :func:`~sev.backends.free._least_cost.least_cost`, without a loop over sets: numbers whose gains are lines
in :class:`LineTable`, lists of values in :class:`ListTable`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sev.actions import ChoiceDestinations, NumberDestinations, first_on_grid, last_on_grid, on_grid
from sev.backends.free._least_cost import FeatureTerms, round_values
from sev.typing import BoolArray, FloatArray, IntArray

#: Values of a grid that are listed for all rows.
_MOST_LISTED = 256
#: Combinations of listed values of one set, and of all sets that are looked at together.
_MOST_COMBINATIONS, _MOST_TOGETHER = 20_000, 500_000


@dataclass(frozen=True, eq=False)
class LineTable:
    """The numbers of all rows whose gains are lines; arrays of shape (n_rows, n_features).

    Parameters
    ----------
    is_line : ndarray of bool
        Which are; the others have no meaning in the arrays after it.
    old, near, far, most, slope, price, fixed : ndarray of float64
        As in :class:`Line`.
    """

    is_line: BoolArray
    old: FloatArray
    near: FloatArray
    far: FloatArray
    most: FloatArray
    slope: FloatArray
    price: FloatArray
    fixed: FloatArray

    @classmethod
    def of(cls, terms: list[FeatureTerms], n_rows: int) -> LineTable:
        """Read the features of a problem."""
        is_line = np.zeros((n_rows, len(terms)), dtype=np.bool_)
        table = np.ones((7, n_rows, len(terms)))
        for number, one in enumerate(terms):
            mine = one.destinations
            if not isinstance(mine, NumberDestinations) or not one.slope or mine.step is not None:
                continue
            is_line[:, number] = np.isfinite(mine.old) & np.isfinite(one.best) & ~mine.missing
            near = np.minimum(np.maximum(mine.old, mine.low), mine.high)
            price = mine.weight / mine.scale
            fixed = price * np.abs(near - mine.old)
            for place, column in enumerate((mine.old, near, one.best, one.gain)):
                table[place, :, number] = column
            table[4, :, number], table[5, :, number], table[6, :, number] = one.slope, price, fixed
        return cls(is_line, *table)

    def least_cost(
        self, rows: IntArray, members: IntArray, need: FloatArray
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """As :func:`least_cost`, for many sets of one size at once: targets, costs, and whether there are any."""
        steps, costs, works = self.fill(rows, members, need)
        return self.targets(rows, members, steps), costs, works

    def targets(self, rows: IntArray, members: IntArray, steps: FloatArray) -> FloatArray:
        """The values of numbers that gain so much more than their nearest permitted ones, or slightly rounder ones."""
        old, near, far, slope = (one[rows[:, None], members] for one in (self.old, self.near, self.far, self.slope))
        return round_values(near, far, old, near + steps / slope)

    def fill(self, rows: IntArray, members: IntArray, need: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """What each number of some sets gains beyond its nearest permitted value, the cost, and whether it is enough.

        Those that gain most for their cost come first.
        """
        at = (rows[:, None], members)
        near, far, most, slope, price, fixed = (
            one[at] for one in (self.near, self.far, self.most, self.slope, self.price, self.fixed)
        )
        gained = most + slope * (near - far)
        capacity = most - gained
        with np.errstate(divide="ignore"):
            order = np.argsort(-np.abs(slope) / price, axis=1, kind="stable")
        missing = np.maximum(need - gained.sum(axis=1), 0.0)
        step = np.zeros_like(slope)
        lines = np.arange(len(rows))
        for place in range(members.shape[1]):
            chosen = order[:, place]
            part = np.minimum(missing, capacity[lines, chosen])
            step[lines, chosen] = part
            missing = missing - part
        costs = fixed.sum(axis=1) + (step / np.abs(slope) * price).sum(axis=1)
        return step, costs, missing <= 0.0


@dataclass(frozen=True, eq=False)
class _Values:
    """The values of one feature that are worth their cost, cheapest first; arrays of shape (n_rows, n_values).

    ``costs`` is infinite behind the last value of a row; ``known`` says in which rows these are all values.
    """

    targets: FloatArray
    gains: FloatArray
    costs: FloatArray
    known: BoolArray

    @classmethod
    def of(cls, values: FloatArray, gains: FloatArray, costs: FloatArray, known: BoolArray) -> _Values:
        """Leave out what is not permitted (of infinite cost) and what is costlier and weaker than another value."""
        costs = np.where(gains > 0, costs, np.inf)
        order = np.lexsort((-gains, costs), axis=-1)
        gains, costs = np.take_along_axis(gains, order, 1), np.take_along_axis(costs, order, 1)
        strongest = np.maximum.accumulate(gains, axis=1)
        kept = np.isfinite(costs)
        kept[:, 1:] &= strongest[:, 1:] > strongest[:, :-1]
        width = int(kept.sum(axis=1).max(initial=0))
        first = np.argsort(~kept, axis=1, kind="stable")[:, :width]
        costs = np.where(np.take_along_axis(kept, first, 1), np.take_along_axis(costs, first, 1), np.inf)
        targets = values[np.take_along_axis(order, first, 1)]
        return cls(targets, np.take_along_axis(gains, first, 1), costs, known)


@dataclass(frozen=True, eq=False)
class ListTable:
    """The features of some rows that take one of some values.

    Parameters
    ----------
    rows : ndarray of int64
        Numbers of the rows, sorted.
    features : list
        Their values by number of the feature; None for the others.
    """

    rows: IntArray
    features: list[_Values | None]

    @classmethod
    def of(cls, terms: list[FeatureTerms], rows: IntArray, sets: BoolArray) -> ListTable:
        """Read the features of some sets.

        Parameters
        ----------
        terms : list of FeatureTerms
            All features.
        rows : ndarray of int64
            The row of each set.
        sets : ndarray of bool, shape (n_sets, n_features)
            Features of each set.
        """
        some = np.unique(rows)
        used: BoolArray = np.any(sets, axis=0)
        return cls(some, [_values_of(one, some) if used[number] else None for number, one in enumerate(terms)])

    def is_listed(self, rows: IntArray) -> BoolArray:
        """Where the values are all that are permitted; (n, n_features)."""
        listed = np.zeros((len(rows), len(self.features)), dtype=np.bool_)
        for number, one in enumerate(self.features):
            if one is not None:
                listed[:, number] = one.known[self._find_places(rows)]
        return listed

    def widths(self) -> IntArray:
        """The number of values of each feature."""
        return np.array([0 if one is None else one.costs.shape[1] for one in self.features], dtype=np.int64)

    def gather(self, rows: IntArray, numbers: IntArray, width: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Targets, gains and costs of one feature of each of some rows; (n, width)."""
        shape, places = (len(rows), width), self._find_places(rows)
        targets, gains, costs = np.zeros(shape), np.zeros(shape), np.full(shape, np.inf)
        for number in np.unique(numbers).tolist():
            one = self.features[number]
            assert one is not None
            mine = np.flatnonzero(numbers == number)
            n_values = one.costs.shape[1]
            targets[mine, :n_values] = one.targets[places[mine]]
            gains[mine, :n_values] = one.gains[places[mine]]
            costs[mine, :n_values] = one.costs[places[mine]]
        return targets, gains, costs

    def _find_places(self, rows: IntArray) -> IntArray:
        return np.searchsorted(self.rows, rows)


def _values_of(one: FeatureTerms, rows: IntArray) -> _Values | None:
    """The values of a feature in some rows, where they can be listed."""
    mine = one.destinations
    if isinstance(mine, ChoiceDestinations):
        assert one.choice_gains is not None
        costs = np.where(mine.allowed[rows], mine.costs(rows), np.inf)
        choices = np.arange(float(len(mine.choices)))
        return _Values.of(choices, one.choice_gains[rows], costs, np.ones(len(rows), dtype=np.bool_))
    if not isinstance(mine, NumberDestinations) or mine.step is None or not one.slope:
        return None
    origin, old, best = mine.origin[rows], mine.old[rows], one.best[rows]
    first, last = first_on_grid(mine.low[rows], mine.step, origin), last_on_grid(mine.high[rows], mine.step, origin)
    exists = first <= last
    if not exists.any() or not (origin == origin[0]).all():
        return None
    least, most = first[exists].min(), last[exists].max()
    if not most - least < _MOST_LISTED:
        return None
    places = np.arange(least, most + 1)
    values = on_grid(places, mine.step, origin[0])
    permitted = exists[:, None] & (first[:, None] <= places) & (places <= last[:, None]) & (values != old[:, None])
    costs = np.where(permitted, mine.weight * np.abs(values - old[:, None]) / mine.scale, np.inf)
    known = np.isfinite(old) & np.isfinite(best) & ~mine.missing[rows]
    gains = one.gain[rows, None] + one.slope * (values - best[:, None])
    return _Values.of(values, np.where(known[:, None], gains, 0.0), costs, known)


def least_costs(
    lines: LineTable, lists: ListTable, rows: IntArray, sets: BoolArray, need: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Least costly values of many sets: targets (n_sets, n_features), costs, and which sets have an answer here.

    A set without one has a feature that is neither a line nor listed, too many combinations, or no values that gain
    enough.

    Parameters
    ----------
    lines : LineTable
        The numbers whose gains are lines.
    lists : ListTable
        Features with lists of values.
    rows : ndarray of int64
        The row of each set.
    sets : ndarray of bool, shape (n_sets, n_features)
        Features of each set.
    need : ndarray of float64
        The least gain of each set.
    """
    targets, costs, works = np.zeros(sets.shape), np.full(len(rows), np.inf), np.zeros(len(rows), dtype=np.bool_)
    on_line, listed = sets & lines.is_line[rows], sets & lists.is_listed(rows)
    widths = np.where(listed, lists.widths()[None, :], 1).max(axis=1, initial=1)
    widths = 2 ** np.ceil(np.log2(np.maximum(widths, 1))).astype(np.int64)  # sets of about as many values together
    kinds = np.column_stack([on_line.sum(axis=1), listed.sum(axis=1), widths])
    possible = (kinds[:, 0] + kinds[:, 1] == sets.sum(axis=1)) & (kinds[:, 1] > 0)
    for n_lines, n_lists, width in np.unique(kinds[possible], axis=0).tolist():
        if width**n_lists > _MOST_COMBINATIONS:
            continue
        alike = np.flatnonzero(possible & (kinds == (n_lines, n_lists, width)).all(axis=1))
        n_together = max(1, _MOST_TOGETHER // width**n_lists)
        for some in (alike[first : first + n_together] for first in range(0, len(alike), n_together)):
            members = [np.nonzero(one[some])[1].reshape(len(some), -1) for one in (on_line, listed)]
            found = _least_of_combinations(lines, lists, rows[some], members[0], members[1], int(width), need[some])
            targets[some[:, None], members[0]], targets[some[:, None], members[1]] = found[0], found[1]
            costs[some], works[some] = found[2], np.isfinite(found[2])
    return targets, costs, works


def _least_of_combinations(
    lines: LineTable,
    lists: ListTable,
    rows: IntArray,
    on_line: IntArray,
    listed: IntArray,
    width: int,
    need: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values of the numbers, values of the lists and costs of some sets with as many of either; infinite: none."""
    n_sets, n_lists = listed.shape
    gathered = [lists.gather(rows, listed[:, place], width) for place in range(n_lists)]
    gains, costs = np.zeros((n_sets, 1)), np.zeros((n_sets, 1))
    for _, gain, cost in gathered:
        gains = (gains[:, :, None] + gain[:, None, :]).reshape(n_sets, -1)
        costs = (costs[:, :, None] + cost[:, None, :]).reshape(n_sets, -1)
    missing = need[:, None] - gains
    steps = np.zeros((*gains.shape, on_line.shape[1]))
    if on_line.shape[1]:
        n_combinations = gains.shape[1]
        repeated = np.repeat(np.arange(n_sets), n_combinations)
        filled, price, enough = lines.fill(rows[repeated], on_line[repeated], missing.ravel())
        steps = filled.reshape(steps.shape)
        costs = costs + np.where(enough, price, np.inf).reshape(gains.shape)
    else:
        costs = np.where(missing <= 0.0, costs, np.inf)
    best = np.argmin(costs, axis=1)
    each = np.arange(n_sets)
    places = np.unravel_index(best, (width,) * n_lists)
    values = np.column_stack([one[0][each, place] for one, place in zip(gathered, places, strict=True)])
    return lines.targets(rows, on_line, steps[each, best]), values, costs[each, best]
