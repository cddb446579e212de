"""One reference for each value of a column."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from sev.core import suggest_name, warn_user
from sev.exceptions import InputError, PositiveReferenceError, ReferenceWarning, UnknownFeatureError
from sev.references._assign import AssignGroup
from sev.references._protocol import Assignment, Background, FittedReference, Reference
from sev.text import reference_name
from sev.typing import BoolArray, Cell, ColumnLabel

if TYPE_CHECKING:
    from sev.references import ReferenceLike
    from sev.references._protocol import Assignment


#: Columns of numbers with more different values than this are cut into intervals.
_MOST_NUMBERS = 12


@dataclass(frozen=True)
class By:
    """One reference for each value of a column: "people like you".

    A column of numbers with more than 12 different values is cut into intervals with about the same number of
    background rows. Queries whose group has no rows of the other class, and queries with a value (or a missing value)
    that no background row has, are compared with the reference of all rows; a warning names them.

    Parameters
    ----------
    column : str
        The column.
    reference : reference, default="auto"
        What each group is compared with: as for :class:`sev.Explainer`.
    bins : int, default=4
        Number of intervals of a column of numbers.

    Raises
    ------
    UnknownFeatureError
        When it is fitted, if the rows do not have the column.

    Examples
    --------
    >>> import sev
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = sev.datasets.load_german_credit()
    >>> X = data.X[["duration", "credit_amount", "people_liable"]]
    >>> model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, data.y)
    >>> explainer = sev.Explainer(model, X, data.y, reference=sev.references.By("people_liable"))
    >>> explainer.explain_one(X.iloc[1]).compared_with
    'people_liable 1'
    """

    column: ColumnLabel
    reference: ReferenceLike = "auto"
    bins: int = 4

    def __post_init__(self) -> None:
        if not isinstance(self.column, Hashable):
            raise InputError(f"By({self.column!r}): name one column.")
        if isinstance(self.bins, bool) or not isinstance(self.bins, int) or self.bins < 2:
            raise InputError(f"By({self.column!r}, bins={self.bins!r}): bins must be an integer of at least 2.")

    def fit(self, background: Background) -> FittedReference:
        """Fit one reference for each group.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        FittedReference
            One row for each group.

        Raises
        ------
        UnknownFeatureError
            If the rows do not have the column.
        InputError
            If ``bins`` is below 2.
        """
        from sev.references import as_reference

        if self.column not in background.rows.columns:
            raise UnknownFeatureError(
                f"By({self.column!r}): the rows do not have this column"
                f"{suggest_name(self.column, background.form.columns)}"
            )
        inner = as_reference(self.reference)
        values, edges = self._group_rows(background)
        parts: list[FittedReference | None] = []
        names, empty = [], []
        for name, members in self._list_members(background.rows[self.column], values, edges):
            part = _fit_if_accepted(inner, background.among(members))
            parts.append(part)
            names.append(name)
            if part is None and members.any():
                empty.append(name)
        if empty:
            warn_user(
                f"By({self.column!r}): for {', '.join(empty)} there is no background row that has the label of the "
                "other class and is predicted as that class. Rows with these values are compared with the reference of "
                "all rows.",
                ReferenceWarning,
            )
        overall = _fit_group(inner, background)
        return _put_together(self.column, values, edges, [*parts, overall], [*names, reference_name("all")])

    def _group_rows(self, background: Background) -> tuple[tuple[Cell, ...], tuple[float, ...]]:
        known = background.rows[self.column].dropna()
        different = known.drop_duplicates()
        if not background.is_quantity(self.column) or known.dtype.kind in "mM" or len(different) <= _MOST_NUMBERS:
            return tuple(sorted(different.tolist(), key=lambda value: (str(type(value)), value))), ()
        numbers = known.to_numpy(dtype=np.float64)
        cuts = np.quantile(numbers, np.arange(1, self.bins) / self.bins, method="lower")
        below = np.unique(cuts[cuts < numbers.max()])
        if not below.size:  # most rows have the largest value: a group of their own
            below = numbers[numbers < numbers.max()].max(keepdims=True)
        return (), tuple(below.tolist())

    def _list_members(
        self, column: pd.Series, values: tuple[Cell, ...], edges: tuple[float, ...]
    ) -> Iterator[tuple[str, BoolArray]]:
        """Name and background rows of each group, those with a missing value last."""
        missing = column.isna().to_numpy(dtype=bool)
        if values:
            for value in values:
                same = (column == value).to_numpy(dtype=bool, na_value=False)
                yield reference_name("equal", label=self.column, value=value), same & ~missing
        else:
            numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
            ends = [-np.inf, *edges, np.inf]
            for low, high in pairwise(ends):
                inside = (numbers > low) & (numbers <= high)
                yield _interval_name(self.column, low, high), inside & ~missing
        yield reference_name("missing", label=self.column), missing


def _fit_if_accepted(inner: Reference, group: Background) -> FittedReference | None:
    """The reference of a group; None where the model predicts none of its rows as the other class."""
    if not group.negatives.any():
        return None
    try:
        return _fit_group(inner, group)
    except PositiveReferenceError:
        return None


def _fit_group(inner: Reference, background: Background) -> FittedReference:
    fitted = inner.fit(background)
    if fitted.assign is not None and not isinstance(fitted.assign, Assignment):
        raise InputError(
            f"By() cannot group the reference {fitted.name!r}, whose rows are assigned by a function of its own: pass "
            "one of sev.references, such as Median()."
        )
    return fitted


def _put_together(
    column: ColumnLabel,
    values: tuple[Cell, ...],
    edges: tuple[float, ...],
    parts: list[FittedReference | None],
    names: list[str],
) -> FittedReference:
    """The references of all groups as one; groups without their own use the last."""
    own = [part for part in parts if part is not None]
    starts = np.cumsum([0, *(len(part.rows) for part in own)]).tolist()
    place = {id(part): start for part, start in zip(own, starts[:-1], strict=True)}
    chosen = [own[-1] if part is None else part for part in parts]
    row_names = []
    for part, name in zip(parts, names, strict=True):
        if part is not None:
            row_names += [f"{name}, {one}" for one in part.row_names] or [name] * len(part.rows)
    assign = AssignGroup(
        column=column,
        values=values,
        edges=edges,
        first=tuple(place[id(part)] for part in chosen),
        inner=tuple(cast("Assignment | None", part.assign) for part in chosen),
    )
    rows = pd.concat([part.rows for part in own], ignore_index=True)
    several = any(part.several for part in own)
    return FittedReference(rows, f"{own[-1].name} by {column}", assign, tuple(row_names), several)


def _interval_name(column: ColumnLabel, low: float, high: float) -> str:
    if np.isinf(low):
        return reference_name("at_most", label=column, last=f"{high:g}")
    if np.isinf(high):
        return reference_name("above", label=column, first=f"{low:g}")
    return reference_name("between", label=column, first=f"{low:g}", last=f"{high:g}")
