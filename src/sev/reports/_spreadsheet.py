"""Tables as CSV files: the same bytes every time, and nothing in them that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pandas as pd

from sev.core import plain_value

#: A cell that starts with one of these may be run as a formula (the wide forms too).
_STARTERS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def defused(text: str) -> str:
    """A text that a spreadsheet shows instead of running it.

    Examples
    --------
    >>> from sev.reports._spreadsheet import defused
    >>> defused("=1+2"), defused("-5"), defused(" @SUM(A1)"), defused("plain")
    ("'=1+2", '-5', "' @SUM(A1)", 'plain')
    """
    if text.startswith(_STARTERS) or text.lstrip().startswith(_STARTERS):
        return text if _is_number(text) else f"'{text}"
    return text


def to_csv(table: pd.DataFrame) -> str:
    """A table as CSV text with line feeds, numbers to twelve figures, missing values empty."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow([defused(str(column)) for column in table.columns])
    writer.writerows(
        [_cell(value) for value in row]
        for row in zip(*(table[column].tolist() for column in table.columns), strict=True)
    )
    return lines.getvalue()


def figure(number: Any) -> float | None:
    """A score to twelve figures: what lies beyond depends on how many rows were asked for at once."""
    if number is None or not np.isfinite(number):
        return None
    return float(f"{number:.12g}")


def _cell(value: Any) -> str:
    plain = plain_value(value)
    if plain is None:
        return ""
    if isinstance(plain, str):
        return defused(plain)
    return f"{plain:.12g}" if isinstance(plain, float) else str(plain)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and not text[:1].isspace()
