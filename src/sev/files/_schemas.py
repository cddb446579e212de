"""Schemas of polars and arrow tables, and numpy dtypes, by name."""

from __future__ import annotations

import re
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sev._optional import require
from sev.exceptions import ArchiveError, InputError
from sev.typing import JSONValue, Parsed, TableSchema

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


_POLARS_SIMPLE = (
    *("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"),
    *("String", "Boolean", "Date", "Time", "Categorical"),
)
_ARROW_ALIAS = re.compile(
    r"(u?int(8|16|32|64)|halffloat|float|double|(large_)?string|bool|date(32\[day\]|64\[ms\])|timestamp\[(s|ms|us|ns)\])"
)
_NUMPY_NAME = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)|object")


def schema_to_plain(kind: str, schema: TableSchema) -> JSONValue:
    """What a container needs to be built again, as JSON holds it."""
    if kind == "pandas":
        return None
    if kind == "numpy":
        # lists of rows have no dtype and become float64 arrays, as np.dtype(None) says
        return str(np.dtype(cast("np.dtype[np.generic] | None", schema)))
    if kind == "polars":
        return [[name, _polars_to_plain(dtype, name)] for name, dtype in cast("pl.Schema", schema).items()]
    return [[field.name, _arrow_to_plain(field.type, field.name)] for field in cast("pa.Schema", schema)]


def schema_from_plain(kind: str, plain: Parsed) -> TableSchema:
    """Inverse of :func:`schema_to_plain`."""
    if kind == "pandas":
        return None
    if kind == "numpy":
        if not isinstance(plain, str) or not _NUMPY_NAME.fullmatch(plain):
            raise ArchiveError(f"The file names an array dtype that is not known: {str(plain)[:80]!r}.")
        return np.dtype(plain)
    if kind == "polars":
        polars = require("polars", extra=None, feature="An explainer of polars tables")
        return polars.Schema({str(name): _polars_from_plain(polars, dtype) for name, dtype in plain})
    arrow = require("pyarrow", extra="batch", feature="An explainer of arrow tables")
    return arrow.schema([(str(name), _arrow_from_plain(arrow, dtype)) for name, dtype in plain])


def _polars_to_plain(dtype: Any, column: str) -> JSONValue:
    name = type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__
    if name in _POLARS_SIMPLE:
        return name
    if name == "Enum":
        return {"Enum": list(dtype.categories)}
    if name == "Datetime":
        return {"Datetime": [dtype.time_unit, dtype.time_zone]}
    raise InputError(
        f"Column {column!r} of polars dtype {dtype} cannot be saved: convert it to numbers, text, categories or dates."
    )


def _polars_from_plain(polars: ModuleType, plain: Parsed) -> pl.DataType:
    if isinstance(plain, str) and plain in _POLARS_SIMPLE:
        return getattr(polars, plain)()
    if isinstance(plain, dict) and set(plain) == {"Enum"}:
        return polars.Enum([str(category) for category in plain["Enum"]])
    if isinstance(plain, dict) and set(plain) == {"Datetime"} and plain["Datetime"][0] in ("ms", "us", "ns"):
        return polars.Datetime(*plain["Datetime"])
    raise ArchiveError(f"The file names a polars dtype that is not known: {str(plain)[:80]}.")


def _arrow_to_plain(dtype: pa.DataType, column: str) -> JSONValue:
    if _ARROW_ALIAS.fullmatch(str(dtype)):
        return str(dtype)
    if hasattr(dtype, "value_type") and hasattr(dtype, "index_type"):
        inside = [_arrow_to_plain(part, column) for part in (dtype.index_type, dtype.value_type)]
        return {"dictionary": [*inside, bool(dtype.ordered)]}
    raise InputError(
        f"Column {column!r} of arrow type {dtype} cannot be saved: convert it to numbers, text, categories or dates."
    )


def _arrow_from_plain(arrow: ModuleType, plain: Parsed) -> pa.DataType:
    if isinstance(plain, str) and _ARROW_ALIAS.fullmatch(plain):
        return arrow.type_for_alias(plain)
    if isinstance(plain, dict) and set(plain) == {"dictionary"}:
        index, values, ordered = plain["dictionary"]
        return arrow.dictionary(_arrow_from_plain(arrow, index), _arrow_from_plain(arrow, values), ordered is True)
    raise ArchiveError(f"The file names an arrow type that is not known: {str(plain)[:80]}.")
