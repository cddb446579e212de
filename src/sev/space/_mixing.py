"""Rows made of two others: some features from the query, the rest from the reference."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sev.space._features import FeatureSpace
from sev.space._tables import TableForm, all_float
from sev.typing import BoolArray, FloatArray, IntArray, NativeTable


class Mixer:
    """Builds vertices of the hypercube between queries and their references.

    Parameters
    ----------
    form : TableForm
        The form in which vertices are given out.
    space : FeatureSpace
        Which columns move together.
    queries, references : DataFrame
        Rows of the common form.
    assigned : ndarray of int, shape (n_queries,)
        For each query, the number of its reference.
    """

    def __init__(
        self,
        form: TableForm,
        space: FeatureSpace,
        queries: pd.DataFrame,
        references: pd.DataFrame,
        assigned: IntArray,
    ) -> None:
        self._form = form
        self._column_feature = space.column_feature
        self._queries = queries
        self._references = references
        self._assigned = assigned

    @cached_property
    def _numbers(self) -> tuple[FloatArray, FloatArray] | None:
        """Queries and references as two arrays, when all columns are of one dtype and can be mixed in one step."""
        if not all_float(self._queries):
            return None
        return self._queries.to_numpy(), self._references.to_numpy(dtype=np.float64)

    @cached_property
    def _stacked(self) -> dict[Any, Any]:
        return {column: _stack(self._queries[column], self._references[column]) for column in self._form.columns}

    def frame(self, rows: IntArray, from_reference: BoolArray) -> pd.DataFrame:
        """Vertices in the common form.

        Parameters
        ----------
        rows : ndarray of int, shape (n_vertices,)
            The query of each vertex.
        from_reference : ndarray of bool, shape (n_vertices, n_features)
            Features taken from the query's reference; the others stay the query's.
        """
        if self._numbers is not None:
            queries, references = self._numbers
            by_column = from_reference[:, self._column_feature]
            others = references if len(references) == 1 else references[self._assigned[rows]]
            mixed = np.where(by_column, others, queries if _is_everything(rows, len(queries)) else queries[rows])
            return pd.DataFrame(mixed, columns=list(self._form.columns), copy=False)
        reference_at = len(self._queries) + self._assigned[rows]
        places = np.where(from_reference, reference_at[:, None], rows[:, None])
        taken = {
            column: self._stacked[column].take(places[:, feature])
            for column, feature in zip(self._form.columns, self._column_feature.tolist(), strict=True)
        }
        return pd.DataFrame(taken, copy=False)

    def native(self, rows: IntArray, from_reference: BoolArray) -> NativeTable:
        """Vertices in the form that the model takes."""
        return self._form.to_native(self.frame(rows, from_reference))


def differing_features(
    space: FeatureSpace, queries: pd.DataFrame, references: pd.DataFrame, assigned: IntArray
) -> BoolArray:
    """Features whose columns are not all the same in a query and its reference; (n_queries, n_features)."""
    if len(space) == len(space.columns) and all_float(queries) and all_float(references):
        mine, other = queries.to_numpy(), references.to_numpy()
        other = other if len(other) == 1 else other[assigned]
        same = mine == other
        if np.isnan(other).any():
            same |= np.isnan(mine) & np.isnan(other)
        return ~same
    differs = np.zeros((len(queries), len(space)), dtype=np.bool_)
    for column, feature in zip(space.columns, space.column_feature.tolist(), strict=True):
        differs[:, feature] |= _differs(queries[column], references[column], assigned)
    return differs


def _is_everything(rows: IntArray, n_rows: int) -> bool:
    return len(rows) == n_rows and bool((rows == np.arange(n_rows)).all())


def _differs(values: pd.Series, references: pd.Series, assigned: IntArray) -> BoolArray:
    if _plain_number(values) and _plain_number(references):
        mine = values.to_numpy()
        other = references.to_numpy()
        other = other[0] if len(other) == 1 else other[assigned]
        different: BoolArray = mine != other
        if values.dtype.kind == "f":
            different &= ~(np.isnan(mine) & np.isnan(other))
        return different
    if len(references) == 1:
        other = references.iloc[0]
        if pd.isna(other):
            return values.notna().to_numpy()
        equal: Any = values.array == other
        if isinstance(equal, pd.api.extensions.ExtensionArray):
            equal = equal.to_numpy(dtype=np.bool_, na_value=False)
        return ~np.asarray(equal, dtype=np.bool_)
    codes, _ = pd.factorize(pd.concat([values, references], ignore_index=True), use_na_sentinel=True)
    return np.asarray(codes[: len(values)] != codes[len(values) :][assigned])


def _plain_number(values: pd.Series) -> bool:
    """Whether numpy holds the values as numbers; pandas' own integers may hold NA, which equals nothing."""
    return isinstance(values.dtype, np.dtype) and values.dtype.kind in "fiub"


def _stack(values: pd.Series, references: pd.Series) -> pd.api.extensions.ExtensionArray | np.ndarray:
    """Query values followed by reference values, in a dtype that holds both."""
    if values.dtype == references.dtype and isinstance(values.dtype, pd.api.extensions.ExtensionDtype):
        return type(values.array)._concat_same_type([values.array, references.array])
    if _plain_number(values) and _plain_number(references):
        return np.concatenate([values.to_numpy(), references.to_numpy()])
    if isinstance(values.dtype, pd.CategoricalDtype):
        both = values.cat.categories.append(pd.Index(references.dropna().unique()).difference(values.cat.categories))
        dtype = pd.CategoricalDtype(both, ordered=values.cat.ordered)
        values, references = values.astype(dtype), references.astype(dtype)
    joined = pd.concat([values, references], ignore_index=True)
    return joined.array if isinstance(joined.dtype, pd.api.extensions.ExtensionDtype) else joined.to_numpy()
