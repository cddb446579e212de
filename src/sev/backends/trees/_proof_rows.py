"""Rows on which a reading of trees goes wrong first: at thresholds, one step either side, and with missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sev.backends.trees._encoding import to_frame
from sev.typing import FloatArray, IntArray, ModelOutput, NativeTable

_ROWS = 400


def planted_rows(
    rows: NativeTable, thresholds: dict[int, FloatArray], fixed: tuple[int, ...], *, missing: bool
) -> NativeTable | None:
    """Copies of real rows with numbers planted in them.

    Parameters
    ----------
    rows : table
        Real rows, in the form that the estimator takes.
    thresholds : dict of int to ndarray
        Thresholds of each column.
    fixed : tuple of int
        Columns to leave alone.
    missing : bool
        Whether to plant missing values too.

    Returns
    -------
    table or None
        In the form of ``rows``; None when there is nothing to plant, or the form is not one that can be written to.
    """
    frame = to_frame(rows)
    # Splits between missing and present have no number beside which to plant.
    finite = {column: values[np.abs(values) < 1e37] for column, values in thresholds.items()}
    usable = {column: values for column, values in finite.items() if values.size and column not in fixed}
    if not isinstance(frame, pd.DataFrame | np.ndarray) or not len(frame) or not usable:
        return None
    rng = np.random.default_rng(0)
    columns = rng.choice(np.array(sorted(usable)), size=_ROWS)
    planted = np.empty(_ROWS)
    for at, column in enumerate(columns):
        threshold = rng.choice(usable[int(column)])
        planted[at] = _pick_neighbour(threshold, at % 5)
    if missing:
        planted[rng.random(_ROWS) < 0.15] = np.nan
    sources = rng.integers(len(frame), size=_ROWS)
    if isinstance(frame, np.ndarray):
        return _plant_array(frame[sources], columns, planted)
    return _plant_frame(frame.iloc[sources].reset_index(drop=True), columns, planted)


def _pick_neighbour(threshold: float, step: int) -> float:
    """The threshold, or a neighbour of it in double or single precision."""
    if step < 3:
        return float(np.nextafter(threshold, (-np.inf, threshold, np.inf)[step]))
    return float(np.nextafter(np.float32(threshold), np.float32(-np.inf if step == 3 else np.inf)))


def _plant_array(rows: ModelOutput, columns: IntArray, planted: FloatArray) -> ModelOutput:
    out = rows.astype(np.float64) if rows.dtype.kind in "fiub" else rows.copy()
    out[np.arange(len(out)), columns] = planted
    return out


def _plant_frame(frame: pd.DataFrame, columns: IntArray, planted: FloatArray) -> pd.DataFrame:
    frame = frame.copy(deep=False)
    for column in np.unique(columns).tolist():
        series = frame.iloc[:, column]
        if not pd.api.types.is_numeric_dtype(series.dtype):
            continue  # categories: left as they are
        values = series.to_numpy(dtype=np.float64, na_value=np.nan).copy()
        chosen = columns == column
        values[chosen] = planted[chosen]
        frame.isetitem(column, values)  # by position: names may be integers
    return frame
