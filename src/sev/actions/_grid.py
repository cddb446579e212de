"""Multiples of a step, without the rounding of a product: 3 * 0.1 is 0.3 here."""

from __future__ import annotations

import math

import numpy as np

from sev.typing import FloatArray

#: A quotient nearer than this to an integer is one.
_SLACK = 1e-9


def on_grid(places: FloatArray, step: float, origin: FloatArray | float = 0.0) -> FloatArray:
    """The values at some places of the grid ``origin + place * step``.

    Parameters
    ----------
    places : ndarray of float64
        Steps from the origin.
    step : float
        Distance of the grid's values.
    origin : ndarray or float, default=0.0
        Where the grid begins.

    Returns
    -------
    ndarray of float64
        The values.
    """
    digits = max(0, 12 - math.floor(math.log10(step))) if step < 1 else 12
    values = np.round(places * step, min(digits, 300)) if not float(step).is_integer() else places * step
    grid: FloatArray = np.asarray(origin + values, dtype=np.float64)
    return grid


def first_on_grid(low: FloatArray, step: float, origin: FloatArray | float = 0.0) -> FloatArray:
    """Place of the first grid value of at least ``low``.

    Parameters
    ----------
    low : ndarray of float64
        Bound of each row.
    step : float
        Distance of the grid's values.
    origin : ndarray or float, default=0.0
        Where the grid begins.

    Returns
    -------
    ndarray of float64
        Steps from the origin.
    """
    quotient = (low - origin) / step
    return np.where(np.isfinite(quotient), np.ceil(quotient - _rounding_slack(quotient)), quotient)


def last_on_grid(high: FloatArray, step: float, origin: FloatArray | float = 0.0) -> FloatArray:
    """Place of the last grid value of at most ``high``.

    Parameters
    ----------
    high : ndarray of float64
        Bound of each row.
    step : float
        Distance of the grid's values.
    origin : ndarray or float, default=0.0
        Where the grid begins.

    Returns
    -------
    ndarray of float64
        Steps from the origin.
    """
    quotient = (high - origin) / step
    return np.where(np.isfinite(quotient), np.floor(quotient + _rounding_slack(quotient)), quotient)


def _rounding_slack(quotient: FloatArray) -> FloatArray:
    slack: FloatArray = np.asarray(_SLACK + 4 * np.finfo(np.float64).eps * np.abs(quotient))
    return np.where(np.isfinite(slack), slack, 0.0)
