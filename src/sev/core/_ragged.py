"""Lists of different lengths, one after the other in one array."""

import numpy as np

from sev.typing import IntArray


def ragged_take(offsets: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Choose some of the lists ``items[offsets[i]:offsets[i + 1]]``; a list may be chosen twice.

    Parameters
    ----------
    offsets : ndarray of int64
        Where the lists begin and end.
    rows : ndarray of int64
        Which of them.

    Returns
    -------
    offsets : ndarray
        Where the chosen lists begin and end.
    items : ndarray
        The numbers of their items in the original array.
    """
    counts = offsets[rows + 1] - offsets[rows]
    ends = np.cumsum(counts)
    within = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
    return np.concatenate([[0], ends]).astype(np.int64), np.repeat(offsets[rows], counts) + within
