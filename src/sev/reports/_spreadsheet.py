"""Tables as CSV files: the same bytes every time, and nothing in them that a spreadsheet would run."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd

from sev._spreadsheet import escape_formula
from sev.core import plain_value


def to_csv(table: pd.DataFrame) -> str:
    """A table as CSV text with line feeds, numbers to twelve figures, missing values empty."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow([escape_formula(str(column)) for column in table.columns])
    writer.writerows(
        [_cell(value) for value in row]
        for row in zip(*(table[column].tolist() for column in table.columns), strict=True)
    )
    return lines.getvalue()


def figure(number: float | None) -> float | None:
    """A score to twelve figures: what lies beyond depends on how many rows were asked for at once."""
    if number is None or not np.isfinite(number):
        return None
    return float(f"{number:.12g}")


def _cell(value: object) -> str:
    plain = plain_value(value)
    if plain is None:
        return ""
    if isinstance(plain, str):
        return escape_formula(plain)
    return f"{plain:.12g}" if isinstance(plain, float) else str(plain)
