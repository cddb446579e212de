"""Tables as CSV files: the same bytes every time, and nothing in them that a spreadsheet would run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sev._spreadsheet import csv_line, escape_formula
from sev.core import plain_value


def to_csv(table: pd.DataFrame) -> str:
    """A table as CSV text with line feeds, numbers to twelve figures, missing values empty."""
    rows = zip(*(table[column].tolist() for column in table.columns), strict=True)
    head = csv_line(escape_formula(str(column)) for column in table.columns)
    return head + "".join(csv_line(map(_make_cell, row)) for row in rows)


def figure(number: float | None) -> float | None:
    """A score to twelve figures: what lies beyond depends on how many rows were asked for at once."""
    if number is None or not np.isfinite(number):
        return None
    return float(f"{number:.12g}")


def _make_cell(value: object) -> str:
    plain = plain_value(value)
    if plain is None:
        return ""
    if isinstance(plain, str):
        return escape_formula(plain)
    return f"{plain:.12g}" if isinstance(plain, float) else str(plain)
