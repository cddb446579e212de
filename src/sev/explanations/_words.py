"""Explanations as plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import pandas as pd

from sev.explanations._status import Status

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation


def format_value(value: Any) -> str:
    """A value as people write it: no needless digits, missing values by name."""
    if value is None or (not isinstance(value, (list, tuple)) and pd.isna(value)):
        return "missing"
    if isinstance(value, bool) or not isinstance(value, Real):
        return str(value)
    number = float(value)
    if number.is_integer() and abs(number) < 1e15:
        return f"{int(number)}"
    return f"{number:.2f}" if 0.1 <= abs(number) < 1e6 else f"{number:.3g}"


def join_words(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def sentence(one: Explanation) -> str:
    """One explanation, as a person would say it."""
    if one.status is Status.NOT_TARGET:
        return f"Not predicted {one.target!r} ({_compare(one, 'below')}): there is nothing to explain."
    if one.status is Status.ERROR:
        return f"No explanation: {one.reason}."
    if one.size is None:
        return _without_set(one)
    if one.kind == "minus":
        text = (
            f"Predicted {one.target!r} ({_compare(one, 'at least')}) because {_values(one, one.query, 'is')}. "
            f"Had {_values(one, one.reference, 'been')}, with all else equal, "
            f"the prediction would not have been {one.target!r}."
        )
    elif one.size == 0:
        text = f"The reference is itself predicted {one.target!r}: no feature of this row is needed."
    else:
        text = (
            f"{_values(one, one.query, 'is')}: this alone would get the reference row predicted {one.target!r} "
            f"({_compare(one, 'at least')} for this row)."
        )
    return text + _others(one)


def _others(one: Explanation) -> str:
    text = ""
    if len(one.sets) > 1:
        more = "" if one.sets_complete else "at least "
        other = len(one.sets) - 1
        verb, plural = ("is", "") if other == 1 else ("are", "s")
        text += f" There {verb} {more}{other} other set{plural} of this size."
    if one.status is Status.FEASIBLE:
        text += f" A smaller set was not ruled out: at least {one.lower_bound} are needed."
    return text


def _without_set(one: Explanation) -> str:
    predicted = f"Predicted {one.target!r} ({_compare(one, 'at least')})"
    without = f" without using {join_words(one.restricted)}" if one.restricted else ""
    if one.status is Status.UNEXPLAINABLE:
        return f"{predicted}; no change to the reference's values undoes that{without}."
    return (
        f"{predicted}; the search stopped before it found an explanation, which would need at least "
        f"{one.lower_bound} feature{'s' if one.lower_bound != 1 else ''}."
    )


def _compare(one: Explanation, how: str) -> str:
    return f"score {one.score:.3g}, {how} {one.threshold:.3g}"


def _values(one: Explanation, row: pd.Series, verb: str) -> str:
    parts = []
    for feature in one.features:
        columns = one.columns[feature]
        if len(columns) == 1:
            parts.append(f"{feature} {verb} {format_value(row[columns[0]])}")
        else:
            parts.append(f"{feature} {verb} {_block_value(row, columns)}")
    return join_words(parts)


def _block_value(row: pd.Series, columns: Sequence[Any]) -> str:
    """The value of several columns: of a one-hot block the name of the column that is 1."""
    values = [row[column] for column in columns]
    ones = [column for column, value in zip(columns, values, strict=True) if value == 1]
    if len(ones) == 1 and all(value in (0, 1) for value in values):
        return str(ones[0])
    return "(" + ", ".join(f"{c} {format_value(v)}" for c, v in zip(columns, values, strict=True)) + ")"
