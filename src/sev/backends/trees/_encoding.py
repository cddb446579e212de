"""Rows as estimators take them, as numbers."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np
import pandas as pd

from sev.backends.trees._forest import ZERO_WIDTH
from sev.typing import Cell, FloatArray, NativeTable


def to_numbers(rows: NativeTable) -> FloatArray:
    """Numeric rows as float64; missing values become NaN."""
    if isinstance(rows, np.ndarray):
        return np.ascontiguousarray(rows, dtype=np.float64)
    if hasattr(rows, "toarray"):  # encoders of categories return sparse matrices where they hold few numbers
        return np.ascontiguousarray(rows.toarray(), dtype=np.float64)
    frame = to_frame(rows)
    if isinstance(frame, pd.DataFrame):
        return np.ascontiguousarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.ascontiguousarray(frame, dtype=np.float64)


def single_precision(rows: NativeTable) -> FloatArray:
    """Numeric rows rounded to float32, as libraries that compare in float32 see them."""
    with np.errstate(over="ignore"):  # beyond float32 the libraries say infinity too, or refuse
        return to_numbers(rows).astype(np.float32).astype(np.float64)


def with_wide_zero(rows: NativeTable) -> FloatArray:
    """Numeric rows with zero in place of numbers very close to it, as LightGBM compares them."""
    numbers = to_numbers(rows)
    return np.where(np.abs(numbers) <= ZERO_WIDTH, 0.0, numbers)


def to_frame(rows: NativeTable) -> pd.DataFrame:
    """Tables of any library as pandas; anything else as it is."""
    if isinstance(rows, pd.DataFrame | np.ndarray):
        return rows
    table = nw.from_native(rows, pass_through=True, eager_only=True)
    return table.to_pandas() if isinstance(table, nw.DataFrame) else rows


def to_codes(column: pd.Series, categories: Sequence[Cell]) -> FloatArray:
    """Place of each value in a list of categories, NaN where it is not there."""
    codes = pd.Index(list(categories)).get_indexer(pd.Index(column.astype(object)))
    return np.where(codes < 0, np.nan, codes.astype(np.float64))
