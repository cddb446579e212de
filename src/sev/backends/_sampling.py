"""Rows on which a reading of a model is put to the proof."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sev.space import is_quantity
from sev.typing import IntArray

_SPREAD = 96
_VALUES_PER_COLUMN = 256
_MOST_ROWS = 1024


def representative_rows(frame: pd.DataFrame) -> IntArray:
    """Positions of rows that show what the columns can hold: every category, extremes, missing values, and a spread.

    Chosen without chance, so that the same background always gives the same proof.

    Parameters
    ----------
    frame : DataFrame
        Background rows.

    Returns
    -------
    ndarray of int64
        Places of rows.
    """
    chosen: dict[int, None] = dict.fromkeys(np.linspace(0, len(frame) - 1, _SPREAD).astype(np.int64).tolist())
    for column in frame.columns:
        values = frame[column].reset_index(drop=True)
        missing = values.isna()
        if missing.any():
            chosen[int(missing.to_numpy().argmax())] = None
        present = values[~missing]
        if present.empty:
            continue
        if is_quantity(values.dtype):
            chosen[int(present.idxmin())] = None
            chosen[int(present.idxmax())] = None
        else:
            chosen.update(dict.fromkeys(present.drop_duplicates().index[:_VALUES_PER_COLUMN].tolist()))
    return np.array(list(chosen)[:_MOST_ROWS], dtype=np.int64)
