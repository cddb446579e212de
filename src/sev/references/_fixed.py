"""A reference row that the user passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from sev.references._combined import Partial
from sev.references._nearest import Rows
from sev.references._protocol import Background, FittedReference
from sev.typing import Cell, NativeTable, Row


@dataclass(frozen=True)
class FixedRow:
    """The given row, the same for every query.

    Parameters
    ----------
    row : Series, mapping, sequence, 1-D array or table
        A value for every column of the background. A mapping with some of them takes the others from the default
        reference. With a table of several rows, each query is compared with the nearest of them.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> own = {"debt": 0, "late": 0, "age": 30}
    >>> sev.Explainer(explainer.model, X, y, reference=own).explain_one(X.iloc[4]).features
    ('debt',)
    """

    row: Row | Sequence[Cell] | NativeTable

    def fit(self, background: Background) -> FittedReference:
        """Check the row against the background's columns.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        FittedReference
            One row, or several.
        """
        columns = set(background.form.columns)
        if isinstance(self.row, Mapping) and self.row and len(set(self.row) & columns) < len(columns):
            return Partial(self.row).fit(background)
        shape: tuple[int, ...] = getattr(self.row, "shape", ())
        if len(shape) == 2 and shape[0] != 1:
            return Rows(self.row).fit(background)
        frame: pd.DataFrame = background.form.one_row(self.row, what="reference")
        return FittedReference(frame.reset_index(drop=True), "given row")
