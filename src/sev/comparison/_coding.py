"""Rows as numbers and categories, for packages that take neither text nor one-hot blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sev.references import has_two_values
from sev.space import FeatureSpace, TableForm
from sev.typing import Cell, ColumnLabel, FloatArray, IntArray


class Coding:
    """Every quantity is a column of numbers; every other column, and every one-hot block, a column of category codes.

    Parameters
    ----------
    form, space : TableForm, FeatureSpace
        What rows look like and which columns move together.
    background, queries : DataFrame
        Rows of the common form; categories are those of either.

    Attributes
    ----------
    names : list of str
        Names of the coded columns.
    feature : ndarray of int
        The feature that each belongs to.
    categorical : list of int
        Numbers of the coded columns that hold categories.
    background, queries : ndarray
        The rows, coded.
    """

    def __init__(self, form: TableForm, space: FeatureSpace, background: pd.DataFrame, queries: pd.DataFrame) -> None:
        self._form = form
        both = pd.concat([background, queries], ignore_index=True)
        self.names: list[str] = []
        self.categorical: list[int] = []
        self._columns: list[tuple[ColumnLabel, ...]] = []
        self._values: dict[int, pd.DataFrame] = {}
        coded, owners = [], []
        for number, feature in enumerate(space.features):
            for columns in _list_parts(form, background, feature.columns):
                if _is_categorical(form, background, columns):
                    codes, first = _code_rows(both[list(columns)])
                    self.categorical.append(len(self.names))
                    self._values[len(self.names)] = both[list(columns)].iloc[first].reset_index(drop=True)
                    coded.append(codes.astype(np.float64))
                else:
                    coded.append(both[columns[0]].to_numpy(dtype=np.float64, na_value=np.nan))
                self.names.append(feature.name if len(columns) == len(feature.columns) else str(columns[0]))
                self._columns.append(columns)
                owners.append(number)
        rows = np.column_stack(coded)
        self.feature: IntArray = np.array(owners, dtype=np.int64)
        self.background: FloatArray = rows[: len(background)]
        self.queries: FloatArray = rows[len(background) :]

    def decode(self, rows: FloatArray) -> pd.DataFrame:
        """Coded rows, in the common form."""
        columns: dict[ColumnLabel, Cell] = {}
        for number, names in enumerate(self._columns):
            if number in self._values:
                values, codes = self._values[number], rows[:, number].astype(np.int64)
                columns.update({name: values[name].array.take(codes) for name in names})
            else:
                columns[names[0]] = rows[:, number]
        return pd.DataFrame({name: columns[name] for name in self._form.columns}, copy=False)

    def is_whole(self, number: int) -> bool:
        """Whether a column of numbers holds integers."""
        return bool(np.dtype(np.int64) == self._form.dtypes[self._columns[number][0]])


def _list_parts(
    form: TableForm, background: pd.DataFrame, columns: tuple[ColumnLabel, ...]
) -> list[tuple[ColumnLabel, ...]]:
    """A one-hot block stays whole; any other group is split into its columns."""
    whole = len(columns) == 1 or all(has_two_values(background[column]) for column in columns)
    return [columns] if whole else [(column,) for column in columns]


def _is_categorical(form: TableForm, background: pd.DataFrame, columns: tuple[ColumnLabel, ...]) -> bool:
    return len(columns) > 1 or not form.is_numeric(columns[0]) or has_two_values(background[columns[0]])


def _code_rows(block: pd.DataFrame) -> tuple[IntArray, IntArray]:
    """A code for each row, and the first row of each code."""
    values = block.iloc[:, 0] if block.shape[1] == 1 else pd.MultiIndex.from_frame(block)
    codes, _ = pd.factorize(values, use_na_sentinel=False)
    _, first = np.unique(codes, return_index=True)
    return codes.astype(np.int64), first.astype(np.int64)
