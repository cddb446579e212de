"""Values as people write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal
from numbers import Real
from typing import TypedDict, Unpack

import numpy as np
import pandas as pd

from sev.typing import Cell, ColumnLabel, Row

#: From here on a float has no decimals.
_LARGE = 1e15


def format_value(
    value: Cell,
    *,
    digits: int | None = None,
    decimal: str = ".",
    thousands: str = ",",
    missing: str = "missing",
    yes_text: str = "yes",
    no_text: str = "no",
) -> str:
    """A value as people write it: no needless digits, thousands separated, a word for missing values.

    Parameters
    ----------
    value : object
        Any cell of a table.
    digits : int, default=None
        Decimals of a number; None chooses as many as its size needs.
    decimal, thousands, missing, yes_text, no_text : str
        The marks and the words of a language.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from sev.text import format_value
    >>> [format_value(value) for value in (4870.0, 12500.5, 0.04321, float("nan"), True)]
    ['4870', '12,500.50', '0.0432', 'missing', 'yes']
    """
    if value is None or (not isinstance(value, (list, tuple)) and pd.isna(value)):
        return missing
    if isinstance(value, bool | np.bool_):
        return yes_text if value else no_text
    if not isinstance(value, Real):
        return str(value)
    text = _format_number(float(value), digits)
    if (decimal, thousands) == (".", ","):
        return text
    return text.translate({ord("."): decimal, ord(","): thousands})


def _format_number(number: float, digits: int | None) -> str:
    # four figures stay together: "4870", and a year is "2024"
    comma = "," if abs(number) >= 10_000 else ""
    if digits is not None:
        return f"{number:{comma}.{digits}f}"
    if number.is_integer() and abs(number) < 1e15:
        return f"{int(number):{comma}d}"
    return f"{number:{comma}.2f}" if 0.1 <= abs(number) < 1e6 else f"{number:.3g}"


def round_inward(low: float, high: float, digits: int | None) -> tuple[float, float]:
    """The widest interval inside another whose ends :func:`format_value` writes as they are.

    Parameters
    ----------
    low : float
        The lower end.
    high : float
        The upper end.
    digits : int or None
        Digits after the point; None writes numbers as they are.

    Returns
    -------
    pair of float
        Both ends, rounded.

    Examples
    --------
    >>> from sev.text import round_inward
    >>> round_inward(0.12345, 24.6789, None)
    (0.13, 24.67)
    """
    return _round_up(low, digits), -_round_up(-high, digits)


def _round_up(number: float, digits: int | None) -> float:
    if not abs(number) < _LARGE or (digits is None and number.is_integer()):
        return number
    places = digits
    if places is None:
        places = 2 if 0.1 <= abs(number) < 1e6 else 2 - math.floor(math.log10(abs(number)))
    # as the number is written: 98765.43 is stored as a little less, but is no end to round
    written = Decimal(repr(float(number))).quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING)
    return float(written)


class Marks(TypedDict, total=False):
    """How values are written: the options of :func:`format_value`."""

    digits: int | None
    decimal: str
    thousands: str
    missing: str
    yes_text: str
    no_text: str


def block_value(feature: str, row: Row, columns: Sequence[ColumnLabel], **marks: Unpack[Marks]) -> str:
    """The value of several columns: of a one-hot block the name of the category that is 1.

    Parameters
    ----------
    feature : str
        Its name.
    row : mapping or Series
        Values by column.
    columns : sequence of object
        Columns of the feature.
    **marks
        How values are written; see :func:`format_value`.

    Returns
    -------
    str
        Such as "car (new)".

    Examples
    --------
    >>> from sev.text import block_value
    >>> block_value("home", {"home_own": 0, "home_rent": 1}, ("home_own", "home_rent"))
    'rent'
    >>> block_value("place", {"zip": 10115, "state": "BE"}, ("zip", "state"))
    '(zip 10,115, state BE)'
    """
    values = [row[column] for column in columns]
    ones = [column for column, value in zip(columns, values, strict=True) if value == 1]
    if len(ones) == 1 and all(value in (0, 1) for value in values):
        return _category_name(feature, str(ones[0]))
    cells = (f"{c} {format_value(v, **marks)}" for c, v in zip(columns, values, strict=True))
    return "(" + ", ".join(cells) + ")"


def feature_value(feature: str, row: Row, columns: Sequence[ColumnLabel], **marks: Unpack[Marks]) -> str:
    """The value of a feature as people write it, however many columns it has.

    Parameters
    ----------
    feature : str
        Name of the feature.
    row : Series or mapping
        A row that has its columns.
    columns : sequence
        The columns of the feature.
    **marks
        As for :func:`format_value`.

    Returns
    -------
    str
        A formatted number, a text, or the category of a one-hot block.
    """
    if len(columns) == 1:
        return format_value(row[columns[0]], **marks)
    return block_value(feature, row, columns, **marks)


def _category_name(feature: str, column: str) -> str:
    """The part of a column's name after its feature's: ``rent`` of ``home_rent``."""
    rest = column.removeprefix(feature)
    return rest.lstrip("_=-: .") or column if rest != column else column
