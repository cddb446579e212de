"""How far rows are from each other: numbers in standard deviations, everything else by whether it is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from sev.references._protocol import Background
from sev.references._typical import has_two_values
from sev.typing import Cell, ColumnLabel, FloatArray, IntArray

#: Pairs of rows whose distances are in memory at once.
_PAIRS_AT_ONCE = 1 << 22
#: Up to this many rows, distances are added up column by column; beyond it, by one matrix product.
_FEW_ROWS = 64


@dataclass(frozen=True, kw_only=True)
class NumberColumn:
    """A column whose differences are measured in standard deviations.

    Parameters
    ----------
    column : object
        Its name.
    middle : float
        Value used where a number is missing, which also adds one unit of distance.
    scale : float
        The standard deviation.
    """

    column: ColumnLabel
    middle: float
    scale: float


@dataclass(frozen=True, kw_only=True)
class Distance:
    """The distance of two rows: the square root of a sum over their features.

    A number adds the square of its difference in standard deviations, and 1 where it is missing in one of the rows
    only. A category, a boolean or a one-hot block adds 1 where it is not the same.

    Parameters
    ----------
    numbers : tuple of NumberColumn
        Columns that are measured.
    matches : tuple of tuple of columns
        Columns that are compared, together where they belong to one feature.
    """

    numbers: tuple[NumberColumn, ...]
    matches: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, background: Background) -> Distance:
        """The distance whose units are those of the background.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        Distance
            The distance.
        """
        numbers, matches = [], []
        for feature in background.space.features:
            two_valued = all(has_two_values(background.rows[column]) for column in feature.columns)
            if len(feature.columns) > 1 and two_valued:
                matches.append(tuple(feature.columns))
                continue
            for column in feature.columns:
                values = background.rows[column]
                if not background.is_quantity(column) or has_two_values(values):
                    matches.append((column,))
                    continue
                known = as_numbers(values)
                known = known[np.isfinite(known)]
                spread = float(known.std()) if known.size else 0.0
                middle = float(np.median(known)) if known.size else 0.0
                numbers.append(NumberColumn(column=column, middle=middle, scale=spread if spread > 0 else 1.0))
        return cls(numbers=tuple(numbers), matches=tuple(matches))

    def coordinates(self, rows: pd.DataFrame) -> FloatArray:
        """The numbers of rows, one column each for the value and for being missing, in the units of the distance.

        Parameters
        ----------
        rows : DataFrame
            Rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, 2 * n_numbers).
        """
        found = np.empty((len(rows), 2 * len(self.numbers)))
        for place, number in enumerate(self.numbers):
            values = (as_numbers(rows[number.column]) - number.middle) / number.scale
            missing = np.isnan(values)
            found[:, 2 * place] = np.where(missing, 0.0, values)
            found[:, 2 * place + 1] = missing
        return found


class NearestRows:
    """Rows among which the nearest to a query are found.

    Parameters
    ----------
    rows : DataFrame
        The rows.
    distance : Distance
        How far they are from queries.
    """

    def __init__(self, rows: pd.DataFrame, distance: Distance) -> None:
        self._rows = rows
        self._distance = distance

    def find(self, queries: pd.DataFrame, k: int = 1) -> IntArray:
        """Numbers of the ``k`` nearest rows of each query, nearest first, of equally near ones the first.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        k : int, default=1
            How many.

        Returns
        -------
        ndarray of int64, shape (n_queries, min(k, n_rows))
        """
        return self.find_encoded(*self.encode(queries), k)

    def encode(self, queries: pd.DataFrame) -> tuple[FloatArray, IntArray]:
        """The numbers of queries, and a code for each match; -1 for values that no row has.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.

        Returns
        -------
        pair of ndarray
            Numbers and codes, one row for each query.
        """
        return self._distance.coordinates(queries), self._codes_of(queries)

    def find_encoded(self, numbers: FloatArray, codes: IntArray, k: int = 1) -> IntArray:
        """As :meth:`find`, for queries that are encoded already.

        Parameters
        ----------
        numbers : ndarray of float64
            As :meth:`encode` returns them.
        codes : ndarray of int64
            As :meth:`encode` returns them.
        k : int, default=1
            How many.

        Returns
        -------
        ndarray of int64
            Of shape (n_queries, min(k, n_rows)).
        """
        k = min(k, len(self._rows))
        found = np.empty((len(numbers), k), dtype=np.int64)
        step = max(1, _PAIRS_AT_ONCE // max(1, len(self._rows)))
        for start in range(0, len(numbers), step):
            some = slice(start, start + step)
            found[some] = self._find_some(numbers[some], codes[some], k)
        return found

    def squares(self, numbers: FloatArray, codes: IntArray, rows: IntArray) -> FloatArray:
        """Squared distances of encoded queries, one to one row each, the same to the last bit in every batch.

        Parameters
        ----------
        numbers : ndarray of float64
            As :meth:`encode` returns them.
        codes : ndarray of int64
            As :meth:`encode` returns them.
        rows : ndarray of int64
            The row of each query.

        Returns
        -------
        ndarray of float64
            Of shape (n_queries,).
        """
        total = ((self._numbers[rows] - numbers) ** 2).sum(axis=1)
        for place in range(codes.shape[1]):
            total += self._codes[place][rows] != codes[:, place]
        return np.asarray(total)

    def _find_some(self, numbers: FloatArray, codes: IntArray, k: int) -> IntArray:
        if len(self._rows) <= _FEW_ROWS:
            squares = np.empty((len(numbers), len(self._rows)))
            for row in range(len(self._rows)):
                own = [column[row] for column in self._codes]
                squares[:, row] = ((numbers - self._numbers[row]) ** 2).sum(axis=1)
                squares[:, row] += (codes != np.array(own, dtype=np.int64)).sum(axis=1)
            if k == 1:
                return np.argmin(squares, axis=1)[:, None]
            return np.argsort(squares, axis=1, kind="stable")[:, :k]
        rough, error = self._compute_roughly(numbers, codes)
        kth = rough.min(axis=1) if k == 1 else np.partition(rough, k - 1, axis=1)[:, k - 1]
        found = np.empty((len(numbers), k), dtype=np.int64)
        for row in range(len(numbers)):
            near = np.flatnonzero(rough[row] <= kth[row] + 2.0 * error[row])
            order = np.argsort(self._compute_exactly(numbers[row], codes[row], near), kind="stable")
            found[row] = near[order[:k]]
        return found

    def _compute_roughly(self, numbers: FloatArray, codes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Squared distances by one matrix product, and a bound on their rounding: it depends on the batch, so it may
        only choose candidates.
        """
        own = (numbers**2).sum(axis=1)
        rough = own[:, None] + self._squares[None, :] - 2.0 * (numbers @ self._numbers.T)
        for place in range(codes.shape[1]):
            rough += codes[:, place][:, None] != self._codes[place][None, :]
        largest = float(self._squares.max(initial=0.0))
        error = 1e-13 * (own + largest + codes.shape[1] + 1.0) * (numbers.shape[1] + 1)
        return rough, error

    def _compute_exactly(self, numbers: FloatArray, codes: IntArray, rows: IntArray) -> FloatArray:
        """Squared distances of one query to some rows, the same to the last bit in every batch."""
        differing = sum((self._codes[place][rows] != code for place, code in enumerate(codes.tolist())), np.zeros(1))
        return ((self._numbers[rows] - numbers) ** 2).sum(axis=1) + differing

    @cached_property
    def _numbers(self) -> FloatArray:
        return self._distance.coordinates(self._rows)

    @cached_property
    def _squares(self) -> FloatArray:
        return np.asarray((self._numbers**2).sum(axis=1))

    @cached_property
    def _places(self) -> list[dict[Cell, int]]:
        """For each match, a number for each value that occurs."""
        return [
            {value: number for number, value in enumerate(dict.fromkeys(joint_values(self._rows, columns)))}
            for columns in self._distance.matches
        ]

    @cached_property
    def _codes(self) -> list[IntArray]:
        return list(np.ascontiguousarray(self._codes_of(self._rows).T))

    def _codes_of(self, rows: pd.DataFrame) -> IntArray:
        codes = np.empty((len(rows), len(self._distance.matches)), dtype=np.int64)
        for place, (columns, numbers) in enumerate(zip(self._distance.matches, self._places, strict=True)):
            codes[:, place] = [numbers.get(value, -1) for value in joint_values(rows, columns)]
        return codes


def joint_values(rows: pd.DataFrame, columns: Sequence[ColumnLabel]) -> list[Cell]:
    """The values of some columns of each row as one value; all kinds of missing are one.

    Parameters
    ----------
    rows : DataFrame
        Rows.
    columns : sequence of object
        Columns to put together.

    Returns
    -------
    list of object
        One value for each row.
    """
    lists = []
    for column in columns:
        values = rows[column]
        cells = values.astype(object).to_numpy(dtype=object, copy=True)
        cells[values.isna().to_numpy(dtype=bool)] = None
        lists.append(cells.tolist())
    return lists[0] if len(lists) == 1 else list(zip(*lists, strict=True))


def as_numbers(values: pd.Series) -> FloatArray:
    """A column of numbers or times as float64, NaN where a value is missing.

    Parameters
    ----------
    values : Series
        A column.

    Returns
    -------
    ndarray of float64
        Of shape (n_rows,).
    """
    if values.dtype.kind in "mM" or hasattr(values.dtype, "tz"):
        numbers = values.astype("int64").to_numpy(dtype=np.float64)
        numbers[values.isna().to_numpy(dtype=bool)] = np.nan
        return numbers
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
