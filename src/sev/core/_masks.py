"""Sets of features as bits: 64 features to a word."""

import numpy as np

from sev.typing import BoolArray, MaskArray


def n_words(n_features: int) -> int:
    """Words needed for one set.

    Parameters
    ----------
    n_features : int
        Number of features.

    Returns
    -------
    int
        At least 1.
    """
    return max(1, -(-n_features // 64))


def pack(sets: BoolArray) -> MaskArray:
    """Pack bool rows (n_sets, n_features) into words (n_sets, n_words).

    Parameters
    ----------
    sets : ndarray of bool
        Of shape (n_sets, n_features).

    Returns
    -------
    ndarray of uint64
        Of shape (n_sets, n_words).
    """
    n_sets, n_features = sets.shape
    words = n_words(n_features)
    padded = np.zeros((n_sets, words * 64), dtype=np.bool_)
    padded[:, :n_features] = sets
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack(masks: MaskArray, n_features: int) -> BoolArray:
    """Turn words (n_sets, n_words) back into bool rows (n_sets, n_features).

    Parameters
    ----------
    masks : ndarray of uint64
        Of shape (n_sets, n_words).
    n_features : int
        Number of features.

    Returns
    -------
    ndarray of bool
        Of shape (n_sets, n_features).
    """
    octets = np.ascontiguousarray(masks).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little", count=n_features).astype(np.bool_)
