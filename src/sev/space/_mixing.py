"""Rows made of two others: some features from the query, the rest from the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from operator import is_
from typing import NamedTuple

import numpy as np
import pandas as pd

from sev import _native
from sev.space._cells import MixedCells, MixedColumn, different_numbers, is_same_dtype
from sev.space._features import FeatureSpace
from sev.space._native import column_dtypes
from sev.space._tables import TableForm, is_plain_number
from sev.typing import BoolArray, ColumnLabel, Dtype, FloatArray, IntArray, ModelOutput, NativeTable


class MixedRows:
    """Vertices of the hypercube between queries and their references, as rows of the common form.

    Parameters
    ----------
    space : FeatureSpace
        Which columns move together.
    queries, references : DataFrame
        Rows of the common form.
    assigned : ndarray of int, shape (n_queries,)
        For each query, the number of its reference.
    """

    def __init__(
        self, space: FeatureSpace, queries: pd.DataFrame, references: pd.DataFrame, assigned: IntArray
    ) -> None:
        self._space = space
        self._column_feature = space.column_feature
        self._n_columns = len(space.columns)
        self._queries = queries
        self._references = references
        self._assigned = assigned

    @cached_property
    def _columns(self) -> list[MixedColumn]:
        return [MixedColumn(self._queries, self._references, number) for number in range(self._n_columns)]

    def differing(self) -> BoolArray:
        """Features whose columns are not all the same in a query and its reference; (n_queries, n_features).

        Returns
        -------
        ndarray of bool
            Of shape (n_queries, n_features).
        """
        return self._space.by_feature(self.differing_columns())

    def differing_columns(self) -> BoolArray:
        """Columns in which a query and its reference hold different cells; (n_queries, n_columns).

        Returns
        -------
        ndarray of bool
            Of shape (n_queries, n_columns).
        """
        if self._is_one_block:
            return different_numbers(self._blocks[0].queries, self._blocks[0].references, self._assigned)
        differs = np.zeros((len(self._queries), self._n_columns), dtype=np.bool_)
        for block in self._blocks:
            differs[:, block.columns] = different_numbers(block.queries, block.references, self._assigned)
        for number in self._others.tolist():
            differs[:, number] = self._columns[number].differs(self._assigned)
        return differs

    @cached_property
    def dtypes(self) -> list[Dtype]:
        """Those of the queries' columns."""
        return column_dtypes(self._queries)

    @cached_property
    def _block_columns(self) -> dict[Dtype, list[int]]:
        """Columns that hold plain numbers of one dtype in queries and references: they are worked on as one array."""
        return _columns_in_common(self.dtypes, column_dtypes(self._references))

    @cached_property
    def _others(self) -> IntArray:
        """Columns that are mixed one by one."""
        alone = np.ones(self._n_columns, dtype=np.bool_)
        for columns in self._block_columns.values():
            alone[columns] = False
        return np.flatnonzero(alone)

    @cached_property
    def _blocks(self) -> list[_Block]:
        return [_Block.of(columns, self._queries, self._references) for columns in self._block_columns.values()]

    @cached_property
    def _is_one_block(self) -> bool:
        return len(self._block_columns) == 1 and not self._others.size

    @cached_property
    def widened(self) -> list[int]:
        """Columns in which a reference has a value that the queries' dtype does not hold."""
        return [number for number in self._others.tolist() if self._columns[number].misfits.any()]

    def frame(self, rows: IntArray, from_reference: BoolArray) -> pd.DataFrame:
        """Vertices in the common form, in dtypes that hold all of them.

        Parameters
        ----------
        rows : ndarray of int64
            The query of each vertex.
        from_reference : ndarray of bool
            Of shape (n_vertices, n_features).

        Returns
        -------
        DataFrame
            One row for each vertex.
        """
        by_column = from_reference[:, self._column_feature]
        if self._is_one_block:
            return pd.DataFrame(
                self._mix_block(self._blocks[0], rows, by_column), columns=self._queries.columns, copy=False
            )
        cells: dict[int, MixedCells | pd.Series] = {}
        for block in self._blocks:
            cells.update(zip(block.columns, self._mix_block(block, rows, by_column[:, block.columns]).T, strict=True))
        for number in self._others.tolist():
            cells[number] = self._mix_column(number, rows, by_column[:, number])
        # under their numbers: pandas takes any name for a column, but not any two
        frame = pd.DataFrame({number: cells[number] for number in range(len(cells))}, copy=False)
        frame.columns = self._queries.columns  # with its name and dtype
        return frame

    def _mix_block(self, block: _Block, rows: IntArray, by_column: BoolArray) -> np.ndarray:
        others = block.references if len(block.references) == 1 else block.references[self._assigned[rows]]
        mine = block.queries if _is_everything(rows, len(block.queries)) else block.queries[rows]
        return np.where(by_column, others, mine)

    def _mix_only_block(self, rows: IntArray, from_reference: BoolArray) -> np.ndarray:
        """Vertices of a table that is one block."""
        block = self._blocks[0]
        flags = block.queries.flags
        if block.queries.dtype != np.float64 or not (flags.c_contiguous and flags.aligned):
            return self._mix_block(block, rows, from_reference[:, self._column_feature])
        return mix_numbers(block.queries, block.references, self._assigned, rows, from_reference, self._column_feature)

    def _mix_column(self, number: int, rows: IntArray, chosen: BoolArray) -> MixedCells | pd.Series:
        column = self._columns[number]
        assigned = self._assigned[rows]
        misfit = number in self.widened and bool((chosen & column.misfits[assigned]).any())
        cells = column.wide if misfit else column.narrow
        return _as_series(cells.take(np.where(chosen, len(self._queries) + assigned, rows)))


class Mixer(MixedRows):
    """Hands vertices to a model, in the form that it takes.

    Parameters
    ----------
    form : TableForm
        The form in which vertices are handed to the model.
    space, queries, references, assigned
        As for :class:`MixedRows`.
    dtypes_matter : callable, default=None
        ``dtypes_matter(queries, wider)``: whether the scores of a model change when columns get wider dtypes. Where
        they do, and without this test, each row is scored in a table of the dtypes that it would have alone; otherwise
        all rows of a call share the wider dtypes, which is quicker.
    """

    def __init__(
        self,
        form: TableForm,
        space: FeatureSpace,
        queries: pd.DataFrame,
        references: pd.DataFrame,
        assigned: IntArray,
        *,
        dtypes_matter: Callable[[pd.DataFrame, dict[ColumnLabel, Dtype]], bool] | None = None,
    ) -> None:
        super().__init__(space, queries, references, assigned)
        self._form = form
        self._dtypes_matter = dtypes_matter

    def wider_dtypes(self) -> dict[ColumnLabel, Dtype]:
        """The dtype of each widened column that holds all its cells.

        Returns
        -------
        dict of object to object
            By column; empty where none is widened.
        """
        return {self._form.columns[number]: self._columns[number].wide.dtype for number in self.widened}

    @cached_property
    def _split_columns(self) -> list[int]:
        """Columns of which rows with different dtypes may not be in one table."""
        if not self.widened or self._dtypes_matter is None or self._dtypes_matter(self._queries, self.wider_dtypes()):
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

        Returns
        -------
        table or array
            One row for each vertex.
        """
        if self._form.kind == "numpy" and self._is_one_block:
            return self._mix_only_block(rows, from_reference)
        return self._form.to_native(self.frame(rows, from_reference))

    def apply(
        self, function: Callable[[NativeTable], ModelOutput], rows: IntArray, from_reference: BoolArray
    ) -> ModelOutput:
        """What a function of tables returns for each vertex, each in a table of the dtypes that it would have alone.

        Parameters
        ----------
        function : callable
            Takes a table.
        rows : ndarray of int64
            The query of each vertex.
        from_reference : ndarray of bool
            Of shape (n_vertices, n_features).

        Returns
        -------
        object
            What the function returned, in the order of the vertices.
        """
        if not self._split_columns:
            return function(self.native(rows, from_reference))
        outputs: np.ndarray | None = None
        for places in self._group_by_dtypes(rows, from_reference):
            some = np.asarray(function(self.native(rows[places], from_reference[places])))
            if len(some) != len(places):
                return some  # for the caller to refuse
            if outputs is None:
                outputs = np.empty((len(rows), *some.shape[1:]), dtype=some.dtype)
            outputs[places] = some
        return outputs

    def _group_by_dtypes(self, rows: IntArray, from_reference: BoolArray) -> Iterator[IntArray]:
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


def mix_numbers(
    queries: FloatArray,
    references: FloatArray,
    assigned: IntArray,
    rows: IntArray,
    from_reference: BoolArray,
    column_feature: IntArray,
) -> FloatArray:
    """Rows of numbers with some features taken from their references; see :class:`MixedRows`.

    Parameters
    ----------
    queries, references : ndarray of float64
        The rows.
    assigned : ndarray of int, shape (n_queries,)
        For each query, the number of its reference.
    rows : ndarray of int, shape (n_vertices,)
        The query of each vertex.
    from_reference : ndarray of bool, shape (n_vertices, n_features)
        Features taken from the query's reference.
    column_feature : ndarray of int, shape (n_columns,)
        For each column, the number of its feature.

    Returns
    -------
    ndarray of shape (n_vertices, n_columns)
        The mixed rows.
    """
    return _native.mix_rows(
        np.ascontiguousarray(queries),
        np.require(references, requirements=["C", "A"]),
        np.ascontiguousarray(assigned, dtype=np.int64),
        np.ascontiguousarray(rows, dtype=np.int64),
        np.ascontiguousarray(from_reference),
        column_feature,
    )


class FittedReferences:
    """Reference rows in the dtypes of queries, column by column where all of a column's values fit.

    Parameters
    ----------
    rows : DataFrame
        The reference rows.
    """

    def __init__(self, rows: pd.DataFrame) -> None:
        self._rows = rows
        self._last: _Fitted | None = None

    def mixer(
        self,
        form: TableForm,
        space: FeatureSpace,
        queries: pd.DataFrame,
        assigned: IntArray,
        dtypes_matter: Callable[[pd.DataFrame, dict[ColumnLabel, Dtype]], bool],
    ) -> Mixer:
        """Vertices between queries and these references; see :class:`Mixer`.

        Parameters
        ----------
        form : TableForm
            Columns and dtypes of the rows.
        space : FeatureSpace
            Which columns are one feature.
        queries : DataFrame
            Rows to be explained.
        assigned : ndarray of int64
            The place of each query's reference row.
        dtypes_matter : callable
            Whether the model scores some rows differently in wider dtypes.

        Returns
        -------
        Mixer
            Rows that mix queries and references.
        """
        fitted = self._in_dtypes_of(queries)
        mixer = Mixer(form, space, queries, fitted.rows, assigned, dtypes_matter=dtypes_matter)
        mixer.dtypes, mixer._block_columns = fitted.dtypes, fitted.block_columns  # pandas is slow to report dtypes
        return mixer

    def _in_dtypes_of(self, queries: pd.DataFrame) -> _Fitted:
        """The rows as they are mixed with some queries; those of the last call as a rule."""
        dtypes = column_dtypes(queries)
        last = self._last  # one read: another thread may put in other rows at any time
        if last is None or not _are_same_dtypes(last.dtypes, dtypes):
            rows = self._fit_columns(queries)
            last = self._last = _Fitted(dtypes, rows, _columns_in_common(dtypes, column_dtypes(rows)))
        return last

    def _fit_columns(self, queries: pd.DataFrame) -> pd.DataFrame:
        columns: dict[int, pd.Series] = {}
        for number in range(queries.shape[1]):
            column = MixedColumn(queries, self._rows, number)
            columns[number] = self._rows.iloc[:, number] if column.misfits.any() else column.fitted
        fitted = pd.DataFrame(columns, index=self._rows.index)
        fitted.columns = self._rows.columns
        return fitted


class _Fitted(NamedTuple):
    """Reference rows for queries of certain dtypes, and the columns of both that are worked on as one array."""

    dtypes: list[Dtype]
    rows: pd.DataFrame
    block_columns: dict[Dtype, list[int]]


def _are_same_dtypes(some: list[Dtype], others: list[Dtype]) -> bool:
    """Whether two tables have the same dtypes, categories in their order included."""
    if all(map(is_, some, others)):  # those of numpy are one object each: no need to compare them further
        return len(some) == len(others)
    return some == others and all(map(is_same_dtype, some, others))


def _columns_in_common(dtypes: list[Dtype], other_dtypes: list[Dtype]) -> dict[Dtype, list[int]]:
    """For each dtype of plain numbers, the columns that have it in both of two tables."""
    columns: dict[Dtype, list[int]] = {}
    for number, (one, other) in enumerate(zip(dtypes, other_dtypes, strict=True)):
        if is_plain_number(one) and one == other:
            columns.setdefault(one, []).append(number)
    return columns


class _Block(NamedTuple):
    """Columns of one plain dtype of queries and references, as two arrays."""

    columns: list[int]
    queries: np.ndarray
    references: np.ndarray

    @classmethod
    def of(cls, columns: list[int], queries: pd.DataFrame, references: pd.DataFrame) -> _Block:
        if len(columns) < queries.shape[1]:
            queries, references = queries.iloc[:, columns], references.iloc[:, columns]
        return cls(columns, queries.to_numpy(), references.to_numpy())


def _as_series(cells: MixedCells) -> MixedCells | pd.Series:
    """Cells of which pandas makes a column of their own dtype; of objects it would make text where it can."""
    return pd.Series(cells, dtype=object, copy=False) if cells.dtype == object else cells


def _is_everything(rows: IntArray, n_rows: int) -> bool:
    return len(rows) == n_rows and bool((rows == np.arange(n_rows)).all())
