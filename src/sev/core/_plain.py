"""Values as JSON holds them, and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd


def plain_value(value: Any) -> Any:
    """A number, string, bool or None; missing values become None."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if pd.isna(value):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


def plain_row(row: pd.Series) -> dict[str, Any]:
    """Column names to plain values."""
    return {str(column): plain_value(value) for column, value in row.items()}


def table_to_plain(frame: pd.DataFrame) -> dict[str, Any]:
    """A table as column names, dtypes and lists of values."""
    return {
        "columns": [plain_value(column) for column in frame.columns],
        "dtypes": [_dtype_name(dtype) for dtype in frame.dtypes],
        "values": [[plain_value(value) for value in frame[column]] for column in frame.columns],
    }


def table_from_plain(plain: dict[str, Any], index: pd.Index | None = None) -> pd.DataFrame:
    """Inverse of :func:`table_to_plain`."""
    columns = {
        column: _column(values, dtype)
        for column, dtype, values in zip(plain["columns"], plain["dtypes"], plain["values"], strict=True)
    }
    frame = pd.DataFrame(columns, columns=plain["columns"])
    if index is not None:
        frame.index = index
    return frame


def dump(document: dict[str, Any]) -> str:
    """Strict JSON, one line, the same bytes for the same content."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _dtype_name(dtype: Any) -> Any:
    if isinstance(dtype, pd.CategoricalDtype):
        return {"categories": [plain_value(value) for value in dtype.categories], "ordered": bool(dtype.ordered)}
    return str(dtype)


def _column(values: list[Any], dtype: Any) -> pd.Series:
    if isinstance(dtype, dict):
        return pd.Series(values, dtype=pd.CategoricalDtype(dtype["categories"], ordered=dtype["ordered"]))
    if dtype == "object":
        return pd.Series(values, dtype=object)
    return pd.Series(values).astype(dtype)
