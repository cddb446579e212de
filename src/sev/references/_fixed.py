"""A reference row that the user gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from sev.references._protocol import Background, FittedReference


@dataclass(frozen=True)
class FixedRow:
    """The given row, the same for every query.

    Parameters
    ----------
    row : Series, mapping, sequence, 1-D array or table of one row
        A value for every column of the background.
    """

    row: Any

    def fit(self, background: Background) -> FittedReference:
        """Check the row against the background's columns."""
        frame: pd.DataFrame = background.form.one_row(self.row, what="reference")
        return FittedReference(frame.reset_index(drop=True), "given row")
