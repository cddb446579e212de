"""One column of rows mixed from queries and references: which dtype its cells have, and which of them differ."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd

from sev.space._native import is_nan_value
from sev.space._tables import cast_losslessly
from sev.typing import BoolArray, Dtype, IntArray

#: Up to so many values, a loop is quicker than pandas.
_FEW = 8
#: Integers up to here are floats without rounding.
_EXACT_IN_FLOAT = 2**53
#: Unsigned integers of the size of a float.
_BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}

#: The cells of one column, of which those of vertices are taken.
MixedCells: TypeAlias = "np.ndarray | pd.api.extensions.ExtensionArray"


class MixedColumn:
    """A column of the queries and the same column of the reference rows.

    A cell from a query has the query's own dtype. So has a cell from a reference if its value fits that dtype (3.0 in a
    column of integers is 3). A value that does not fit (3.4 there) makes the column of its row one of a wider dtype, as
    it does when a single cell is set by hand; it does so for no other row.

    Parameters
    ----------
    queries, references : DataFrame
        The rows.
    number : int
        Place of the column in both.
    """

    def __init__(self, queries: pd.DataFrame, references: pd.DataFrame, number: int) -> None:
        self._tables = queries, references
        self._number = number

    @cached_property
    def _queries(self) -> pd.Series:
        return self._tables[0].iloc[:, self._number]

    @cached_property
    def _references(self) -> pd.Series:
        return self._tables[1].iloc[:, self._number]

    @cached_property
    def _fitted(self) -> tuple[pd.Series, BoolArray]:
        """References in the queries' dtype, and which of them do not fit (there the first query's value stands)."""
        dtype = self._queries.dtype
        if is_same_dtype(self._references.dtype, dtype):
            return self._references, np.zeros(len(self._references), dtype=np.bool_)
        together = _cast_values(self._references, dtype)
        if together is not None:
            return together, np.zeros(len(self._references), dtype=np.bool_)
        singly = [_cast_values(self._references.iloc[[row]], dtype) for row in range(len(self._references))]
        misfits = np.array([one is None for one in singly])
        filler = self._queries.iloc[:1]
        fitted = pd.concat([filler if one is None else one for one in singly], ignore_index=True).astype(dtype)
        return fitted, misfits

    @property
    def misfits(self) -> BoolArray:
        """Which reference rows hold a value here that the queries' dtype does not."""
        return self._fitted[1]

    @property
    def fitted(self) -> pd.Series:
        """References in the queries' dtype; not to be taken where they do not fit."""
        return self._fitted[0]

    @cached_property
    def narrow(self) -> MixedCells:
        """Query cells, then reference cells, in the queries' dtype; cells that do not fit are not to be taken."""
        return _stack_values(self._queries, self._fitted[0])

    @cached_property
    def wide(self) -> MixedCells:
        """Query cells, then reference cells, in a dtype that holds all of them."""
        if isinstance(self._queries.dtype, pd.CategoricalDtype):
            known = self._queries.cat.categories
            fresh = pd.Index(self._references.dropna().unique()).difference(known)
            dtype = pd.CategoricalDtype(known.append(fresh), ordered=self._queries.cat.ordered)
            return _stack_values(self._queries.astype(dtype), self._references.astype(dtype))
        return pd.concat([self._queries, self._references], ignore_index=True).array

    @property
    def rounds(self) -> bool:
        """Whether the wider dtype changes a query's value: floats hold no integers beyond 2**53."""
        dtype = self._queries.dtype
        if not self.misfits.any() or not pd.api.types.is_integer_dtype(dtype) or not len(self._queries):
            return False
        return bool(self._queries.max() > _EXACT_IN_FLOAT or self._queries.min() < -_EXACT_IN_FLOAT)

    def differs(self, assigned: IntArray) -> BoolArray:
        """For each query, whether its cell is another than that of its reference; a missing value equals the same
        marker of a missing value.
        """
        fitted, misfits = self._fitted
        different = _find_different(self._queries, fitted, assigned)
        if misfits.any():
            different |= misfits[assigned]
        return different


def is_same_dtype(one: Dtype, other: Dtype) -> bool:
    """Whether two dtypes are the same, categories in their order included."""
    if one is other:
        return True
    # categories of one set are equal dtypes whatever their order, unless the order means something
    if isinstance(one, pd.CategoricalDtype) and isinstance(other, pd.CategoricalDtype) and one == other:
        return one.categories.equals(other.categories)
    return bool(one == other)


def _cast_values(values: pd.Series, dtype: object) -> pd.Series | None:
    if pd.api.types.is_object_dtype(dtype):
        return values.astype(object)
    if isinstance(dtype, pd.CategoricalDtype):
        known = values.isna() | values.isin(dtype.categories)
        return values.astype(dtype) if bool(known.all()) else None
    return cast_losslessly(values, dtype)


def _find_different(values: pd.Series, references: pd.Series, assigned: IntArray) -> BoolArray:
    """Compare columns of one dtype."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "fiub":
        return different_numbers(values.to_numpy(), references.to_numpy(), assigned)
    if not isinstance(values.dtype, np.dtype) and values.dtype.kind == "f":
        return _different_nullable(values, references, assigned)
    if values.dtype == object or (len(values) <= _FEW and not isinstance(values.dtype, np.dtype)):
        return _different_objects(values.to_numpy(dtype=object), references.to_numpy(dtype=object)[assigned])
    codes, _ = pd.factorize(_stack_values(values, references), use_na_sentinel=True)
    return np.asarray(codes[: len(values)] != codes[len(values) :][assigned])


def different_numbers(mine: np.ndarray, other: np.ndarray, assigned: IntArray) -> BoolArray:
    """Which numbers are not the same as those of their reference, in one or several columns of one dtype.

    Floats are compared bit by bit: a model may tell 0.0 from -0.0, which it divides by. All NaNs are one, but for those
    that stand for a value beside missing ones.
    """
    other = other if len(other) == 1 else other[assigned]
    if mine.dtype.kind != "f":
        return np.asarray(mine != other)
    bits = _BITS.get(mine.dtype.itemsize)
    if bits is None:  # no integer is as long
        different = np.asarray((mine != other) | (np.signbit(mine) != np.signbit(other)))
    else:
        different = np.asarray(mine.view(bits) != other.view(bits))
    if np.isnan(other).any():
        both = np.isnan(mine) & np.isnan(other)
        different &= np.asarray(~both | (is_nan_value(mine) != is_nan_value(other)))
    return different


def _different_nullable(values: pd.Series, references: pd.Series, assigned: IntArray) -> BoolArray:
    """Compare floats beside missing cells that are not NaN."""
    missing, other_missing = values.isna().to_numpy(), references.isna().to_numpy()[assigned]
    mine = values.to_numpy(dtype=np.float64, na_value=np.nan)
    other = references.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray((missing != other_missing) | (~missing & different_numbers(mine, other, assigned)))


def _different_objects(mine: np.ndarray, other: np.ndarray) -> BoolArray:
    missing, other_missing = pd.isna(mine), pd.isna(other)
    different = np.asarray(missing != other_missing)
    present = ~missing & ~other_missing
    different[present] = np.asarray(mine[present] != other[present], dtype=np.bool_)
    # None, NaN, NA and NaT are different cells, and so are 1, 1.0 and True: encoders make different categories of them
    alike = ~different
    different[alike] = [_is_another(a, b) for a, b in zip(mine[alike], other[alike], strict=True)]
    return different


def _is_another(one: object, other: object) -> bool:
    """Whether two cells that compare as equal, or are both missing, are written differently."""
    if type(one) is not type(other):
        return True
    return not isinstance(one, str) and repr(one) != repr(other)


def _stack_values(values: pd.Series, references: pd.Series) -> MixedCells:
    """Query values followed by reference values of the same dtype."""
    if isinstance(values.dtype, pd.api.extensions.ExtensionDtype):
        return type(values.array)._concat_same_type([values.array, references.array])
    return np.concatenate([values.to_numpy(), references.to_numpy()])
