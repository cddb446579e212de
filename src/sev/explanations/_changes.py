"""What a set changes: old and new values, the range of values that would do, and the cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import pandas as pd

from sev.core import plain_value, python_value
from sev.typing import Cell, ColumnLabel, JSONObject, Parsed, PlainValue

#: For each feature its weight, and the change of a number that costs as much; None for features without numbers.
Efforts = Mapping[str, tuple[float, float | None]]


@dataclass(frozen=True)
class Interval:
    """All numbers from ``low`` to ``high``, both included; an infinite end means no bound.

    Parameters
    ----------
    low, high : float
        The ends.
    low_is_limit, high_is_limit : bool, default=False
        Whether an end is only where the permitted values end: nothing beyond it was searched.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> enough = explainer.explain_one(X.iloc[4], values="any").enough["debt"]
    >>> enough.low, enough.high
    (0.0, 3.0)
    """

    low: float
    high: float
    low_is_limit: bool = field(default=False, compare=False, repr=False, kw_only=True)
    high_is_limit: bool = field(default=False, compare=False, repr=False, kw_only=True)

    def __contains__(self, value: float) -> bool:
        return bool(self.low <= value <= self.high)

    def __str__(self) -> str:
        if math.isinf(self.low):
            return f"at most {self.high:g}" if math.isfinite(self.high) else "any"
        return f"at least {self.low:g}" if math.isinf(self.high) else f"{self.low:g} to {self.high:g}"


class Choices(tuple[Cell, ...]):
    """Some values of a feature without an order.

    Parameters
    ----------
    values : iterable
        The values.
    is_any_other : bool, default=False
        Whether they are all that are known but the row's own.

    Examples
    --------
    >>> from sev.explanations import Choices
    >>> Choices(["rent", "own"])
    ('rent', 'own')
    """

    is_any_other: bool

    def __new__(cls, values: Iterable[Cell], *, is_any_other: bool = False) -> Self:
        one = super().__new__(cls, values)
        one.is_any_other = is_any_other
        return one


#: The values of one feature that do: a range of numbers, or some choices.
EnoughValues: TypeAlias = Interval | tuple[Cell, ...]


@dataclass(frozen=True)
class Change:
    """The change of one feature.

    Parameters
    ----------
    old, new : object
        The value before and after; for a feature of several columns, a mapping from column to value.
    enough : Interval, tuple or None
        Values that are proven to be enough, as long as every other changed feature has a value that is enough for it.
        None where no such values are proven.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> explainer.explain_one(X.iloc[4]).changes["debt"]
    Change(old=6, new=1, enough=None)
    """

    old: Any
    new: Any
    enough: EnoughValues | None = None

    def to_dict(self) -> JSONObject:
        """Plain values, ready for JSON.

        Returns
        -------
        dict
            ``old``, ``new`` and ``enough``.

        Examples
        --------
        >>> explainer.explain_one(X.iloc[4]).changes["debt"].to_dict()
        {'old': 6, 'new': 1, 'enough': None}
        """
        enough = None if self.enough is None else enough_to_plain({"": self.enough})[""]
        return {"old": _value_to_plain(self.old), "new": _value_to_plain(self.new), "enough": enough}


def _value_to_plain(value: object) -> PlainValue | dict[str, PlainValue]:
    if isinstance(value, Mapping):
        return {str(name): plain_value(cell) for name, cell in value.items()}
    return plain_value(value)


def changes_between(
    before: pd.Series,
    after: pd.Series,
    features: tuple[str, ...],
    columns: Mapping[str, tuple[ColumnLabel, ...]],
    enough: Mapping[str, EnoughValues],
) -> dict[str, Change]:
    """The changes of some features between two rows, with the values of each that do where they are known."""
    return {
        name: Change(
            _read_cells(before, columns[name]),
            _read_cells(after, columns[name]),
            enough.get(name) if len(columns[name]) == 1 else None,
        )
        for name in features
    }


def enough_to_plain(enough: Mapping[str, EnoughValues]) -> JSONObject:
    """The values of features that do, ready for JSON: of a range its two ends."""
    return {
        name: [plain_value(one.low), plain_value(one.high)]
        if isinstance(one, Interval)
        else {
            "values": [plain_value(value) for value in one],
            **({"any_other": True} if getattr(one, "is_any_other", False) else {}),
        }
        for name, one in enough.items()
    }


def limits_to_plain(enough: Mapping[str, EnoughValues]) -> dict[str, list[bool]]:
    """Of ranges, which ends are only those of the permitted values."""
    return {
        name: [one.low_is_limit, one.high_is_limit]
        for name, one in enough.items()
        if isinstance(one, Interval) and (one.low_is_limit or one.high_is_limit)
    }


def enough_from_plain(
    plain: Mapping[str, Parsed], limits: Mapping[str, Parsed] | None = None
) -> dict[str, EnoughValues]:
    """Inverse of :func:`enough_to_plain` and :func:`limits_to_plain`."""
    found: dict[str, EnoughValues] = {}
    for name, one in plain.items():
        if isinstance(one, Mapping):
            found[name] = Choices(one["values"], is_any_other=one.get("any_other") is True)
            continue
        low_is_limit, high_is_limit = (limits or {}).get(name, (False, False))
        found[name] = Interval(
            float(one[0]), float(one[1]), low_is_limit=low_is_limit is True, high_is_limit=high_is_limit is True
        )
    return found


def _read_cells(row: pd.Series, columns: tuple[ColumnLabel, ...]) -> Cell:
    cells = {column: python_value(row[column]) for column in columns}
    return cells[columns[0]] if len(columns) == 1 else cells


def cost_of(changes: Mapping[str, Change], efforts: Efforts) -> float:
    """Total cost of changes: for a number its weight for each standard deviation, for anything else its weight."""
    return math.fsum(_compute_cost(change, *efforts.get(name, (1.0, None))) for name, change in changes.items())


def _compute_cost(change: Change, weight: float, scale: float | None) -> float:
    if scale is None or isinstance(change.old, Mapping) or pd.isna(change.old) or pd.isna(change.new):
        return weight
    return weight * abs(float(change.new) - float(change.old)) / scale
