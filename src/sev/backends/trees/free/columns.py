"""Columns of listed values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sev.typing import Cell


def as_column(values: Sequence[Cell], dtype: object) -> pd.Series:
    """A column of these values, in the dtype where it holds all of them without loss."""
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        numbers = np.array([np.nan if value is None or value is pd.NA else value for value in values], dtype=np.float64)
        if dtype.kind == "f":
            return pd.Series(numbers.astype(dtype) if (numbers.astype(dtype) == numbers).all() else numbers)
        whole = (
            np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all() and (np.abs(numbers) < 2.0**53).all()
        )
        return pd.Series(numbers.astype(dtype) if whole else numbers)
    try:
        column = pd.Series(list(values), dtype=dtype)
    except (TypeError, ValueError):
        return pd.Series(list(values))
    kept = column.isna().to_numpy() == pd.isna(pd.Series(list(values), dtype=object)).to_numpy()
    return column if kept.all() else pd.Series(list(values), dtype=object)
