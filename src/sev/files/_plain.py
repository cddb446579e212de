"""Tables, dtypes and features as JSON holds them, and back, without losing a bit.

Everything is written from a closed list of dtypes and value types. What is not on the list is refused when it is saved,
not when somebody needs it again.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from sev.exceptions import ArchiveError, InputError
from sev.files._schemas import schema_from_plain, schema_to_plain
from sev.space import Feature, FeatureSpace, TableForm
from sev.typing import Cell, Dtype, JSONObject, JSONValue, Parsed

_NAMED_DTYPE = re.compile(
    r"(bool|u?int(8|16|32|64)|float(16|32|64)|object|str|string|boolean|U?Int(8|16|32|64)|Float(32|64)"
    r"|(datetime|timedelta)64\[(s|ms|us|ns)(, [A-Za-z0-9_+:/-]+)?\]"
    r"|(string|bool|double|float|halffloat|u?int(8|16|32|64)|timestamp\[(s|ms|us|ns)\])\[pyarrow\])"
)
_MOST_COLUMNS = 1_000_000


# -- values ------------------------------------------------------------------------------------------------------------


def value_to_plain(value: object) -> JSONValue:
    """A value that JSON holds exactly; others as an object that names their type."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if value is pd.NA or value is pd.NaT:
        return {"missing": "NaT" if value is pd.NaT else "NA"}
    for name, (kind, write, _) in _VALUE_TYPES.items():
        if isinstance(value, kind):
            return {name: write(value)}
    raise InputError(
        f"A value of type {type(value).__name__} cannot be saved: {value!r}. Use a number, text or a date."
    )


def value_from_plain(plain: Parsed) -> Cell:
    """Inverse of :func:`value_to_plain`."""
    if plain is None or isinstance(plain, (str, bool, int, float)):
        return plain
    if isinstance(plain, dict) and len(plain) == 1:
        [(name, text)] = plain.items()
        if name == "missing" and text in ("NA", "NaT"):
            return pd.NaT if text == "NaT" else pd.NA
        if name == "float" and text in ("nan", "inf", "-inf"):
            return float(text)
        if name in _VALUE_TYPES:
            return _VALUE_TYPES[name][2](text)
    raise ArchiveError(f"The file holds a value that is not known: {str(plain)[:80]}.")


#: Types that JSON has no word for: how to write and how to read them. The narrower type stands first.
_VALUE_TYPES: dict[str, tuple[type, Callable[[Any], JSONValue], Callable[[Parsed], Cell]]] = {
    "timestamp": (pd.Timestamp, lambda value: value.isoformat(), pd.Timestamp),
    "timedelta": (pd.Timedelta, lambda value: value.isoformat(), pd.Timedelta),
    "datetime": (dt.datetime, lambda value: value.isoformat(), dt.datetime.fromisoformat),
    "date": (dt.date, lambda value: value.isoformat(), dt.date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
    "tuple": (
        tuple,
        lambda value: [value_to_plain(item) for item in value],
        lambda plain: tuple(value_from_plain(item) for item in plain),
    ),
}


# -- columns and tables ------------------------------------------------------------------------------------------------


def dtype_to_plain(dtype: object) -> JSONValue:
    """Name of a dtype; of a categorical one also its categories."""
    if isinstance(dtype, pd.CategoricalDtype):
        return {
            "categories": column_to_plain(pd.Series(dtype.categories)),
            "ordered": bool(dtype.ordered),
        }
    name = str(dtype)
    if not _NAMED_DTYPE.fullmatch(name):
        raise InputError(
            f"Columns of dtype {name} cannot be saved: convert them to numbers, text, categories or dates."
        )
    return name


def dtype_from_plain(plain: Parsed) -> Dtype:
    """Inverse of :func:`dtype_to_plain`."""
    if isinstance(plain, dict) and set(plain) == {"categories", "ordered"} and isinstance(plain["ordered"], bool):
        return pd.CategoricalDtype(column_from_plain(plain["categories"]), ordered=plain["ordered"])
    if not isinstance(plain, str) or not _NAMED_DTYPE.fullmatch(plain):
        raise ArchiveError(f"The file names a dtype that is not known: {str(plain)[:80]!r}.")
    return pd.api.types.pandas_dtype(plain)


def column_to_plain(values: pd.Series) -> JSONObject:
    """A column as its dtype and a list of values."""
    dtype = dtype_to_plain(values.dtype)
    if isinstance(values.dtype, pd.CategoricalDtype):
        plain: list[JSONValue] = values.cat.codes.tolist()
    elif values.dtype.kind in "mM" and isinstance(dtype, str) and "pyarrow" not in dtype:
        # integers of the dtype's own unit, so that no digit is lost; NaT is the smallest one
        plain = values.array.view("int64").tolist()
    else:
        plain = [value_to_plain(value) for value in values]
    return {"dtype": dtype, "values": plain}


def column_from_plain(plain: Parsed) -> pd.Series:
    """Inverse of :func:`column_to_plain`."""
    dtype = dtype_from_plain(plain["dtype"])
    values = plain["values"]
    if not isinstance(values, list):
        raise ArchiveError("The file holds a column whose values are not a list.")
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical.from_codes(np.array(values, dtype=np.int64), dtype=dtype))
    if dtype.kind in "mM" and "pyarrow" not in str(dtype):
        unit = getattr(dtype, "unit", None) or np.datetime_data(dtype.str)[0]
        numbers = np.array(values, dtype=np.int64).view(f"{dtype.kind}8[{unit}]")
        column = pd.Series(numbers)
        return column.dt.tz_localize("UTC").astype(dtype) if hasattr(dtype, "tz") else column
    items = [value_from_plain(value) for value in values]
    return pd.Series(items, dtype=object).astype(dtype) if items else pd.Series(items, dtype=dtype)


def frame_to_plain(frame: pd.DataFrame) -> JSONObject:
    """A table, column by column; the index is left out."""
    return {
        "columns": [value_to_plain(column) for column in frame.columns],
        "data": [column_to_plain(frame.iloc[:, number]) for number in range(frame.shape[1])],
    }


def frame_from_plain(plain: Parsed) -> pd.DataFrame:
    """Inverse of :func:`frame_to_plain`."""
    columns = [value_from_plain(column) for column in plain["columns"]]
    data = [column_from_plain(column) for column in plain["data"]]
    if len(columns) != len(data) or len({len(column) for column in data}) > 1:
        raise ArchiveError("The file holds a table whose columns do not fit together.")
    frame = pd.concat(data, axis=1) if data else pd.DataFrame()
    frame.columns = pd.Index(columns, dtype=object) if any(not isinstance(c, str) for c in columns) else columns
    return frame


# -- what rows look like -----------------------------------------------------------------------------------------------


def form_to_plain(form: TableForm) -> JSONObject:
    """The columns and the container of the rows that a model takes."""
    return {
        "kind": form.kind,
        "columns": [value_to_plain(column) for column in form.columns],
        "dtypes": [dtype_to_plain(form.dtypes[column]) for column in form.columns],
        "schema": schema_to_plain(form.kind, form.schema),
    }


def form_from_plain(plain: Parsed) -> TableForm:
    """Inverse of :func:`form_to_plain`."""
    if plain["kind"] not in ("pandas", "polars", "pyarrow", "numpy"):
        raise ArchiveError(f"The file names a kind of table that is not known: {str(plain['kind'])[:80]!r}.")
    columns = tuple(value_from_plain(column) for column in plain["columns"])
    dtypes = [dtype_from_plain(dtype) for dtype in plain["dtypes"]]
    if len(columns) != len(set(columns)) or not 0 < len(columns) <= _MOST_COLUMNS:
        raise ArchiveError("The file has duplicate column names, or no columns.")
    return TableForm(
        kind=plain["kind"],
        columns=columns,
        dtypes=dict(zip(columns, dtypes, strict=True)),
        schema=schema_from_plain(plain["kind"], plain["schema"]),
    )


def space_to_plain(space: FeatureSpace) -> list[JSONObject]:
    """Features and their columns."""
    return [
        {"name": feature.name, "columns": [value_to_plain(column) for column in feature.columns]}
        for feature in space.features
    ]


def space_from_plain(plain: Parsed, form: TableForm) -> FeatureSpace:
    """Inverse of :func:`space_to_plain`."""
    features = tuple(
        Feature(str(one["name"]), tuple(value_from_plain(column) for column in one["columns"])) for one in plain
    )
    owned = [column for feature in features for column in feature.columns]
    names = {feature.name for feature in features}
    if len(owned) != len(form.columns) or set(owned) != set(form.columns) or len(names) != len(features):
        raise ArchiveError("The file's features do not cover every column exactly once.")
    return FeatureSpace(features, form.columns)
