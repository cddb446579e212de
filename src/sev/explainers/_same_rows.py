"""Rows that are the same, so that they are searched once."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sev.typing import IntArray


def find_twins(queries: pd.DataFrame, assigned: IntArray) -> tuple[IntArray, IntArray]:
    """The first of each set of rows that are the same, and for each row which of these it is."""
    if len(queries) < 2:
        alone = np.arange(len(queries), dtype=np.int64)
        return alone, alone
    codes = [assigned]
    for place in range(queries.shape[1]):
        values = queries.iloc[:, place]
        # True, 1 and 1.0, and None and NaN, are different cells where a column holds objects
        cells: pd.Series | np.ndarray = values
        if values.dtype == object:
            written = [value if isinstance(value, str) else repr(value) for value in values]
            cells = pd.Series([(type(value), text) for value, text in zip(values, written, strict=True)], dtype=object)
        elif values.dtype in (np.float64, np.float32):
            cells = values.to_numpy().view(f"u{values.dtype.itemsize}")  # NaN as a value and as a missing one differ
        codes.append(pd.factorize(cells, use_na_sentinel=False)[0])
    _, first, twins = np.unique(np.column_stack(codes), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place_of = np.empty_like(order)
    place_of[order] = np.arange(len(order))
    return first[order].astype(np.int64), place_of[twins.ravel()].astype(np.int64)
