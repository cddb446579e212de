"""What the background's columns hold, so that a query with something else is noticed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sev.space._features import FeatureSpace
from sev.space._native import column_dtypes
from sev.space._tables import is_plain_number, is_quantity
from sev.typing import BoolArray, Cell, Dtype, FloatArray, IntArray

#: Up to so many values, a loop is quicker than pandas.
_FEW = 8


class Familiar:
    """What the background's columns hold: the range of numbers, the other values, and whether any are missing.

    Parameters
    ----------
    sample : DataFrame
        Background rows that hold every extreme and category (see ``backends/_sampling.py``).
    space : FeatureSpace
        Which columns belong to which feature.
    """

    def __init__(self, sample: pd.DataFrame, space: FeatureSpace) -> None:
        self._space = space
        self._last: tuple[list[Dtype], BoolArray] | None = None
        self._columns = list(sample.columns)
        self._missing = sample.isna().any(axis=0).to_numpy()
        self._numeric = np.array(
            [is_quantity(dtype) and getattr(dtype, "kind", "O") in "fiu" for dtype in sample.dtypes]
        )
        self._low = np.full(len(self._columns), -np.inf)
        self._high = np.full(len(self._columns), np.inf)
        self._values: dict[int, frozenset[Cell]] = {}
        for number, name in enumerate(self._columns):
            present = sample[name].dropna()
            if self._numeric[number]:
                if len(present):
                    self._low[number], self._high[number] = float(present.min()), float(present.max())
            elif not is_quantity(sample[name].dtype):
                self._values[number] = frozenset(present)

    def strange_features(self, queries: pd.DataFrame, dtypes: list[Dtype] | None = None) -> BoolArray:
        """Features in which a query holds what no background row does; (n_queries, n_features).

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        dtypes : list, default=None
            The dtypes of their columns, where they are known: pandas is slow to report them.

        Returns
        -------
        ndarray of bool
            Of shape (n_queries, n_features).
        """
        dtypes = column_dtypes(queries) if dtypes is None else dtypes
        plain = self._plain_columns(dtypes)
        strange = np.zeros((len(queries), len(self._columns)), dtype=np.bool_)
        if plain.all():  # pandas takes long to choose columns
            numbers = queries.to_numpy(dtype=np.float64)
            if self._is_within_ranges(numbers):
                return np.zeros((len(queries), len(self._space)), dtype=np.bool_)
            self._mark_numbers(numbers, slice(None), strange)
        elif plain.any():
            together = np.flatnonzero(plain)
            self._mark_numbers(queries.iloc[:, together].to_numpy(dtype=np.float64), together, strange)
        for number in np.flatnonzero(~plain).tolist():
            self._mark_column(queries.iloc[:, number], number, strange)
        return self._space.by_feature(strange)

    def _plain_columns(self, dtypes: list[Dtype]) -> BoolArray:
        """Columns of numbers that are worked on as one array; those of the last call as a rule."""
        last = self._last  # one read: another thread may put in another list at any time
        if last is None or last[0] is not dtypes:
            plain: BoolArray = self._numeric & np.array([is_plain_number(dtype) for dtype in dtypes])
            last = self._last = (dtypes, plain)
        return last[1]

    def _is_within_ranges(self, numbers: FloatArray) -> bool:
        """Whether all numbers are within the background's range and none is missing: as a rule, and quickly seen."""
        if not len(numbers):
            return True
        low, high = np.minimum.reduce(numbers, axis=0), np.maximum.reduce(numbers, axis=0)
        return bool((low >= self._low).all() and (high <= self._high).all())  # a missing value makes both missing

    def _is_strange(self, value: object, number: int) -> bool:
        if pd.isna(value):
            return not self._missing[number]
        if self._numeric[number] and isinstance(value, (int, float, np.number)):
            return not self._low[number] <= value <= self._high[number]
        known = self._values.get(number)
        return known is not None and value not in known

    def _mark_numbers(self, numbers: FloatArray, columns: IntArray | slice, strange: BoolArray) -> None:
        within = (numbers >= self._low[columns]) & (numbers <= self._high[columns])
        if not within.all():  # a missing value is within nothing
            strange[:, columns] = ~within & ~(np.isnan(numbers) & self._missing[columns])

    def _mark_column(self, values: pd.Series, number: int, strange: BoolArray) -> None:
        if len(values) <= _FEW:
            strange[:, number] = np.array([self._is_strange(value, number) for value in values], dtype=np.bool_)
            return
        missing = values.isna().to_numpy()
        if not self._missing[number]:
            strange[:, number] = missing
        known = self._values.get(number)
        if known is None:
            return
        if isinstance(values.dtype, pd.CategoricalDtype):
            unknown = np.array([*(value not in known for value in values.cat.categories), False], dtype=np.bool_)
            strange[:, number] |= unknown[values.cat.codes.to_numpy()]
        else:
            fresh = [value for value in values.unique() if value not in known and not pd.isna(value)]
            if fresh:
                strange[:, number] |= values.isin(fresh).to_numpy(dtype=np.bool_) & ~missing
