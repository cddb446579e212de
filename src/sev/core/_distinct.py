"""Rows of a table that are the same."""

from __future__ import annotations

import numpy as np

from sev.typing import IntArray


def distinct_rows(table: np.ndarray) -> tuple[IntArray, IntArray]:
    """The first of each kind of row, in their order, and which of these each row is.

    Rows are compared bit by bit: 0.0 and -0.0 differ, a missing value is the same as itself.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        Numbers.

    Returns
    -------
    first : ndarray of int64
        Places of rows that all differ.
    kind : ndarray of int64, shape (n_rows,)
        For each row the place in ``first`` of one that is the same.

    Examples
    --------
    >>> import numpy as np
    >>> from sev.core import distinct_rows
    >>> first, kind = distinct_rows(np.array([[1, 2], [3, 4], [1, 2]]))
    >>> first.tolist(), kind.tolist()
    ([0, 1], [0, 1, 0])
    """
    if not table.size:
        return np.arange(min(len(table), 1)), np.zeros(len(table), dtype=np.int64)
    table = np.ascontiguousarray(table)
    whole = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1]))).ravel().tolist()
    number: dict[object, int] = {}
    kind = np.array([number.setdefault(row, len(number)) for row in whole], dtype=np.int64)
    first = np.full(len(number), len(table), dtype=np.int64)
    np.minimum.at(first, kind, np.arange(len(table)))
    return first, kind
