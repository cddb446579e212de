"""Values that a person can mean."""

from __future__ import annotations

import math

import numpy as np

from sev.typing import FloatArray

#: Of an interval, the part next to the query in which a rounder value is looked for.
_PART = 0.1
_MOST_DIGITS = 17
#: How much more than the least a rounder value may cost where the cost is what counts, as a share of the change.
_ROUNDER = 0.01


def choose_values(low: FloatArray, high: FloatArray, near: FloatArray, observed: FloatArray) -> FloatArray:
    """A value of each of some closed intervals, close to the end ``near``: an observed one, else the roundest.

    Parameters
    ----------
    low, high : ndarray of float
        The intervals; they may be unbounded at the other end.
    near : ndarray of float
        The point of each that is nearest to the query.
    observed : ndarray of float
        Sorted values that occur in the background.
    """
    width = high - low
    reach = _PART * np.where(np.isfinite(width), width, np.maximum(1.0, np.abs(near)))
    begin, end = np.maximum(low, near - reach), np.minimum(high, near + reach)
    first = np.searchsorted(observed, begin, side="left")
    last = np.searchsorted(observed, end, side="right") - 1
    found = first <= last
    chosen = np.empty(len(near))
    if found.any():
        after = np.clip(np.searchsorted(observed, near[found]), first[found], last[found])
        before = np.maximum(after - 1, first[found])
        is_nearer = np.abs(observed[before] - near[found]) <= np.abs(observed[after] - near[found])
        chosen[found] = observed[np.where(is_nearer, before, after)]
    for place in np.flatnonzero(~found).tolist():
        chosen[place] = round_within(float(begin[place]), float(end[place]), float(near[place]))
    return chosen


def round_value_by_cost(low: float, high: float, near: float, old: float) -> float:
    """The roundest value of a closed interval that costs at most 1 % more than its point nearest to the query."""
    reach = 0.0 if math.isnan(old) else _ROUNDER * abs(near - old)
    return round_within(max(low, near - reach), min(high, near + reach), near)


def round_within(low: float, high: float, near: float) -> float:
    """The number of a closed interval with the fewest decimal digits; of several, the one closest to ``near``."""
    if not low < high:
        return near
    first = math.floor(math.log10(high - low)) + 1
    for place in range(first, first - _MOST_DIGITS, -1):
        unit = 10.0 ** abs(place)
        scaled = near / unit if place >= 0 else near * unit
        for whole in sorted((math.floor(scaled), math.ceil(scaled)), key=lambda one: abs(one - scaled)):
            value = whole * unit if place >= 0 else whole / unit
            if low <= value <= high:
                return float(value)
    return near
