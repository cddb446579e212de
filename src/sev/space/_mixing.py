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
from sev.space._tables import TableForm
from sev.typing import BoolArray, FloatArray, IntArray, NativeTable

_FLOAT = np.dtype(np.float64)
#: Columns that may be put into a table one by one; pandas warns of many.
_MOST_INSERTED = 60


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
        self._space = space
        self._column_feature = space.column_feature
        self._queries = queries
        self._references = references
        self._assigned = assigned
        self._alone = alone

    @cached_property
    def _columns(self) -> list[MixedColumn]:
        return [MixedColumn(self._queries, self._references, number) for number in range(len(self._form.columns))]

    def differing(self) -> BoolArray:
        """Features whose columns are not all the same in a query and its reference; (n_queries, n_features)."""
        differs = np.zeros((len(self._queries), len(self._form.columns)), dtype=np.bool_)
        together, others = self._blocks
        if together.size:
            differs[:, together] = _different_numbers(*self._numbers_of(together), self._assigned)
        for number in others.tolist():
            differs[:, number] = self._columns[number].differs(self._assigned)
        return self._space.by_feature(differs)

    @cached_property
    def _blocks(self) -> tuple[IntArray, IntArray]:
        """Columns that are float64 in queries and references, which are compared at once, and the others."""
        both = zip(self._queries.dtypes.array, self._references.dtypes.array, strict=True)
        plain = np.array([one == _FLOAT and other == _FLOAT for one, other in both])
        return np.flatnonzero(plain), np.flatnonzero(~plain)

    def _numbers_of(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Columns of float64 of queries and references, as two arrays."""
        if columns.size == len(self._form.columns):
            return self._queries.to_numpy(), self._references.to_numpy()
        return self._block_numbers

    @cached_property
    def _block_numbers(self) -> tuple[FloatArray, FloatArray]:
        columns = self._blocks[0]
        return self._queries.iloc[:, columns].to_numpy(), self._references.iloc[:, columns].to_numpy()

    @cached_property
    def widened(self) -> list[int]:
        """Columns in which a reference has a value that the queries' dtype does not hold."""
        return [number for number in self._blocks[1].tolist() if self._columns[number].misfits.any()]

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
        if not self._blocks[1].size and self._form.kind == "numpy":
            return self._mix_block(self._blocks[0], rows, from_reference[:, self._column_feature])
        return self._form.to_native(self.frame(rows, from_reference))

    def frame(self, rows: IntArray, from_reference: BoolArray) -> pd.DataFrame:
        """Vertices in the common form, in dtypes that hold all of them."""
        by_column = from_reference[:, self._column_feature]
        together, others = self._blocks
        if len(others) > _MOST_INSERTED or not together.size:
            together, others = together[:0], np.arange(len(self._form.columns))
        frame = pd.DataFrame(self._mix_block(together, rows, by_column), copy=False)
        for number in others.tolist():
            # under its number: pandas takes any name for a column, but not any two
            frame.insert(number, f"_{number}", self._mix_column(number, rows, by_column[:, number]))
        frame.columns = self._queries.columns  # with its name and dtype
        return frame

    def _mix_block(self, columns: IntArray, rows: IntArray, by_column: BoolArray) -> FloatArray:
        if not columns.size:
            return np.empty((len(rows), 0))
        queries, references = self._numbers_of(columns)
        others = references if len(references) == 1 else references[self._assigned[rows]]
        mine = queries if _is_everything(rows, len(queries)) else queries[rows]
        return np.where(by_column[:, columns] if columns.size < by_column.shape[1] else by_column, others, mine)

    def _mix_column(self, number: int, rows: IntArray, chosen: BoolArray) -> Any:
        column = self._columns[number]
        assigned = self._assigned[rows]
        misfit = number in self.widened and bool((chosen & column.misfits[assigned]).any())
        cells = column.wide if misfit else column.narrow
        return _as_series(cells.take(np.where(chosen, len(self._queries) + assigned, rows)))

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
            wide = np.asarray(wide.any(axis=1)).reshape(-1, 1)
        _, group = np.unique(wide, axis=0, return_inverse=True)
        group = group.ravel()
        for number in range(group.max(initial=-1) + 1):
            yield np.flatnonzero(group == number)


def differing_features(
    form: TableForm, space: FeatureSpace, queries: pd.DataFrame, references: pd.DataFrame, assigned: IntArray
) -> BoolArray:
    """Features whose columns are not all the same in a query and its reference; (n_queries, n_features)."""
    return Mixer(form, space, queries, references, assigned).differing()


def _different_numbers(mine: FloatArray, other: FloatArray, assigned: IntArray) -> BoolArray:
    other = other if len(other) == 1 else other[assigned]
    different: BoolArray = mine != other
    if np.isnan(other).any():
        both = np.isnan(mine) & np.isnan(other)
        different &= np.asarray(~both | (is_nan_value(mine) != is_nan_value(other)))
    return different


def _as_series(cells: Any) -> Any:
    """Cells of which pandas makes a column of their own dtype; of objects it would make text where it can."""
    return pd.Series(cells, dtype=object, copy=False) if cells.dtype == object else cells


def _is_everything(rows: IntArray, n_rows: int) -> bool:
    return len(rows) == n_rows and bool((rows == np.arange(n_rows)).all())
