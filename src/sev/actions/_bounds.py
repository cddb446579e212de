"""Limits of a number: absolute bounds, or a change from the query's own value."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from sev.exceptions import InputError
from sev.typing import FloatArray, Parsed

_CHANGE = re.compile(r"\s*([+-])\s*(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?\s*(%?)\s*")


@dataclass(frozen=True)
class Between:
    """Absolute bounds; make one with :func:`sev.between`.

    Parameters
    ----------
    low, high : float
        Both are permitted themselves; an infinite one is no bound.
    """

    low: float
    high: float

    def limits(self, old: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest permitted value of each row.

        Parameters
        ----------
        old : ndarray of float64
            The values of the rows.

        Returns
        -------
        tuple of ndarray of float64, ndarray of float64
            The two bounds, the same for every row.
        """
        return np.full(len(old), self.low), np.full(len(old), self.high)

    def to_plain(self) -> dict[str, list[float | None]]:
        """As YAML has it.

        Returns
        -------
        dict
            A mapping with the key ``between``.
        """
        return {"between": [plain_number(one) if math.isfinite(one) else None for one in (self.low, self.high)]}

    def __str__(self) -> str:
        low, high = self.to_plain()["between"]
        return f"between({low}, {high})"


def between(low: float | None, high: float | None) -> Between:
    """Absolute bounds of a number, for ``within`` of :class:`sev.Actions`.

    Parameters
    ----------
    low, high : float or None
        Both are permitted themselves; None is no bound.

    Returns
    -------
    Between
        The bounds.

    Raises
    ------
    InputError
        If a bound is not a number, or ``low`` is above ``high``.

    Examples
    --------
    >>> import sev
    >>> sev.Actions(within={"duration": sev.between(6, 48)}).within["duration"]
    Between(low=6.0, high=48.0)
    """
    ends = []
    for one, missing in ((low, -math.inf), (high, math.inf)):
        if one is not None and (isinstance(one, bool) or not isinstance(one, (int, float, np.number))):
            raise InputError(f"between({low!r}, {high!r}): {one!r} is not a number; use None where there is no bound.")
        ends.append(missing if one is None else float(one))
    if math.isnan(ends[0]) or math.isnan(ends[1]):
        raise InputError(f"between({low!r}, {high!r}): NaN is not a bound; use None where there is none.")
    if ends[0] > ends[1]:
        raise InputError(f"between({low!r}, {high!r}) holds no value: write between({high!r}, {low!r}).")
    return Between(*ends)


@dataclass(frozen=True)
class Shift:
    """How far a number may move from the query's own value.

    Parameters
    ----------
    amount : float
        Positive is upward.
    relative : bool
        Whether the amount is a share of the query's value, by its size: -0.2 of -100 is down to -120.
    """

    amount: float
    relative: bool

    def applied(self, old: FloatArray) -> FloatArray:
        """The furthest permitted value of each row."""
        return old + self.amount * np.abs(old) if self.relative else old + self.amount

    def __str__(self) -> str:
        amount = plain_number(round(self.amount * 100, 10) if self.relative else self.amount)
        sign = f"{math.copysign(1.0, self.amount):+}"[0]
        return f"{sign}{abs(amount)}{'%' if self.relative else ''}"


@dataclass(frozen=True)
class Shifts:
    """A number may move from the query's value by no more than this, downward and upward.

    Parameters
    ----------
    low, high : Shift
        The furthest change downward and upward.
    """

    low: Shift
    high: Shift

    def limits(self, old: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest permitted value of each row; NaN where the query's value is missing.

        Parameters
        ----------
        old : ndarray of float64
            The values of the rows.

        Returns
        -------
        tuple of ndarray of float64, ndarray of float64
            The two bounds.
        """
        return self.low.applied(old), self.high.applied(old)

    def to_plain(self) -> list[str]:
        """As YAML has it.

        Returns
        -------
        list of str
            Such as ``["-20%", "+0%"]``.
        """
        return [str(self.low), str(self.high)]

    def __str__(self) -> str:
        return f"({str(self.low)!r}, {str(self.high)!r})"


def read_limits(name: str, given: Parsed) -> Between | Shifts:
    """An entry of ``within``: bounds, a mapping with ``between``, or a pair of changes."""
    if isinstance(given, (Between, Shifts)):
        return given
    if isinstance(given, Mapping) and set(given) == {"between"} and _is_pair(given["between"]):
        return between(*given["between"])
    if not _is_pair(given):
        raise InputError(
            f"within[{name!r}] is {given!r}: give sev.between(low, high), or a pair of changes such as "
            "('-20%', '+0%') or ('-500', '+500')."
        )
    if not all(isinstance(one, str) for one in given):
        low, high = given
        raise InputError(
            f"within[{name!r}] is {tuple(given)!r}, which may mean bounds or a change: write sev.between({low!r}, "
            f"{high!r}) for bounds, or text such as ('-500', '+500') for a change from the query's value."
        )
    low, high = (_read_shift(name, one) for one in given)
    if low.relative == high.relative and low.amount > high.amount:
        raise InputError(f"within[{name!r}]: from {given[0]!r} to {given[1]!r} holds no value: swap the two.")
    return Shifts(low, high)


def _read_shift(name: str, text: str) -> Shift:
    match = _CHANGE.fullmatch(text)
    if match is None:
        raise InputError(
            f"within[{name!r}]: {text!r} is not a change: write a sign and a number, such as '-20%' or '+500'."
        )
    sign, digits, exponent, percent = match.groups()
    amount = float(f"{sign}{digits}e{exponent or 0}")
    return Shift(amount / 100 if percent else amount, bool(percent))


def _is_pair(value: Parsed) -> TypeGuard[Sequence[Parsed]]:
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2


def plain_number(value: float) -> int | float:
    """An integer where the value is one, so that files read 6 and not 6.0."""
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
