"""CatBoost's binary format: a flat buffer with the trees, read here far enough to check every number that is followed.

CatBoost checks that the buffer itself is well formed, but not that trees ask for splits and leaves that exist.
"""

from __future__ import annotations

import struct

import numpy as np

from sev.exceptions import ArchiveError
from sev.libraries.catboost.flatbuffer import Table
from sev.libraries.catboost.statistics import check_statistics

_MAGIC = b"CBM1"
_MOST_FEATURES = 10_000_000
_DEEPEST = 16
# numbers of the fields, as CatBoost's schema lists them
_CORE_TREES, _CORE_PARTS = 1, 3
_DIMENSION, _SPLITS, _SIZES, _OFFSETS = 0, 1, 2, 3
_CAT_FEATURES, _FLOAT_FEATURES, _ONE_HOT, _CTR = 4, 5, 6, 7
_LEAF_VALUES, _LEAF_WEIGHTS, _STEPS, _LEAF_OF_NODE = 8, 9, 10, 11
_TEXT_FEATURES, _ESTIMATED = 14, 15
_FLOAT_INDEX, _FLOAT_FLAT_INDEX, _FLOAT_BORDERS = 1, 2, 3
_CAT_INDEX, _CAT_FLAT_INDEX = 0, 1
_ONE_HOT_INDEX, _ONE_HOT_VALUES = 0, 1


def check_bytes(data: bytes) -> None:
    """Refuse a CatBoost binary model that is cut off, or whose trees ask for what does not exist."""
    if data[:4] != _MAGIC or len(data) < 8 + int.from_bytes(data[4:8], "little"):
        raise ArchiveError("The CatBoost model is cut off, or is not a CatBoost binary model.")
    end = 8 + int.from_bytes(data[4:8], "little")
    core = data[8:end]
    try:
        root = Table.root(core)
        trees = root.table(_CORE_TREES)
        if trees is None:
            raise ArchiveError("The CatBoost model has no trees.")
        n_splits = _check_features(trees)
        n_numbers, n_categories = len(trees.tables(_FLOAT_FEATURES)), len(trees.tables(_CAT_FEATURES))
        n_splits += check_statistics(trees.tables(_CTR), root.texts(_CORE_PARTS), data[end:], n_numbers, n_categories)
        _check_trees(trees, n_splits)
    except ArchiveError:
        raise
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise ArchiveError(f"The CatBoost model is damaged: {error}.") from error


def _check_features(trees: Table) -> int:
    """Number of splits on numbers and categories that trees may name; features must have places in the rows."""
    floats, cats = trees.tables(_FLOAT_FEATURES), trees.tables(_CAT_FEATURES)
    n_flat = len(floats) + len(cats) + len(trees.tables(_TEXT_FEATURES))
    n_flat = max(n_flat, *(one.integer(_FLOAT_FLAT_INDEX, -1) + 1 for one in floats), 1)
    if n_flat > _MOST_FEATURES:
        raise ArchiveError("The CatBoost model has too many features.")
    _check_places(floats, _FLOAT_INDEX, _FLOAT_FLAT_INDEX, "numbers")
    _check_places(cats, _CAT_INDEX, _CAT_FLAT_INDEX, "categories")
    n_splits = 0
    for one in floats:
        borders = one.vector(_FLOAT_BORDERS, "<f4")
        if np.isnan(borders).any() or (np.diff(borders) <= 0).any():
            raise ArchiveError("The CatBoost model has borders that are not in order.")
        n_splits += len(borders)
    known = {one.integer(_CAT_INDEX, -1) for one in cats}
    for one in trees.tables(_ONE_HOT):
        if one.integer(_ONE_HOT_INDEX, -1) not in known:
            raise ArchiveError("The CatBoost model refers to a category that does not exist.")
        n_splits += len(one.vector(_ONE_HOT_VALUES, "<i4"))
    if trees.tables(_ESTIMATED):
        raise ArchiveError("The CatBoost model computes features from texts or embeddings, which cannot be checked.")
    return n_splits


def _check_places(features: list[Table], index: int, flat_index: int, what: str) -> None:
    places = [one.integer(index, -1) for one in features]
    flat = [one.integer(flat_index, -1) for one in features]
    if sorted(places) != list(range(len(places))) or any(not 0 <= one < _MOST_FEATURES for one in flat):
        raise ArchiveError(f"The CatBoost model has {what} beyond its number of columns.")
    if len(set(flat)) != len(flat):
        raise ArchiveError(f"The CatBoost model has {what} twice.")


def _check_trees(trees: Table, n_splits: int) -> None:
    dimension = trees.integer(_DIMENSION, 0)
    splits, sizes = trees.vector(_SPLITS, "<i4").astype(np.int64), trees.vector(_SIZES, "<i4").astype(np.int64)
    starts = trees.vector(_OFFSETS, "<i4").astype(np.int64)
    n_values = len(trees.vector(_LEAF_VALUES, "<f8"))
    fits = 0 < dimension < _MOST_FEATURES and (sizes >= 0).all() and sizes.sum() == len(splits)
    if not fits or not np.array_equal(starts, np.cumsum(sizes) - sizes):
        raise ArchiveError("The CatBoost model has trees whose sizes are not the declared ones.")
    steps = trees.vector(_STEPS, "<u4")
    if not len(steps):
        if (sizes > _DEEPEST).any() or (dimension * (1 << sizes)).sum() != n_values:
            raise ArchiveError("The CatBoost model has trees whose sizes do not match their leaves.")
        if ((splits < 0) | (splits >= n_splits)).any():
            raise ArchiveError("The CatBoost model has a tree that refers to a split that does not exist.")
        return
    _check_steps(steps, trees.vector(_LEAF_OF_NODE, "<u4").astype(np.int64), starts, sizes, dimension, n_values)
    inner = steps != 0
    if ((splits < -1) | (splits >= n_splits)).any() or (splits[inner] < 0).any():
        raise ArchiveError("The CatBoost model has a tree that refers to a split that does not exist.")


def _check_steps(
    steps: np.ndarray, leaves: np.ndarray, starts: np.ndarray, sizes: np.ndarray, dimension: int, n_values: int
) -> None:
    """Trees that are not symmetric: each node says how far on its children stand."""
    if len(steps) != sizes.sum() or len(leaves) != len(steps):
        raise ArchiveError("The CatBoost model has trees whose sizes are not the declared ones.")
    ends = np.repeat(starts + sizes, sizes)
    place = np.arange(len(steps))
    for step in (steps & 0xFFFF, steps >> 16):
        if (place + step.astype(np.int64) >= ends).any():
            raise ArchiveError("The CatBoost model has a tree that refers to a node that does not exist.")
    stops = ((steps & 0xFFFF) == 0) | ((steps >> 16) == 0)  # a node may be a leaf on one side
    if (leaves[stops] + dimension > n_values).any() or (leaves[stops] % dimension != 0).any():
        raise ArchiveError("The CatBoost model has a tree whose leaves do not exist.")
