"""The least costly values of the sets of a problem, where gains add up: of all sets, or of the least costly ones."""

from __future__ import annotations

from functools import cache

import numpy as np

from sev.backends.free._cost_bounds import cost_bounds
from sev.backends.free._least_cost import FeatureTerms, Line, Listed, least_cost
from sev.backends.free._tables import LineTable, ListTable, least_costs
from sev.core import ragged_least
from sev.typing import BoolArray, FloatArray, IntArray

#: A share by which a bound may be above a cost by rounding.
_ROUNDING = 1e-9


class SetValues:
    """Values of sets that gain what is needed, those of a row after each other.

    Parameters
    ----------
    terms : list of FeatureTerms
        What the values of each feature gain.
    targets : ndarray of shape (n_rows, n_features)
        The best permitted values.
    need : ndarray of shape (n_rows,)
        What has to be gained.
    rows : ndarray of int64
        The row of each set, sorted.
    sets : ndarray of bool, shape (n_sets, n_features)
        Features of each set.
    """

    def __init__(
        self, terms: list[FeatureTerms], targets: FloatArray, need: FloatArray, rows: IntArray, sets: BoolArray
    ) -> None:
        self._terms, self._need = terms, need
        #: The row and the features of each set.
        self.rows, self.sets = rows, sets
        self._sizes: IntArray = sets.sum(axis=1)
        self._lines = LineTable.of(terms, len(need))
        self._waits = np.ones(len(rows), dtype=np.bool_)
        #: The values of each set; the best ones as long as no others are found.
        self.values = targets[rows]
        #: What they cost; infinite where they are not found yet.
        self.costs = np.full(len(rows), np.inf)
        #: Whether no others cost less.
        self.proven = np.zeros(len(rows), dtype=np.bool_)
        self._values_of = cache(lambda number, row: terms[number].of_row(row))

    def find_first(self) -> IntArray:
        """The least costly set of each row that has one: its place, with its values.

        Sets of which a bound says that they cost more are left open.
        """
        self._find_lines(np.arange(len(self.rows)))
        self._find_alone(np.flatnonzero(self._waits))
        places = np.flatnonzero(self._waits)
        if places.size:
            bounds = np.full(len(self.rows), np.inf)
            bounds[places] = cost_bounds(self._terms, self._lines, self.rows[places], self.sets[places], self._need)
            bounds -= _ROUNDING * np.abs(bounds, where=np.isfinite(bounds), out=np.zeros_like(bounds))
            some = ragged_least(np.where(self._waits, bounds, np.inf), self.rows)
            self.find(some[self._waits[some] & self._may_be_first(bounds)[some]])
            self.find(np.flatnonzero(self._waits & self._may_be_first(bounds)))
        return ragged_least(self.costs, self.rows)

    def find(self, places: IntArray) -> None:
        """The values of some sets, as far as they are not known yet."""
        places = self._find_lines(places[self._waits[places]])
        places = self._find_alone(places)
        places = self._find_lists(places)
        for place in places.tolist():
            self._find_one(place)

    def _may_be_first(self, bounds: FloatArray) -> BoolArray:
        """Sets that may cost no more than what is known of their rows."""
        least = np.full(len(self._need), np.inf)
        np.minimum.at(least, self.rows, self.costs)
        may: BoolArray = bounds <= least[self.rows]
        return may

    def _take_least(self, places: IntArray, works: BoolArray, costs: FloatArray) -> IntArray:
        """Note the costs of sets whose values are known now; the others."""
        known = places[works]
        self.costs[known], self.proven[known], self._waits[known] = costs[works], True, False
        return places[~works]

    def _find_lines(self, places: IntArray) -> IntArray:
        """Sets of nothing but lines, all at once; the places of the others."""
        rows, sets = self.rows, self.sets
        plain = ~(sets[places] & ~self._lines.is_line[rows[places]]).any(axis=1)
        open_places = [places[~plain]]
        for size in np.unique(self._sizes[places[plain]]).tolist():
            some = places[plain & (self._sizes[places] == size)]
            numbered = np.nonzero(sets[some])[1].reshape(len(some), size)
            values, costs, works = self._lines.least_cost(rows[some], numbered, self._need[rows[some]])
            self.values[some[works][:, None], numbered[works]] = values[works]
            open_places.append(self._take_least(some, works, costs))
        return np.sort(np.concatenate(open_places))

    def _find_alone(self, places: IntArray) -> IntArray:
        """Sets of one feature, all rows at once; the places of the others."""
        alone = self._sizes[places] == 1
        open_places = [places[~alone]]
        mine = places[alone]
        numbers = np.argmax(self.sets[mine], axis=1)
        for number in np.unique(numbers).tolist():
            some = mine[numbers == number]
            rows = self.rows[some]
            values, costs, works = self._terms[number].alone(rows, self._need[rows])
            self.values[some[works], number] = values[works]
            open_places.append(self._take_least(some, works, costs))
        return np.sort(np.concatenate(open_places))

    def _find_lists(self, places: IntArray) -> IntArray:
        """Sets with lists of values, as far as those are the same for all rows; the places of the others."""
        if not places.size:
            return places
        rows, sets = self.rows[places], self.sets[places]
        lists = ListTable.of(self._terms, rows, sets)
        values, costs, works = least_costs(self._lines, lists, rows, sets, self._need[rows])
        known = places[works]
        self.values[known] = np.where(sets[works], values[works], self.values[known])
        return self._take_least(places, works, costs)

    def _find_one(self, place: int) -> None:
        row, numbers = int(self.rows[place]), np.flatnonzero(self.sets[place]).tolist()
        members: list[Listed | Line] = [self._values_of(number, row) for number in numbers]
        found = least_cost(members, float(self._need[row]))
        if found is not None:
            self.values[place, numbers] = found.targets
            self.costs[place], self.proven[place] = found.cost, found.proven
        else:  # so near to the decision that only the model knows that the best values cross
            self.costs[place] = sum(self._terms[number].cost(row, self.values[place, number]) for number in numbers)
        self._waits[place] = False
