"""The cells of queries, read once for all features."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from sev.core import distinct_rows
from sev.typing import BoolArray, ColumnLabel, FloatArray, IntArray

#: Comparisons of rows with choices that are made at once; of more the rows that differ are found first.
_MOST_COMPARED = 100_000


class CellTable:
    """Rows of the common form, with their columns of numbers as arrays.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    @cached_property
    def is_plain(self) -> bool:
        """Whether every column holds float64."""
        return bool((self.frame.dtypes.to_numpy() == np.dtype(np.float64)).all())

    @cached_property
    def _table(self) -> FloatArray:
        table: FloatArray = self.frame.to_numpy(dtype=np.float64)
        return table

    @cached_property
    def _place_of(self) -> dict[ColumnLabel, int]:
        return {name: place for place, name in enumerate(self.frame.columns.tolist())}

    def plain(self, columns: Sequence[ColumnLabel]) -> FloatArray:
        """Some columns of a table of nothing but float64; (n_rows, n_columns)."""
        return self._table[:, [self._place_of[column] for column in columns]]

    def numbers(self, columns: Sequence[ColumnLabel]) -> FloatArray:
        """Some columns of numbers as float64, a copy, NaN where a value is missing; (n_columns, n_rows)."""
        if self.is_plain:
            return np.array(self.plain(columns).T, order="C")
        table = self.frame[list(columns)].to_numpy(dtype=np.float64, na_value=np.nan)
        return np.array(table.T, order="C")


def find_rows(known: FloatArray, rows: FloatArray) -> IntArray:
    """The place of each row among known ones, -1 where it is not there; missing values are one.

    Parameters
    ----------
    known : ndarray of float64, shape (n_known, n_columns)
        Rows that differ.
    rows : ndarray of float64, shape (n_rows, n_columns)
        Rows to find.

    Returns
    -------
    ndarray of int64
        One for each row.
    """
    if len(rows) > 1 and known.size * len(rows) > _MOST_COMPARED:
        first, kind = distinct_rows(rows)
        return _find_among(known, rows[first])[kind]
    return _find_among(known, rows)


def _find_among(known: FloatArray, rows: FloatArray) -> IntArray:
    if not len(known):
        return np.full(len(rows), -1, dtype=np.int64)
    same: BoolArray = np.ones((len(rows), len(known)), dtype=np.bool_)
    for one, other in zip(rows.T, known.T, strict=True):
        same &= (one[:, None] == other) | (np.isnan(one)[:, None] & np.isnan(other))
    return np.where(same.any(axis=1), same.argmax(axis=1), -1).astype(np.int64)
