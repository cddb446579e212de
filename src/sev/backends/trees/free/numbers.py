"""The intervals of all numbers of a model side by side: what is done for each number is done for all at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sev.actions import NumberTable, first_on_grid, last_on_grid, on_grid
from sev.backends.trees.free.cells import NumberCells
from sev.backends.trees.free.splits import ColumnSplits
from sev.typing import BoolArray, FloatArray, IntArray

#: How far beside a point of a grid a value may be by rounding, in steps.
GRID_ROUNDING = 1e-9
#: Comparisons of values with edges that are made at once; more are searched number by number.
_MOST_COMPARED = 200_000


class Permitted(NamedTuple):
    """What is permitted of numbers: values between two ends, on a grid where there is a step."""

    low: FloatArray
    high: FloatArray
    step: float | None
    origin: FloatArray


def permitted_within(given: Permitted, lowest: FloatArray, highest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest permitted value between two values each; none is permitted where low > high."""
    low, high, step, origin = given
    if step is None:
        return np.maximum(lowest, low), np.minimum(highest, high)
    with np.errstate(invalid="ignore"):
        first = np.ceil((lowest - origin) / step - GRID_ROUNDING)
        last = np.floor((highest - origin) / step + GRID_ROUNDING)
        # a cell ends to the last bit, what is permitted does not: 3 * 0.1 is at most 0.3
        first += on_grid(first, step, origin) < lowest
        last -= on_grid(last, step, origin) > highest
        first, last = (
            np.maximum(first, first_on_grid(low, step, origin)),
            np.minimum(last, last_on_grid(high, step, origin)),
        )
        return on_grid(first, step, origin), on_grid(last, step, origin)


def costs_of_nearest(
    old: FloatArray, low: FloatArray, high: FloatArray, scale: FloatArray | float, weight: FloatArray | float
) -> FloatArray:
    """The cost of the value between two ends that is nearest to an old one; infinite where low > high."""
    with np.errstate(invalid="ignore"):
        moved = np.abs(np.clip(old, low, np.maximum(low, high)) - old) / scale
    return np.where(low <= high, np.where(np.isnan(moved), weight, weight * moved), np.inf)


class NumberMoves(NamedTuple):
    """Moves of numbers to intervals: the ends of what is permitted there, the value nearest to the old one, and where
    the number becomes missing instead.
    """

    low: FloatArray
    high: FloatArray
    near: FloatArray
    old: FloatArray
    missing: BoolArray


class IntervalTable:
    """The cells of several numbers.

    Parameters
    ----------
    cells : mapping of int to NumberCells
        By place of the feature, in the order of the features.
    columns : mapping of int to ndarray
        The encoded columns of each feature that trees split on.
    splits : ColumnSplits
        What the trees ask.
    """

    def __init__(self, cells: Mapping[int, NumberCells], columns: Mapping[int, IntArray], splits: ColumnSplits) -> None:
        self.cells = tuple(cells.values())
        self.features = np.array(list(cells), dtype=np.int64)
        n_edges = np.array([len(one.edges) for one in self.cells], dtype=np.int64)
        self._missing = n_edges + 1
        #: The first interval of each number in lists of all intervals, and their number.
        self._first = np.concatenate([[0], np.cumsum(n_edges + 1)]).astype(np.int64)
        self._owner = np.repeat(np.arange(len(self.cells)), n_edges + 1)
        self._lowest = np.concatenate([np.zeros(0), *(one.lowest for one in self.cells)])
        self._highest = np.concatenate([np.zeros(0), *(one.highest for one in self.cells)])
        self._read_columns(columns, splits)

    def _read_columns(self, columns: Mapping[int, IntArray], splits: ColumnSplits) -> None:
        """Between which encoded values every split says of a column what it says of each cell."""
        self._columns: IntArray = np.concatenate([np.zeros(0, dtype=np.int64), *(columns[f] for f in self.features)])
        self._column_owner = np.repeat(np.arange(len(self.cells)), [len(columns[f]) for f in self.features])
        bounds = [
            splits.bounds(int(column), one.encoded[:, at])
            for feature, one in zip(self.features.tolist(), self.cells, strict=True)
            for at, column in enumerate(columns[feature].tolist())
        ]
        self._column_first = np.concatenate([[0], np.cumsum([len(one[0]) for one in bounds])]).astype(np.int64)[:-1]
        self._least = np.concatenate([np.zeros(0), *(one[0] for one in bounds)])
        self._greatest = np.concatenate([np.zeros(0), *(one[1] for one in bounds)])

    def locate(self, values: FloatArray) -> IntArray:
        """The cell of each value; (n_numbers, n_rows) both."""
        if len(self._lowest) * values.shape[1] > _MOST_COMPARED or not len(self._lowest):
            found = [one.locate(mine) for one, mine in zip(self.cells, values, strict=True)]
            return np.array(found, dtype=np.int64).reshape(values.shape)
        # of the intervals of a number that begin at or below a value, all but the first begin after an edge below it
        below = np.add.reduceat(self._lowest[:, None] <= values[self._owner], self._first[:-1], axis=0, dtype=np.int64)
        return np.where(np.isnan(values), self._missing[:, None], below - 1)

    def find_unlike(self, at: IntArray, encoded: FloatArray) -> BoolArray:
        """Where the trees tell the encoded value of a row from those of its cell; (n_rows, n_columns here)."""
        if not len(self._columns):
            return np.zeros((len(encoded), 0), dtype=np.bool_)
        place = self._column_first[:, None] + at[self._column_owner]
        values = encoded[:, self._columns].T
        least, greatest = self._least[place], self._greatest[place]
        same = ((least <= values) & (values <= greatest)) | (np.isnan(least) & np.isnan(values))
        return ~same.T

    def owner_of(self, column: int) -> int:
        """The feature of a column of :meth:`find_unlike`."""
        return int(self.features[self._column_owner[column]])

    def write_costs(self, out: FloatArray, first: IntArray, table: NumberTable, rows: IntArray) -> None:
        """The least cost of moving to each cell, infinite where nothing in it is permitted.

        Parameters
        ----------
        out : ndarray of float64, shape (n_rows, n_cells of all features)
            Where the costs are written.
        first : ndarray of int64
            The first cell of each feature in ``out``.
        table : NumberTable
            What is permitted; its features are among these.
        rows : ndarray of int64
            Rows of the table.
        """
        if not len(table.features):
            return
        mine = np.searchsorted(self.features, table.features)
        shared = self._share_ends(table, rows)
        for step, numbers in table.by_step().items():
            for alike in (numbers[shared[numbers]], numbers[~shared[numbers]]):
                if alike.size:
                    self._write_group(out, first, table, rows, alike, mine[alike], step, bool(shared[alike[0]]))
        old = table.old[:, rows]
        missing = table.missing[:, rows] & ~np.isnan(old)
        out[:, first[table.features] + self._missing[mine]] = np.where(missing, table.weight[:, None], np.inf).T

    def _write_group(
        self,
        out: FloatArray,
        first: IntArray,
        table: NumberTable,
        rows: IntArray,
        numbers: IntArray,
        mine: IntArray,
        step: float | None,
        shared: bool,
    ) -> None:
        """Costs of the intervals of numbers with one step, whose rows all may or may not take the same values."""
        lengths = self._first[mine + 1] - self._first[mine]
        within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        place = np.repeat(self._first[mine], lengths) + within
        owner = np.repeat(numbers, lengths)
        some = rows[:1] if shared else rows
        given = [one[numbers][:, some].T[:, np.repeat(np.arange(len(numbers)), lengths)] for one in
                 (table.low, table.high, table.origin)]  # fmt: skip
        low, high = permitted_within(
            Permitted(given[0], given[1], step, given[2]), self._lowest[place], self._highest[place]
        )
        old = table.old[:, rows].T[:, owner]
        out[:, np.repeat(first[table.features[numbers]], lengths) + within] = costs_of_nearest(
            old, low, high, table.scale[owner], table.weight[owner]
        )

    @staticmethod
    def _share_ends(table: NumberTable, rows: IntArray) -> BoolArray:
        """Numbers of which some rows, at least one, may take the same values."""
        if not len(rows):
            return np.zeros(len(table.features), dtype=np.bool_)
        parts = [one[:, rows] == one[:, rows[:1]] for one in (table.low, table.high, table.origin)]
        shared: BoolArray = (parts[0] & parts[1] & parts[2]).all(axis=1)
        return shared

    def find_moves(self, table: NumberTable, numbers: IntArray, rows: IntArray, cells: IntArray) -> NumberMoves:
        """Where some numbers of some rows may go in some of their cells; one entry for each move.

        Parameters
        ----------
        table : NumberTable
            What is permitted.
        numbers, rows : ndarray of int64
            Places in the table.
        cells : ndarray of int64
            Cells of these numbers.
        """
        mine = np.searchsorted(self.features, table.features)[numbers]
        missing = cells == self._missing[mine]
        place = self._first[mine] + np.minimum(cells, self._missing[mine] - 1)
        low, high = np.empty(len(numbers)), np.empty(len(numbers))
        for step, alike in table.by_step().items():
            some = np.flatnonzero(np.isin(numbers, alike))
            if some.size:
                at = (numbers[some], rows[some])
                given = Permitted(table.low[at], table.high[at], step, table.origin[at])
                low[some], high[some] = permitted_within(given, self._lowest[place[some]], self._highest[place[some]])
        old = table.old[numbers, rows]
        near = np.where(np.isnan(old), low, np.clip(old, low, np.maximum(low, high)))
        return NumberMoves(low, high, near, old, missing)
