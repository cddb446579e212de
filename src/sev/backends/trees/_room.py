"""Kernels that make room. numba compiles ``np.empty`` anew for each way to call it: here each is called in one way."""

from __future__ import annotations

from typing import Any

import numpy as np

from sev.kernels.source import njit


@njit()
def unset(n: int) -> Any:
    """``n`` whole numbers, not set: room of which most rows need little is not touched before it is used."""
    return np.empty(n, dtype=np.int64)


@njit()
def ints(n: int) -> Any:
    """``n`` whole numbers, all zero."""
    made = unset(n)
    for i in range(n):
        made[i] = 0
    return made


@njit()
def floats(n: int) -> Any:
    """``n`` numbers, not set."""
    return np.empty(n, dtype=np.float64)


@njit()
def table(n_rows: int, n_columns: int) -> Any:
    """A matrix of numbers, not set."""
    return np.empty((n_rows, n_columns), dtype=np.float64)


@njit()
def flags(n: int) -> Any:
    """``n`` truths, all False."""
    made = np.empty(n, dtype=np.bool_)
    for i in range(n):
        made[i] = False
    return made
