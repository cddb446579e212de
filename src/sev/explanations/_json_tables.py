"""Tables as JSON holds them, and back, cell by cell.

A model may tell None from NaN, 3 from 3.0 and a date from its text, so a table that is read must have the very cells of
the one that was written. JSON has text, booleans, integers, floats and null. Columns have their dtype; null stands for
the missing value of that dtype, in a column of objects for None. Whatever else a cell may be is written as text or null
with a tag beside it. A cell for which there is no tag comes back as a :class:`LostCell`, which is never taken for the
value that it was.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sev.core import plain_value
from sev.space import FeatureSpace, MixedRows, is_nan_value, mark_nan_values
from sev.typing import BoolArray, Cell, ColumnLabel, JSONObject, JSONValue, Parsed

if TYPE_CHECKING:
    from pandas.api.extensions import ExtensionDtype


_LOST = "lost"
#: NaN as a value of its own, beside missing ones: polars and arrow have both.
_NAN_VALUE = "NaN value"


def _write_interval(one: pd.Interval) -> list[JSONValue]:
    return [plain_value(one.left), plain_value(one.right), one.closed]


def _read_interval(plain: list[Parsed]) -> pd.Interval:
    left, right, closed = plain
    ends = (pd.Timestamp(left), pd.Timestamp(right)) if isinstance(left, str) else (left, right)
    return pd.Interval(*ends, closed=closed)


#: Types of cells in columns of objects: how they are written and read.
_TYPES: dict[type, tuple[str, Callable[[Any], JSONValue], Callable[[Parsed], Cell]]] = {
    pd.Timestamp: ("Timestamp", pd.Timestamp.isoformat, pd.Timestamp),
    pd.Timedelta: ("Timedelta", pd.Timedelta.isoformat, pd.Timedelta),
    datetime.datetime: ("datetime", datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    datetime.date: ("date", datetime.date.isoformat, datetime.date.fromisoformat),
    datetime.time: ("time", datetime.time.isoformat, datetime.time.fromisoformat),
    Decimal: ("Decimal", str, Decimal),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    pd.Interval: ("Interval", _write_interval, _read_interval),
}
_NUMPY = ("float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool")
_READERS: dict[str, Callable[[Parsed], Cell]] = {
    **{tag: read for tag, _, read in _TYPES.values()},
    **{f"numpy.{name}": np.dtype(name).type for name in _NUMPY},
    "NaN": lambda _: np.nan,
    "NA": lambda _: pd.NA,
    "NaT": lambda _: pd.NaT,
    _LOST: lambda value: LostCell(value),
}
_ARROW_DECIMAL = re.compile(r"decimal128\((\d+), (\d+)\)")
_X = FeatureSpace.of_columns({"x": ["x"]}, ["x"])


class LostCell(str):
    """The text of a value that a file could not hold."""

    __slots__ = ()


def table_to_plain(frame: pd.DataFrame) -> JSONObject:
    """A table as column names, dtypes and lists of values."""
    columns = [_to_plain(frame.iloc[:, number]) for number in range(frame.shape[1])]
    return {
        "columns": [name_to_plain(column) for column in frame.columns],
        "levels": frame.columns.nlevels,
        "dtypes": [column["dtype"] for column in columns],
        "values": [column["values"] for column in columns],
        "tags": {str(number): column["tags"] for number, column in enumerate(columns) if column["tags"]},
    }


def table_from_plain(plain: dict[str, Parsed], index: pd.Index | None = None) -> pd.DataFrame:
    """Inverse of :func:`table_to_plain`; of tables without tags, too, which older versions wrote."""
    tags = plain.get("tags", {})
    columns = [
        _from_plain({"dtype": dtype, "values": values, "tags": tags.get(str(number), {})})
        for number, (dtype, values) in enumerate(zip(plain["dtypes"], plain["values"], strict=True))
    ]
    frame = pd.DataFrame(dict(enumerate(columns)), columns=range(len(columns)))
    names = [name_from_plain(name) for name in plain["columns"]]
    # names of several levels, or plain names that may be tuples: as the model saw them
    has_levels = plain.get("levels", 1) > 1
    frame.columns = (
        pd.MultiIndex.from_tuples(names) if has_levels else pd.Index(names, dtype=object, tupleize_cols=False)
    )
    if index is not None:
        frame.index = index
    return frame


def name_to_plain(name: object) -> JSONValue:
    """A column's name; one of several levels is a list."""
    return [plain_value(level) for level in name] if isinstance(name, tuple) else plain_value(name)


def name_from_plain(plain: Parsed) -> ColumnLabel:
    """Inverse of :func:`name_to_plain`."""
    return tuple(plain) if isinstance(plain, list) else plain


def lost_cells(frame: pd.DataFrame) -> list[tuple[int, ColumnLabel]]:
    """Rows and columns of cells that the file which the table comes from could not hold."""
    return [
        (row, column)
        for column in frame.columns
        if pd.api.types.is_object_dtype(frame[column].dtype)
        for row, value in enumerate(frame[column])
        if isinstance(value, LostCell)
    ]


# -- one column --------------------------------------------------------------------------------------------------------


def _to_plain(values: pd.Series) -> JSONObject:
    """One column; cells that would not be read as they are get the tag of lost ones."""
    dtype = _dtype_to_plain(values.dtype)
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "fiub":
        marked = np.flatnonzero(is_nan_value(values)).tolist()
        numbers = [plain_value(value) for value in values.tolist()]
        return {"dtype": dtype, "values": numbers, "tags": {_NAN_VALUE: marked} if marked else {}}
    plain, tags = _cells_to_plain(values)
    column = {"dtype": dtype, "values": plain, "tags": tags}
    lost = np.flatnonzero(_changed_cells(values, column)).tolist()
    if not lost:
        return column
    texts = dict(zip(lost, map(str, values.iloc[lost]), strict=True))
    plain, tags = _cells_to_plain(values.astype(object))
    tags = {tag: kept for tag, rows in tags.items() if (kept := [row for row in rows if row not in texts])}
    return {
        "dtype": "object",
        "values": [texts.get(row, value) for row, value in enumerate(plain)],
        "tags": {**tags, _LOST: lost},
    }


def _cells_to_plain(values: pd.Series) -> tuple[list[JSONValue], dict[str, list[int]]]:
    """Cells as JSON holds them, and which of them are something else."""
    plain: list[JSONValue] = []
    tags: dict[str, list[int]] = {}
    is_object = values.dtype == object
    for row, cell in enumerate(values):
        tag, value = _cell_to_plain(cell, is_object)
        plain.append(value)
        if tag is not None:
            tags.setdefault(tag, []).append(row)
    return plain, tags


def _cell_to_plain(cell: Cell, is_object: bool) -> tuple[str | None, JSONValue]:
    """A tag, if the dtype of the column does not say what the cell is, and the cell as JSON holds it."""
    if cell is None or type(cell) is str or type(cell) is bool or type(cell) is int:
        return None, cell
    if cell is pd.NA or cell is pd.NaT or (isinstance(cell, float) and np.isnan(cell)):
        return (("NA" if cell is pd.NA else "NaT" if cell is pd.NaT else "NaN") if is_object else None), None
    if type(cell) in _TYPES:
        tag, write, _ = _TYPES[type(cell)]
        return tag, write(cell)
    if isinstance(cell, np.generic) and is_object and f"numpy.{cell.dtype}" in _READERS:
        return f"numpy.{cell.dtype}", plain_value(cell)
    return None, plain_value(cell)


def _from_plain(column: dict[str, Parsed]) -> pd.Series:
    """One column, from what :func:`_to_plain` returned."""
    dtype, tags = _dtype_from_plain(column["dtype"]), column["tags"]
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        numbers = np.array([np.nan if value is None else value for value in column["values"]], dtype=dtype)
        marked = np.zeros(len(numbers), dtype=np.bool_)
        marked[tags.get(_NAN_VALUE, [])] = True
        return pd.Series(mark_nan_values(numbers, marked) if marked.any() else numbers)
    cells = list(column["values"])
    for tag, rows in tags.items():
        for row in rows:
            cells[row] = _READERS[tag](cells[row])
    if isinstance(dtype, (np.dtype, pd.DatetimeTZDtype)) and dtype.kind in "mM":
        # one by one: each has the offset of its own day
        return pd.Series([pd.NaT if cell is None else cell for cell in cells], dtype=object).astype(dtype)
    return pd.Series(cells, dtype=dtype)


def _changed_cells(values: pd.Series, column: dict[str, Parsed]) -> BoolArray:
    """Which cells would come back as others."""
    try:
        again = _from_plain(column)
        if again.dtype != values.dtype or len(again) != len(values):
            return np.ones(len(values), dtype=np.bool_)
        mine, other = values.reset_index(drop=True).to_frame("x"), again.to_frame("x")
        return MixedRows(_X, mine, other, np.arange(len(mine), dtype=np.int64)).differing()[:, 0]
    except Exception:  # cells may be anything, and so may their errors
        return np.ones(len(values), dtype=np.bool_)


# -- dtypes ------------------------------------------------------------------------------------------------------------


def _dtype_to_plain(dtype: object) -> JSONValue:
    if isinstance(dtype, pd.CategoricalDtype):
        return {"categories": _to_plain(pd.Series(dtype.categories)), "ordered": bool(dtype.ordered)}
    if isinstance(dtype, pd.ArrowDtype):
        return {"arrow": str(dtype.pyarrow_dtype)}
    if isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA:
        return f"string[{dtype.storage}]"
    return str(dtype)


def _dtype_from_plain(name: Parsed) -> ExtensionDtype:
    if not isinstance(name, dict):
        return pd.api.types.pandas_dtype(name)
    if "arrow" not in name:
        categories = name["categories"]  # older versions wrote a list
        held = _from_plain(categories) if isinstance(categories, dict) else categories
        return pd.CategoricalDtype(held, ordered=name["ordered"])
    import pyarrow as pa

    decimal = _ARROW_DECIMAL.fullmatch(name["arrow"])
    if decimal is not None:
        return pd.ArrowDtype(pa.decimal128(*map(int, decimal.groups())))
    if name["arrow"] == "string":  # pandas makes a dtype of its own of this name
        return pd.ArrowDtype(pa.string())
    return pd.ArrowDtype.construct_from_string(f"{name['arrow']}[pyarrow]")
