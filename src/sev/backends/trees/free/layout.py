"""The rows of one problem as cells: where each is, which cells it may move to, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from sev import _native
from sev.actions import ChoiceDestinations, NumberDestinations, first_on_grid, last_on_grid, on_grid
from sev.backends.trees.free.cells import FeatureCells, NumberCells, StateCells
from sev.backends.trees.free.values import choose_values, round_value_by_cost
from sev.typing import BoolArray, FloatArray, IntArray

#: How far beside a point of a grid a value may be by rounding, in steps.
_GRID_ROUNDING = 1e-9
#: Which value of a cell is wanted.
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
            for choice, state in enumerate(cells.state.tolist()):
                out[:, state] = np.minimum(out[:, state], prices[:, choice])
        elif isinstance(cells, NumberCells):
            low, high = permitted_ends(mine, cells, rows[:1] if _share_ends(mine, rows) else rows)
            out[:, :-1] = np.where(low <= high, _cost_of_nearest(mine, rows, low, high), np.inf)
            out[:, -1] = np.where(mine.missing[rows] & ~np.isnan(mine.old[rows]), mine.weight, np.inf)
        else:
            costs = self._value_costs(mine, rows)
            for value, state in enumerate(cells.state.tolist()):
                out[:, state] = np.minimum(out[:, state], costs[:, value])
        out[np.arange(len(rows)), self.at[rows]] = np.inf
        return out

    def targets(self, rows: IntArray, at: IntArray, wanted: Wanted) -> FloatArray:
        """The values to move to in some cells, or the places of choices.

        Parameters
        ----------
        rows, at : ndarray of int, shape (n_moves,)
            The row of each move, and the cell that it goes to.
        wanted : {"nearest", "by cost", "shown"}
            The permitted value of the cell that costs least; a rounder one that costs hardly more; or an observed or
            round one near that end of the cell.
        """
        mine, cells = self.destinations, self.cells
        assert mine is not None
        if isinstance(mine, ChoiceDestinations):
            assert isinstance(cells, StateCells)
            permitted = (cells.state[None, :] == at[:, None]) & mine.allowed[rows]
            return np.argmin(np.where(permitted, mine.costs(rows), np.inf), axis=1).astype(np.float64)
        if isinstance(cells, StateCells):
            assert cells.values is not None
            costs = np.where(cells.state[None, :] == at[:, None], self._value_costs(mine, rows), np.inf)
            return cells.values[np.argmin(costs, axis=1)]
        interval = np.minimum(at, cells.missing - 1)
        low, high = permitted_between(mine, rows, cells.lowest[interval], cells.highest[interval])
        old = mine.old[rows]
        near = np.where(np.isnan(old), low, np.clip(old, low, np.maximum(low, high)))
        if wanted == "by cost" and mine.step is None:
            parts = zip(low.tolist(), high.tolist(), near.tolist(), old.tolist(), strict=True)
            near = np.array([round_value_by_cost(*one) for one in parts])
        elif wanted == "shown" and mine.step is None:
            near = choose_values(low, high, near, self.observed)
        return np.where(at == cells.missing, np.nan, near)

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
            inside = np.abs(steps - np.round(steps)) <= _GRID_ROUNDING * np.maximum(1.0, np.abs(steps))
            first, last = first_on_grid(low, mine.step, origin), last_on_grid(high, mine.step, origin)
            inside &= (np.round(steps) >= first) & (np.round(steps) <= last)
        inside = np.where(np.isnan(values), mine.missing[rows][:, None] & ~np.isnan(old), inside)
        with np.errstate(invalid="ignore"):
            moved = np.abs(values - old) / mine.scale
        return np.where(inside, np.where(np.isnan(moved), mine.weight, mine.weight * moved), np.inf)


def _share_ends(mine: NumberDestinations, rows: IntArray) -> bool:
    """Whether some rows, at least one, may take the same values."""
    return len(rows) > 0 and all((part[rows] == part[rows[0]]).all() for part in (mine.low, mine.high, mine.origin))


def permitted_ends(mine: NumberDestinations, cells: NumberCells, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest permitted value of each interval for each row; none is permitted where low > high."""
    return permitted_between(mine, rows[:, None], cells.lowest, cells.highest)


def permitted_between(
    mine: NumberDestinations, rows: IntArray, lowest: FloatArray, highest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest permitted value of some rows between two values each."""
    low, high = mine.low[rows], mine.high[rows]
    if mine.step is None:
        return np.maximum(lowest, low), np.minimum(highest, high)
    origin, step = mine.origin[rows], mine.step
    with np.errstate(invalid="ignore"):
        first = np.ceil((lowest - origin) / step - _GRID_ROUNDING)
        last = np.floor((highest - origin) / step + _GRID_ROUNDING)
        # a cell ends to the last bit, what is permitted does not: 3 * 0.1 is at most 0.3
        first += on_grid(first, step, origin) < lowest
        last -= on_grid(last, step, origin) > highest
        first, last = (
            np.maximum(first, first_on_grid(low, step, origin)),
            np.minimum(last, last_on_grid(high, step, origin)),
        )
        return on_grid(first, step, origin), on_grid(last, step, origin)


def _cost_of_nearest(mine: NumberDestinations, rows: IntArray, low: FloatArray, high: FloatArray) -> FloatArray:
    old = mine.old[rows][:, None]
    with np.errstate(invalid="ignore"):
        moved = np.abs(np.clip(old, low, np.maximum(low, high)) - old) / mine.scale
    return np.where(np.isnan(moved), mine.weight, mine.weight * moved)


@dataclass(frozen=True, eq=False)
class Layout:
    """All features of the rows of a problem, as the compiled search takes them.

    Parameters
    ----------
    features : sequence of FeatureRows
        In the order of the space.
    columns : list of ndarray
        The encoded columns of each feature that trees split on.
    n_columns : int
        Number of encoded columns.
    encoded : ndarray of shape (n_rows, n_columns)
        The rows in encoded space.
    forest : _native.Forest
        The trees.
    sign : {-1.0, 1.0}
        Margins times this fall when rows come nearer to the decision.
    """

    features: Sequence[FeatureRows]
    columns: Sequence[IntArray]
    n_columns: int
    encoded: FloatArray
    forest: _native.Forest
    sign: float

    @cached_property
    def at(self) -> IntArray:
        """The cell of every feature of every row."""
        return np.ascontiguousarray(np.column_stack([one.at for one in self.features]), dtype=np.int64)

    def costs(self, rows: IntArray) -> FloatArray:
        """The costs of all cells of some rows, features side by side."""
        return np.ascontiguousarray(np.concatenate([one.costs(rows) for one in self.features], axis=1))

    def costs_of_sets(self, rows: IntArray, sets: BoolArray) -> FloatArray:
        """The same for the features of sets alone, the others infinite."""
        costs = np.full((len(rows), sum(one.cells.n_cells for one in self.features)), np.inf)
        parts = self.split(costs)
        for number in np.flatnonzero(sets.any(axis=0)).tolist():
            moved = np.flatnonzero(sets[:, number])
            parts[number][moved] = self.features[number].costs(rows[moved])
        return costs

    def targets(self, rows: IntArray, cells: IntArray, sets: BoolArray, wanted: Wanted) -> FloatArray:
        """The values that the features of sets move to, feature by feature; NaN for those that stay."""
        targets = np.full(cells.shape, np.nan)
        for number, one in enumerate(self.features):
            moved = np.flatnonzero(sets[:, number])
            if moved.size:
                targets[moved, number] = one.targets(rows[moved], cells[moved, number], wanted)
        return targets

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

    @cached_property
    def native(self) -> _native.CellForest:
        """The trees over these cells."""
        feature = np.zeros(self.n_columns, dtype=np.int64)
        first = np.zeros(self.n_columns, dtype=np.int64)
        parts: list[Any] = [np.zeros(max((one.cells.n_cells for one in self.features), default=1))]
        offset = len(parts[0])  # columns that no split is on read what is there
        for number, (one, columns) in enumerate(zip(self.features, self.columns, strict=True)):
            for at, column in enumerate(columns.tolist()):
                feature[column], first[column] = number, offset
                parts.append(one.cells.encoded[:, at])
                offset += one.cells.n_cells
        n_cells = np.array([one.cells.n_cells for one in self.features], dtype=np.int64)
        return _native.CellForest(
            self.forest, n_cells, feature, first, np.ascontiguousarray(np.concatenate(parts)), self.sign
        )

    def split(self, cells: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        """Entries of all cells, feature by feature."""
        return np.split(cells, np.cumsum([one.cells.n_cells for one in self.features])[:-1], axis=-1)
