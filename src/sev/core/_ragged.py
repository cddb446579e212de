"""Lists of different lengths, one after the other in one array."""

import numpy as np

from sev.typing import FloatArray, IntArray


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


def ragged_least(values: FloatArray, owners: IntArray) -> IntArray:
    """The place of the least value of each owner that has any; of equals the first.

    Parameters
    ----------
    values : ndarray of float64
        No NaN among them.
    owners : ndarray of int64
        The owner of each value, sorted.

    Returns
    -------
    ndarray of int64
        One place for each owner, in order.
    """
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    begins = np.flatnonzero(np.diff(owners, prepend=owners[0] - 1))
    counts = np.diff(begins, append=len(values))
    is_least = np.flatnonzero(values == np.repeat(np.minimum.reduceat(values, begins), counts))
    found: IntArray = is_least[np.searchsorted(is_least, begins)]
    return found
