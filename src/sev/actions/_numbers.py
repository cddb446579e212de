"""Permitted values of a number, listed."""

from __future__ import annotations

import numpy as np

from sev.actions._destinations import NumberDestinations
from sev.actions._grid import first_on_grid, last_on_grid, on_grid
from sev.typing import BoolArray, FloatArray


def permitted_number(
    one: NumberDestinations, row: int, most: int, *, wanted: FloatArray | None = None
) -> FloatArray | None:
    """All permitted values of one row if there are no more than so many, else None; or those nearest to wanted ones.

    Parameters
    ----------
    one : NumberDestinations
        What is permitted.
    row : int
        The row.
    most : int
        How many values may be listed.
    wanted : ndarray of float, default=None
        List the permitted values next to these instead, however many there are.

    Returns
    -------
    ndarray of float64 or None
        Sorted values, or None.
    """
    low, high = one.low[row : row + 1], one.high[row : row + 1]
    if not low[0] <= high[0]:
        return np.zeros(0)
    if wanted is None and low[0] == high[0]:
        wanted = low
    if one.step is None:
        if wanted is None:
            return None
        values = wanted[(wanted >= low[0]) & (wanted <= high[0])]
    else:
        origin = one.origin[row : row + 1]
        first, last = first_on_grid(low, one.step, origin)[0], last_on_grid(high, one.step, origin)[0]
        if first > last:
            return np.zeros(0)
        if wanted is None:
            if not last - first < most:
                return None
            places = np.arange(first, last + 1)
        else:
            places = np.clip(np.round((wanted - origin) / one.step), first, last)
        values = on_grid(np.unique(places), one.step, origin)
    values = np.unique(values)
    return values[values != one.old[row]]


def grid_ends(one: NumberDestinations) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Smallest and largest permitted value of each row, and whether there is any.

    Parameters
    ----------
    one : NumberDestinations
        What a number may become.

    Returns
    -------
    tuple of ndarray of float64, ndarray of float64, ndarray of bool
        Three arrays, one entry for each row.
    """
    if one.step is None:
        return one.low, one.high, one.low <= one.high
    first, last = first_on_grid(one.low, one.step, one.origin), last_on_grid(one.high, one.step, one.origin)
    exists = first <= last
    ends = [on_grid(np.where(exists, place, 0.0), one.step, one.origin) for place in (first, last)]
    return np.where(exists, ends[0], np.inf), np.where(exists, ends[1], -np.inf), exists
