"""Values as JSON holds them."""

from __future__ import annotations

import json
from typing import overload

import numpy as np
import pandas as pd

from sev.typing import Cell, JSONObject, PlainValue


def python_value(value: Cell) -> Cell:
    """A numpy scalar as the Python number, string or bool that it holds; anything else as it is.

    Parameters
    ----------
    value : object
        A cell.

    Returns
    -------
    object
        The value.
    """
    return value.item() if isinstance(value, np.generic) else value


@overload
def plain_value(value: float | np.floating | None) -> float | None: ...
@overload
def plain_value(value: object) -> PlainValue: ...
def plain_value(value: object) -> PlainValue:
    """A number, string, bool or None; missing values become None.

    Parameters
    ----------
    value : object
        A cell.

    Returns
    -------
    object
        Ready for JSON.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)  # of numpy's texts the plain one, which is shown without its type
    value = python_value(value)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if pd.isna(value):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


def plain_row(row: pd.Series) -> dict[str, PlainValue]:
    """Column names to plain values.

    Parameters
    ----------
    row : Series
        A row.

    Returns
    -------
    dict of str to object
        Ready for JSON.
    """
    return {str(column): plain_value(value) for column, value in row.items()}


def dump(document: JSONObject) -> str:
    """Strict JSON, one line, the same bytes for the same content.

    Parameters
    ----------
    document : dict of str to object
        Plain values.

    Returns
    -------
    str
        One line, without a line break.
    """
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
