"""Between the containers that models take and pandas, without losing what a cell held.

Three things get lost on the way from polars and arrow to pandas and back: integers and booleans beside missing values
become floats and objects, NaN becomes a missing value, and arrays of pandas cannot be written to. Integers and booleans
with missing values are held in pandas' own nullable types. A NaN that is a value, beside missing ones, is held as a NaN
with bits of its own, which every copy of the number keeps and which is NaN to everybody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import numpy as np
import pandas as pd

from sev.exceptions import InputError
from sev.typing import BoolArray, Cell, ColumnLabel, Dtype, NativeTable, TableSchema

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa


TableKind = Literal["pandas", "polars", "pyarrow", "numpy"]

#: The bits survive a cast to float32: only leading ones of the fraction are set.
_NAN_VALUE = {
    8: (np.uint64, np.uint64(0x7FF9_5EE0_0000_0000)),
    4: (np.uint32, np.uint32(0x7FCA_F700)),
}
#: From 3.0 on pandas copies a column when somebody writes to it, so that a shallow copy is as safe as a deep one.
_COPIES_ON_WRITE = int(pd.__version__.partition(".")[0]) >= 3


def table_kind(rows: NativeTable) -> TableKind:
    """Which container a table is."""
    package = type(rows).__module__.partition(".")[0]
    if isinstance(rows, pd.DataFrame):
        return "pandas"
    if package == "polars":
        return "polars"
    if package == "pyarrow":
        return "pyarrow"
    if package == "scipy" and hasattr(rows, "toarray"):
        raise InputError("Sparse matrices are not supported: pass a dense array, X.toarray().")
    return "numpy"


def to_pandas(rows: NativeTable, kind: TableKind, names: pd.Index | None = None) -> pd.DataFrame:
    """A table of any kind as pandas; the rows of a DataFrame or array themselves, not copies.

    Columns of an array get the names, where there are as many, or ``"x0", "x1", ...``.
    """
    if kind == "pandas":
        return rows
    if kind in ("polars", "pyarrow"):
        return _from_narwhals(rows)
    try:
        array = np.asarray(rows)
    except ValueError as error:
        raise InputError(f"Expected a table or a 2-D array of rows, got rows of different lengths: {error}") from error
    if array.ndim != 2:
        raise InputError(
            f"Expected a table or a 2-D array of rows, got {type(rows).__name__} of shape {array.shape}: "
            "for one row use explain_one(row), or reshape it to (1, n_columns)."
        )
    if array.dtype.kind not in "fiubO":
        raise InputError(f"Arrays of dtype {array.dtype} are not supported: pass numbers, or a DataFrame for text.")
    if names is None or len(names) != array.shape[1]:
        names = pd.Index([f"x{number}" for number in range(array.shape[1])])
    # pandas would make text of objects, and with it another marker of missing ones
    return pd.DataFrame(array, columns=names, dtype=object if array.dtype.kind == "O" else None, copy=False)


def column_dtypes(frame: pd.DataFrame) -> list[Dtype]:
    """The dtype of each column; pandas takes long to list them otherwise, where there are many columns."""
    return list(frame.dtypes.values)


def native_row(cells: dict[ColumnLabel, Cell], kind: TableKind, schema: TableSchema) -> NativeTable | None:
    """One row as a polars or arrow table of a schema; None where a cell does not fit it."""
    try:
        if kind == "polars":
            import polars as pl

            return pl.DataFrame([cells], schema=cast("pl.Schema", schema))
        import pyarrow as pa

        return pa.Table.from_pylist([cells], schema=schema)
    except Exception:  # each library has its own errors for such cells
        return None


def to_pandas_for_model(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows, in a frame of their own: what a model writes into it changes no row of ours or the caller's.

    Parameters
    ----------
    frame : DataFrame
        Rows.

    Returns
    -------
    DataFrame
        A copy.
    """
    return frame.copy(deep=not _COPIES_ON_WRITE)


def to_numpy(frame: pd.DataFrame) -> NativeTable:
    """Rows as one array that may be written to, of the dtype that holds all columns."""
    array = frame.to_numpy()
    if array.dtype == np.float64:  # which holds all columns, then
        return np.array(array, copy=True)
    dtypes = set(column_dtypes(frame))
    if all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes):
        return np.array(frame.to_numpy(dtype=np.result_type(*dtypes)), copy=True)
    return np.array(array, copy=True)


def to_polars(frame: pd.DataFrame, schema: TableSchema, dtypes: dict[ColumnLabel, Dtype]) -> NativeTable:
    """Rows as a polars table; columns that have the background's pandas dtype get its polars dtype, too."""
    import polars as pl

    table = pl.from_pandas(frame)
    nans = {name: marked for name in frame.columns if (marked := is_nan_value(frame[name])).any()}
    if nans:
        table = table.with_columns(
            pl.when(pl.Series(marked)).then(float("nan")).otherwise(pl.col(name)).alias(name).cast(table[name].dtype)
            for name, marked in nans.items()
        )
    for name, dtype in cast("pl.Schema", schema).items():
        if table[name].dtype != dtype and _goes_back(frame[name].dtype, dtypes[name]):
            try:
                table = table.with_columns(pl.col(name).cast(dtype))
            except pl.exceptions.PolarsError:
                continue  # a category that the background's list does not hold: the model decides about it
    return table


def to_arrow(frame: pd.DataFrame, schema: TableSchema, dtypes: dict[ColumnLabel, Dtype]) -> NativeTable:
    """Rows as an arrow table; columns that have the background's pandas dtype get its arrow type, too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.Table.from_pandas(frame, preserve_index=False)
    for number, name in enumerate(table.column_names):
        column = table.column(name)
        marked = is_nan_value(frame[name])
        if marked.any():
            column = pc.if_else(pa.array(marked), pa.scalar(float("nan"), type=column.type), column)
        wanted = cast("pa.Schema", schema).field(name).type
        if column.type != wanted and _goes_back(frame[name].dtype, dtypes[name]):
            column = column.cast(wanted)
        table = table.set_column(number, name, column)
    return table


def is_nan_value(values: pd.Series | np.ndarray) -> BoolArray:
    """Which cells hold NaN as a value of its own, beside missing ones; always none outside polars and arrow.

    Parameters
    ----------
    values : Series or ndarray
        A column.

    Returns
    -------
    ndarray of bool
        One for each cell.
    """
    if values.dtype not in (np.float64, np.float32):
        return np.zeros(len(values), dtype=np.bool_)
    bits, marker = _NAN_VALUE[values.dtype.itemsize]
    numbers = values.to_numpy() if isinstance(values, pd.Series) else values
    marked: BoolArray = np.ascontiguousarray(numbers).view(bits) == marker
    return marked


def mark_nan_values(numbers: np.ndarray, marked: BoolArray) -> np.ndarray:
    """A copy in which some cells hold NaN as a value of its own; see :func:`is_nan_value`.

    Parameters
    ----------
    numbers : ndarray
        A column.
    marked : ndarray of bool
        Which cells.

    Returns
    -------
    ndarray
        Of the same dtype.
    """
    numbers = np.array(numbers)
    bits, marker = _NAN_VALUE[numbers.dtype.itemsize]
    numbers.view(bits)[marked] = marker
    return numbers


def _goes_back(held: object, background: object) -> bool:
    """Whether a column is still what the background's was; one with another dtype of numbers stays as it is."""
    return held == background or not pd.api.types.is_numeric_dtype(held)


def _from_narwhals(rows: NativeTable) -> pd.DataFrame:
    import narwhals as nw

    table = nw.from_native(rows, eager_only=True)
    frame = table.to_pandas()
    better: dict[ColumnLabel, Dtype] = {}
    for name in table.columns:
        column = table[name]
        if column.dtype.is_float():
            marked = column.is_nan().fill_null(False).to_numpy().astype(np.bool_)
            if marked.any() and frame[name].dtype.itemsize in _NAN_VALUE:
                better[name] = mark_nan_values(frame[name].to_numpy(), marked)
        elif (column.dtype.is_integer() or column.dtype == nw.Boolean) and column.null_count():
            better[name] = _make_nullable(column)
    if not better:
        return frame
    return pd.DataFrame({name: better.get(name, frame[name]) for name in frame.columns}, index=frame.index)


def _make_nullable(column: nw.Series[pa.ChunkedArray]) -> pd.api.extensions.ExtensionArray:
    """Integers or booleans with missing values, none of them changed."""
    missing = column.is_null().to_numpy().astype(np.bool_)
    if column.dtype.is_integer():
        return pd.arrays.IntegerArray(np.array(column.fill_null(0).to_numpy()), missing)
    return pd.arrays.BooleanArray(np.array(column.fill_null(False).to_numpy()).astype(np.bool_), missing)
