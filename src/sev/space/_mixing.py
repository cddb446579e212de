"""Rows made of two others: some features from the query, the rest from the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sev.space._cells import MixedColumn
from sev.space._features import FeatureSpace
from sev.space._native import is_nan_value
from sev.space._tables import TableForm, all_float
from sev.typing import BoolArray, FloatArray, IntArray, NativeTable


class Mixer:
    """Builds vertices of the hypercube between queries and their references.

    Parameters
    ----------
    form : TableForm
        The form in which vertices are handed to the model.
    space : FeatureSpace
        Which columns move together.
    queries, references : DataFrame
        Rows of the common form.
    assigned : ndarray of int, shape (n_queries,)
        For each query, the number of its reference.
    alone : bool, default=True
        Score each row in a table of the dtypes that it would have alone. Without it all rows of a call share the wider
        dtypes, which is right for a model whose scores do not depend on them, and quicker.
    """

    def __init__(
        self,
        form: TableForm,
        space: FeatureSpace,
        queries: pd.DataFrame,
        references: pd.DataFrame,
        assigned: IntArray,
        *,
        alone: bool = True,
    ) -> None:
        self._form = form
        self._column_feature = space.column_feature
        self._queries = queries
        self._references = references
        self._assigned = assigned
        self._alone = alone

    @cached_property
    def _numbers(self) -> tuple[FloatArray, FloatArray] | None:
        """Queries and references as two arrays, when all columns are float64 and can be mixed in one step."""
        if not all_float(self._queries) or not all_float(self._references):
            return None
        return self._queries.to_numpy(), self._references.to_numpy()

    @cached_property
    def _columns(self) -> list[MixedColumn]:
        return [MixedColumn(self._queries[name], self._references[name]) for name in self._form.columns]

    @cached_property
    def widened(self) -> list[int]:
        """Columns in which a reference has a value that the queries' dtype does not hold."""
        if self._numbers is not None:
            return []
        return [number for number, column in enumerate(self._columns) if column.misfits.any()]

    def wider_dtypes(self) -> dict[Any, Any]:
        """The dtype of each widened column that holds all its cells."""
        return {self._form.columns[number]: self._columns[number].wide.dtype for number in self.widened}

    @cached_property
    def _split_columns(self) -> list[int]:
        """Columns of which rows with different dtypes may not be in one table."""
        if self._alone:
            return self.widened
        rounding = [number for number in self.widened if self._columns[number].rounds]
        # an array has one dtype for all columns
        return self.widened if self._form.kind == "numpy" and self._any_rounds else rounding

    @property
    def _any_rounds(self) -> bool:
        return any(
            dtype.kind in "iu" and len(values) and (values.max() > 2**53 or values.min() < -(2**53))
            for values, dtype in ((self._queries[name], self._queries[name].dtype) for name in self._form.columns)
        )

    def native(self, rows: IntArray, from_reference: BoolArray) -> NativeTable:
        """Vertices in one table of the form that the model takes, in dtypes that hold all of them.

        Parameters
        ----------
        rows : ndarray of int, shape (n_vertices,)
            The query of each vertex.
        from_reference : ndarray of bool, shape (n_vertices, n_features)
            Features taken from the query's reference; the others stay the query's.
        """
        if self._numbers is not None and self._form.kind == "numpy":
            return self._mix_numbers(rows, from_reference)
        return self._form.to_native(self.frame(rows, from_reference))

    def frame(self, rows: IntArray, from_reference: BoolArray) -> pd.DataFrame:
        """Vertices in the common form, in dtypes that hold all of them."""
        if self._numbers is not None:
            mixed = self._mix_numbers(rows, from_reference)
            return pd.DataFrame(mixed, columns=self._queries.columns, copy=False)
        by_column = from_reference[:, self._column_feature]
        reference_at = len(self._queries) + self._assigned[rows]
        taken: dict[Any, Any] = {}
        for number, name in enumerate(self._form.columns):
            column, chosen = self._columns[number], by_column[:, number]
            misfit = number in self.widened and bool((chosen & column.misfits[self._assigned[rows]]).any())
            cells = column.wide if misfit else column.narrow
            taken[name] = _as_series(cells.take(np.where(chosen, reference_at, rows)))
        frame = pd.DataFrame(taken, copy=False)
        frame.columns = self._queries.columns  # with its name and dtype
        return frame

    def apply(self, function: Callable[[NativeTable], Any], rows: IntArray, from_reference: BoolArray) -> Any:
        """What a function of tables returns for each vertex, each in a table of the dtypes that it would have alone."""
        if not self._split_columns:
            return function(self.native(rows, from_reference))
        outputs: Any = None
        for places in self._groups(rows, from_reference):
            some = np.asarray(function(self.native(rows[places], from_reference[places])))
            if len(some) != len(places):
                return some  # for the caller to refuse
            if outputs is None:
                outputs = np.empty((len(rows), *some.shape[1:]), dtype=some.dtype)
            outputs[places] = some
        return outputs

    def _groups(self, rows: IntArray, from_reference: BoolArray) -> Iterator[IntArray]:
        """Places of the vertices whose tables would have the same dtypes."""
        wide = np.column_stack(
            [
                from_reference[:, self._column_feature[number]] & self._columns[number].misfits[self._assigned[rows]]
                for number in self._split_columns
            ]
        )
        if self._form.kind == "numpy":
            wide = wide.any(axis=1, keepdims=True)
        _, group = np.unique(wide, axis=0, return_inverse=True)
        group = group.ravel()
        for number in range(group.max(initial=-1) + 1):
            yield np.flatnonzero(group == number)

    def _mix_numbers(self, rows: IntArray, from_reference: BoolArray) -> FloatArray:
        assert self._numbers is not None
        queries, references = self._numbers
        others = references if len(references) == 1 else references[self._assigned[rows]]
        mine = queries if _is_everything(rows, len(queries)) else queries[rows]
        return np.where(from_reference[:, self._column_feature], others, mine)


def differing_features(
    space: FeatureSpace, queries: pd.DataFrame, references: pd.DataFrame, assigned: IntArray
) -> BoolArray:
    """Features whose columns are not all the same in a query and its reference; (n_queries, n_features)."""
    if len(space) == len(space.columns) and all_float(queries) and all_float(references):
        mine, other = queries.to_numpy(), references.to_numpy()
        other = other if len(other) == 1 else other[assigned]
        different = mine != other
        if np.isnan(other).any():
            both = np.isnan(mine) & np.isnan(other)
            different &= ~both | (is_nan_value(mine) != is_nan_value(other))
        return different
    differs = np.zeros((len(queries), len(space)), dtype=np.bool_)
    for column, feature in zip(space.columns, space.column_feature.tolist(), strict=True):
        differs[:, feature] |= MixedColumn(queries[column], references[column]).differs(assigned)
    return differs


def _as_series(cells: Any) -> Any:
    """Cells of which pandas makes a column of their own dtype; of objects it would make text where it can."""
    return pd.Series(cells, dtype=object, copy=False) if cells.dtype == object else cells


def _is_everything(rows: IntArray, n_rows: int) -> bool:
    return len(rows) == n_rows and bool((rows == np.arange(n_rows)).all())
