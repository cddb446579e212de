"""References made from another: with some values given, or the best of several rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from sev.core import suggest_name
from sev.exceptions import InputError, UnknownFeatureError
from sev.references._assign import AssignNearest
from sev.references._distance import Distance
from sev.references._protocol import Background, FittedReference
from sev.typing import Cell, ColumnLabel

if TYPE_CHECKING:
    from sev.references import ReferenceLike


@dataclass(frozen=True)
class Partial:
    """Another reference with some of its values replaced: "like the typical row, but aged 40".

    Parameters
    ----------
    values : mapping of column to value
        The values to replace.
    over : reference, default="auto"
        The reference that the others are taken from.

    Raises
    ------
    UnknownFeatureError
        When it is fitted, if the rows do not have one of the columns.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> aged = sev.references.Partial({"age": 50}, over="mean")
    >>> sev.Explainer(explainer.model, X, y, reference=aged).reference["age"].tolist()
    [50]
    """

    values: Mapping[ColumnLabel, Cell]
    over: ReferenceLike = "auto"

    def fit(self, background: Background) -> FittedReference:
        """Fit the other reference and replace values in its rows.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        FittedReference
            The rows of the other reference, with the values replaced.

        Raises
        ------
        UnknownFeatureError
            If the rows do not have one of the columns.
        """
        from sev.references import as_reference

        for column in self.values:
            if column not in background.form.columns:
                raise UnknownFeatureError(
                    f"reference names the column {column!r}, which the rows do not have"
                    f"{suggest_name(column, background.form.columns)}"
                )
        fitted = as_reference(self.over).fit(background)
        cells = [{**row, **self.values} for row in fitted.rows.to_dict("records")]
        frames = [background.form.one_row(row, what="reference") for row in cells]
        rows = pd.concat(frames, ignore_index=True)
        given = ", ".join(f"{column} {value}" for column, value in self.values.items())
        return replace(fitted, rows=rows, name=f"{fitted.name} with {given}")


@dataclass(frozen=True)
class Best:
    """Compares each query with every row of another reference and keeps the smallest explanation: proven over all rows.

    Of equally small explanations, the one with the reference row nearest to the query is kept if it is among them, else
    the one with the first row. The same holds with ``values="typical"``, and for the least cost. ``time_limit`` and
    ``max_predictions`` of a call hold for each comparison, and once more for the explanation that is kept.

    Parameters
    ----------
    reference : reference
        One with several rows, such as ``Clusters(5)``.

    Raises
    ------
    InputError
        When it is fitted, if the other reference has more rows than can be compared with each query.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> best = sev.Explainer(explainer.model, X, y, reference=sev.references.Best(sev.references.Nearest(k=2)))
    >>> best.explain(X).mean_size()
    1.3333333333333333
    """

    reference: ReferenceLike

    def fit(self, background: Background) -> FittedReference:
        """Fit the other reference.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        FittedReference
            The rows of the other reference, with all of them for each query.

        Raises
        ------
        InputError
            If it has more rows than can be compared with each query.
        """
        from sev.references import as_reference

        fitted = as_reference(self.reference).fit(background)
        if len(fitted.rows) > 1_000:
            raise InputError(
                f"Best() would have to search {len(fitted.rows):,} reference rows for each query, more than the "
                "limit of 1,000: use Nearest(k=...) for the nearest few, or Clusters()."
            )
        if len(fitted.rows) == 1:
            return fitted
        assign = AssignNearest(distance=Distance.of(background), k=None, several=True)
        return replace(fitted, name=f"best of {len(fitted.rows)} rows ({fitted.name})", assign=assign, several=True)
