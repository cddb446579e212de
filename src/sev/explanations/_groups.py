"""Explanations by group: who is left without a way to another decision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import pandas as pd

from sev.core import list_names, suggest_name
from sev.exceptions import InputError
from sev.typing import Cell, ColumnLabel, IntArray

if TYPE_CHECKING:
    from sev.explanations._explanations import Explanations

#: Groups of rows: a column of the rows, or one value for each row.
Groups: TypeAlias = "ColumnLabel | Sequence[Cell] | np.ndarray | pd.Series"
#: More groups than this are almost always a mistake: a column of names or amounts.
MOST_GROUPS = 50


def groups_of(many: Explanations, by: Groups) -> dict[Cell, IntArray]:
    """The rows of each group, groups in order; rows without a value are the last group, None.

    Parameters
    ----------
    many : Explanations
        The rows.
    by : column, or array-like of shape (n_rows,)
        A column of the rows, or one value for each row.

    Returns
    -------
    dict of object to ndarray of int
        Values to places of rows.

    Raises
    ------
    InputError
        If ``by`` is not a column, does not have one value per row, or has too many different values.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> many = explainer.explain(X)
    >>> groups = sev.explanations.groups_of(many, ["n", "n", "s", "s", "n", "s"])
    >>> {value: rows.tolist() for value, rows in groups.items()}
    {'n': [0, 1, 4], 's': [2, 3, 5]}
    """
    values = _values_of(many, by)
    missing = values.isna().to_numpy()
    known = values[~missing]
    kinds = (
        sorted(known.unique(), key=lambda one: (str(type(one)), one)) if _can_be_sorted(known) else list(known.unique())
    )
    if len(kinds) > MOST_GROUPS:
        raise InputError(
            f"by has {len(kinds):,} different values: groups are for columns with at most {MOST_GROUPS}, such as a "
            "region or a band of ages. Make bands of numbers with pandas.cut."
        )
    groups: dict[Cell, IntArray] = {one: np.flatnonzero((values == one).to_numpy() & ~missing) for one in kinds}
    if missing.any():
        groups[None] = np.flatnonzero(missing)
    return groups


def summary_by(many: Explanations, by: Groups) -> pd.DataFrame:
    """The summary of each group, one line each."""
    groups = groups_of(many, by)
    name = by if _is_name(by) else getattr(by, "name", None)
    lines = [many[rows].summary() for rows in groups.values()]
    index = pd.Index(list(groups), name=name, dtype=object)
    return pd.DataFrame(lines, index=index) if lines else pd.DataFrame(columns=many.summary().index, index=index)


def _values_of(many: Explanations, by: Groups) -> pd.Series:
    if _is_name(by):
        if by in many.queries.columns:
            return many.queries[by].astype(object).reset_index(drop=True)
        raise InputError(
            f"by={by!r} is not a column of the rows{suggest_name(by, many.queries.columns)} They have "
            f"{list_names(many.queries.columns, 12)}. Pass one value for each row for any other column."
        )
    values = pd.Series(list(cast("Iterable[Cell]", by)), dtype=object)
    if len(values) != len(many):
        raise InputError(f"by has {len(values):,} values for {len(many):,} rows: both must have the same length.")
    return values


def _is_name(by: Groups) -> bool:
    """Whether this is the name of a column, and not a value for each row."""
    return isinstance(by, str) or not hasattr(by, "__len__")


def _can_be_sorted(values: pd.Series) -> bool:
    try:
        sorted(values.unique(), key=lambda one: (str(type(one)), one))
    except TypeError:  # values of a kind without an order
        return False
    return True
