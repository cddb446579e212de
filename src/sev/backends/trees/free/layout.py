"""The rows of one problem as cells: where each is, which cells it may move to, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from sev import _native
from sev.actions import ChoiceDestinations, NumberDestinations, NumberTable, first_on_grid, last_on_grid
from sev.backends.trees.free.cells import FeatureCells, NumberCells, StateCells
from sev.backends.trees.free.numbers import (
    GRID_ROUNDING,
    IntervalTable,
    NumberMoves,
    Permitted,
    costs_of_nearest,
    permitted_within,
)
from sev.backends.trees.free.values import choose_values, round_value_by_cost
from sev.typing import BoolArray, FloatArray, IntArray

#: Which value of a cell is wanted: the permitted one that costs least; a rounder one that costs hardly more; or an
#: observed or round one near the least costly end of the cell.
Wanted: TypeAlias = Literal["nearest", "by cost", "shown"]


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """One feature of the rows of a problem.

    Parameters
    ----------
    cells : FeatureCells
        Its cells.
    destinations : NumberDestinations, ChoiceDestinations or None
        Where its rows may move to.
    at : ndarray of int, shape (n_rows,)
        The cell of each row's own value.
    observed : ndarray of float
        Values that are preferred.
    """

    cells: FeatureCells
    destinations: NumberDestinations | ChoiceDestinations | None
    at: IntArray
    observed: FloatArray

    @property
    def is_number(self) -> bool:
        """Whether its cells are intervals of numbers."""
        return isinstance(self.cells, NumberCells)

    def costs(self, rows: IntArray) -> FloatArray:
        """The least cost of moving to each cell, infinite where nothing in it is permitted; (n_rows, n_cells)."""
        mine, cells = self.destinations, self.cells
        out = np.full((len(rows), cells.n_cells), np.inf)
        if mine is None:
            return out
        if isinstance(mine, ChoiceDestinations):
            assert isinstance(cells, StateCells)
            prices = np.where(mine.allowed[rows], mine.costs(rows), np.inf)
            if prices.shape[1]:
                order = np.argsort(cells.state, kind="stable")
                states, first = np.unique(cells.state[order], return_index=True)
                out[:, states] = np.minimum.reduceat(prices[:, order], first, axis=1)
        elif isinstance(cells, NumberCells):
            low, high = permitted_between(mine, rows[:, None], cells.lowest, cells.highest)
            out[:, :-1] = costs_of_nearest(mine.old[rows][:, None], low, high, mine.scale, mine.weight)
            out[:, -1] = np.where(mine.missing[rows] & ~np.isnan(mine.old[rows]), mine.weight, np.inf)
        else:
            costs = self._value_costs(mine, rows)
            for value, state in enumerate(cells.state.tolist()):
                out[:, state] = np.minimum(out[:, state], costs[:, value])
        out[np.arange(len(rows)), self.at[rows]] = np.inf
        return out

    def targets(self, rows: IntArray, at: IntArray) -> FloatArray:
        """The values to move to in some cells, or the places of choices, of a feature without intervals.

        Parameters
        ----------
        rows, at : ndarray of int, shape (n_moves,)
            The row of each move, and the cell that it goes to.
        """
        mine, cells = self.destinations, self.cells
        assert mine is not None
        assert isinstance(cells, StateCells)
        if isinstance(mine, ChoiceDestinations):
            permitted = (cells.state[None, :] == at[:, None]) & mine.allowed[rows]
            return np.argmin(np.where(permitted, mine.costs(rows), np.inf), axis=1).astype(np.float64)
        assert cells.values is not None
        costs = np.where(cells.state[None, :] == at[:, None], self._value_costs(mine, rows), np.inf)
        return cells.values[np.argmin(costs, axis=1)]

    def _value_costs(self, mine: NumberDestinations, rows: IntArray) -> FloatArray:
        """The cost of each listed value, infinite where it is not permitted; (n_rows, n_values)."""
        assert isinstance(self.cells, StateCells)
        values = self.cells.values
        assert values is not None
        old = mine.old[rows][:, None]
        low, high = mine.low[rows][:, None], mine.high[rows][:, None]
        if mine.step is None:
            inside = (values >= low) & (values <= high)
        else:
            origin = mine.origin[rows][:, None]
            steps = (values - origin) / mine.step
            inside = np.abs(steps - np.round(steps)) <= GRID_ROUNDING * np.maximum(1.0, np.abs(steps))
            first, last = first_on_grid(low, mine.step, origin), last_on_grid(high, mine.step, origin)
            inside &= (np.round(steps) >= first) & (np.round(steps) <= last)
        inside = np.where(np.isnan(values), mine.missing[rows][:, None] & ~np.isnan(old), inside)
        with np.errstate(invalid="ignore"):
            moved = np.abs(values - old) / mine.scale
        return np.where(inside, np.where(np.isnan(moved), mine.weight, mine.weight * moved), np.inf)


def permitted_between(
    mine: NumberDestinations, rows: IntArray, lowest: FloatArray, highest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest permitted value of some rows between two values each."""
    return permitted_within(Permitted(mine.low[rows], mine.high[rows], mine.step, mine.origin[rows]), lowest, highest)


@dataclass(frozen=True, eq=False)
class Layout:
    """All features of the rows of a problem, as the compiled search takes them.

    Parameters
    ----------
    features : sequence of FeatureRows
        In the order of the space.
    encoded : ndarray of shape (n_rows, n_columns)
        The rows in encoded space.
    native : _native.CellForest
        The trees over these cells.
    sign : {-1.0, 1.0}
        Margins times this fall when rows come nearer to the decision.
    numbers : NumberTable
        The numbers whose cells are intervals.
    intervals : IntervalTable
        Their cells.
    """

    features: Sequence[FeatureRows]
    encoded: FloatArray
    native: _native.CellForest
    sign: float
    numbers: NumberTable
    intervals: IntervalTable

    @cached_property
    def at(self) -> IntArray:
        """The cell of every feature of every row."""
        return np.array([one.at for one in self.features], dtype=np.int64).T.copy()

    def costs(self, rows: IntArray) -> FloatArray:
        """The costs of all cells of some rows, features side by side."""
        costs = np.full((len(rows), self.n_entries), np.inf)
        first = self._first
        self.intervals.write_costs(costs, first, self.numbers, rows)
        for number, one in enumerate(self.features):
            if not one.is_number and one.destinations is not None:
                costs[:, first[number] : first[number + 1]] = one.costs(rows)
        costs[np.arange(len(rows))[:, None], first[:-1] + self.at[rows]] = np.inf
        return costs

    @cached_property
    def _first(self) -> IntArray:
        """The first entry of each feature among those of all cells, and their number."""
        return np.concatenate([[0], np.cumsum([one.cells.n_cells for one in self.features])]).astype(np.int64)

    @property
    def n_entries(self) -> int:
        """The number of all cells."""
        return int(self._first[-1])

    def costs_of_sets(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        """The costs of all cells of the features of sets; infinite for other features."""
        costs = np.full((len(rows), self.n_entries), np.inf)
        parts = self.split(costs)
        for number in np.flatnonzero(sets.any(axis=0)).tolist():
            moved = np.flatnonzero(sets[:, number])
            parts[number][moved] = self.features[number].costs(rows[moved])
        return costs

    def targets(self, rows: IntArray, cells: IntArray, sets: BoolArray, wanted: Wanted) -> FloatArray:
        """The values that the features of sets move to, feature by feature; NaN for those that stay."""
        targets = np.full(cells.shape, np.nan)
        changed = np.flatnonzero(sets.any(axis=0))
        numbers = np.flatnonzero(np.isin(self.numbers.features, changed))
        set_, place = np.nonzero(sets[:, self.numbers.features[numbers]])
        if set_.size:
            place = numbers[place]
            feature = self.numbers.features[place]
            moves = self.intervals.find_moves(self.numbers, place, rows[set_], cells[set_, feature])
            targets[set_, feature] = self._choose(moves, place, wanted)
        for number in np.setdiff1d(changed, self.numbers.features).tolist():
            moved = np.flatnonzero(sets[:, number])
            targets[moved, number] = self.features[number].targets(rows[moved], cells[moved, number])
        return targets

    def _choose(self, moves: NumberMoves, place: IntArray, wanted: Wanted) -> FloatArray:
        """The value of each move of a number: nearest, or a rounder one where the number is not on a grid."""
        chosen = moves.near.copy()
        free = np.array([step is None for step in self.numbers.steps], dtype=np.bool_)[place]
        if wanted == "by cost":
            for at in np.flatnonzero(free).tolist():
                chosen[at] = round_value_by_cost(*(float(one[at]) for one in moves[:4]))
        elif wanted == "shown":
            for number in np.unique(place[free]).tolist():
                mine = np.flatnonzero(place == number)
                observed = self.features[int(self.numbers.features[number])].observed
                chosen[mine] = choose_values(moves.low[mine], moves.high[mine], moves.near[mine], observed)
        return np.where(moves.missing, np.nan, chosen)

    def is_active(self) -> BoolArray:
        """Features that may move in each row, whether or not the trees would notice."""
        n_rows = len(self.features[0].at) if self.features else 0
        active = np.zeros((n_rows, len(self.features)), dtype=np.bool_)
        for number, one in enumerate(self.features):
            mine = one.destinations
            if isinstance(mine, ChoiceDestinations):
                active[:, number] = mine.allowed.any(axis=1)
            elif mine is not None:
                active[:, number] = (mine.low <= mine.high) | mine.missing
        return active

    def split(self, cells: np.ndarray) -> list[np.ndarray]:
        """Split entries of all cells by feature."""
        return np.split(cells, self._first[1:-1], axis=-1)


def make_native(
    cells: Sequence[FeatureCells], columns: Sequence[IntArray], forest: _native.Forest, n_columns: int, sign: float
) -> _native.CellForest:
    """Trees over cells.

    Parameters
    ----------
    cells : sequence of FeatureCells
        Those of each feature.
    columns : sequence of ndarray
        The encoded columns of each feature that trees split on.
    forest : _native.Forest
        The trees.
    n_columns : int
        Number of encoded columns.
    sign : {-1.0, 1.0}
        As in :class:`Layout`.
    """
    feature = np.zeros(n_columns, dtype=np.int64)
    first = np.zeros(n_columns, dtype=np.int64)
    parts: list[Any] = [np.zeros(max((one.n_cells for one in cells), default=1))]
    offset = len(parts[0])  # columns that no split is on read what is there
    for number, (one, mine) in enumerate(zip(cells, columns, strict=True)):
        for at, column in enumerate(mine.tolist()):
            feature[column], first[column] = number, offset
            parts.append(one.encoded[:, at])
            offset += one.n_cells
    n_cells = np.array([one.n_cells for one in cells], dtype=np.int64)
    return _native.CellForest(forest, n_cells, feature, first, np.ascontiguousarray(np.concatenate(parts)), sign)
