"""Real rows near the query, and rows that the user gives."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from sev.exceptions import InputError
from sev.references._assign import AssignNearest
from sev.references._distance import Distance
from sev.references._protocol import Background, FittedReference
from sev.text import reference_name
from sev.typing import NativeTable


@dataclass(frozen=True)
class Nearest:
    """The real row of the other class that is nearest to the query.

    Only rows that the model also predicts as the other class take part. Numbers are compared in standard deviations of
    the background; a category, a boolean or a one-hot block counts 1 where it differs.

    Parameters
    ----------
    k : int, default=1
        Compare each query with this many rows and keep the smallest explanation: proven over all of them.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> near = sev.Explainer(explainer.model, X, y, reference=sev.references.Nearest())
    >>> near.explain_one(X.iloc[5]).reference.to_dict()
    {'debt': 2, 'late': 0, 'age': 30}
    """

    k: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise InputError(f"Nearest(k={self.k!r}): k must be an integer of at least 1.")

    def fit(self, background: Background) -> FittedReference:
        """Collect the rows.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        FittedReference
            All rows of the other class that the model predicts so.
        """
        rows = background.rows.loc[background.accepted]
        rows = rows.loc[~_is_repeated(rows)]
        names = tuple(reference_name("row", value=label) for label in rows.index.tolist())
        rows = rows.reset_index(drop=True)
        several = self.k > 1
        assign = AssignNearest(distance=Distance.of(background), k=self.k, several=several)
        name = f"best of the {self.k} nearest real rows" if several else "nearest real row to the query"
        return FittedReference(rows, name, assign, names, several)


@dataclass(frozen=True)
class Rows:
    """Rows passed by the user; each query is compared with the nearest of them.

    Parameters
    ----------
    rows : table, or array of shape (n_rows, n_columns)
        The rows, in the form that the model takes.

    Raises
    ------
    InputError
        When it is fitted, if there are no rows, or they do not have the columns of the background.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> own = sev.Explainer(explainer.model, X, y, reference=X[:2])
    >>> own.explain_one(X.iloc[5]).reference.to_dict()
    {'debt': 2, 'late': 0, 'age': 30}
    """

    rows: NativeTable

    def fit(self, background: Background) -> FittedReference:
        """Check the rows against the background's columns.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        FittedReference
            The rows.

        Raises
        ------
        InputError
            If there are none, or they do not have the columns of the background.
        """
        frame: pd.DataFrame = background.form.to_frame(self.rows, what="reference").reset_index(drop=True)
        if frame.empty:
            raise InputError("reference has no rows: pass at least one.")
        if len(frame) == 1:
            return FittedReference(frame, "given row")
        assign = AssignNearest(distance=Distance.of(background))
        return FittedReference(frame, f"nearest of {len(frame)} given rows", assign)


def _is_repeated(rows: pd.DataFrame) -> pd.Series:
    try:
        return rows.duplicated()
    except TypeError:  # cells that cannot be hashed, such as lists
        return rows.astype(str).duplicated()
