"""Statistics of categories in CatBoost's binary format: tables of hashes behind the trees, which CatBoost trusts."""

from __future__ import annotations

import struct
from typing import TypeAlias

import numpy as np

from sev.exceptions import ArchiveError
from sev.libraries.catboost.flatbuffer import Table

# numbers of the fields, as CatBoost's schema lists them
_CTR, _BORDERS = 0, 1
_BASE, _TARGET_BORDER = 0, 1
_COMBINATION, _KIND, _CLASSIFIER = 0, 1, 2
_CATEGORIES, _NUMBER_SPLITS, _ONE_HOT_SPLITS = 0, 1, 2
_TABLE_BASE, _HASHES, _COUNTS, _DENOMINATOR, _CLASSES = 0, 1, 2, 3, 4
_PROVIDER = b"static_provider_v1"
_BUCKET = np.dtype([("hash", "<u8"), ("place", "<u4")])
_EMPTY = 2**64 - 1
_COUNTS_BY_CLASS = (0, 1)
#: Bytes of an entry by kind: counts of each class, a mean and its count, or a count.
_ENTRY_BYTES = {2: 8, 3: 8, 4: 4, 5: 4}
#: A statistic: its kind, how it classifies, and the categories, splits of numbers and of categories that it combines.
_Key: TypeAlias = tuple[int, int, bytes, bytes, bytes]


def check_statistics(features: list[Table], parts: list[bytes], rest: bytes, n_numbers: int, n_categories: int) -> int:
    """Refuse statistics whose tables do not hold what trees ask for; returns the number of splits on them.

    Parameters
    ----------
    features : list of Table
        The statistics that trees split on.
    parts : list of bytes
        Names of what follows the trees in the file.
    rest : bytes
        What follows.
    n_numbers, n_categories : int
        Features of the rows.
    """
    if parts not in ([], [_PROVIDER]) or (rest and not parts):
        raise ArchiveError("The CatBoost model has unknown parts.")
    tables = _count_classes(rest, n_numbers, n_categories) if parts else {}
    n_splits = 0
    for one in features:
        statistic = one.table(_CTR)
        base = None if statistic is None else statistic.table(_BASE)
        if statistic is None or base is None:
            raise ArchiveError("The CatBoost model has a statistic without a name.")
        key = _read_key(base, n_numbers, n_categories)
        if key not in tables:
            raise ArchiveError("The CatBoost model has a statistic without a table.")
        border = statistic.integer(_TARGET_BORDER, 0)
        if not 0 <= border < max(tables[key], 1):
            raise ArchiveError("The CatBoost model refers to a class that does not exist.")
        n_splits += len(one.vector(_BORDERS, "<f4"))
    return n_splits


def _count_classes(rest: bytes, n_numbers: int, n_categories: int) -> dict[_Key, int]:
    """Number of classes in each table of statistics, by the statistic."""
    [count] = struct.unpack_from("<I", rest, 0)
    place, found = 4, {}
    for _ in range(count):
        [length] = struct.unpack_from("<I", rest, place)
        data = rest[place + 4 : place + 4 + length]
        if len(data) != length:
            raise ArchiveError("The CatBoost model is cut off.")
        place += 4 + length
        table = Table.root(data)
        base = table.table(_TABLE_BASE)
        if base is None:
            raise ArchiveError("The CatBoost model has a table without a name.")
        key = _read_key(base, n_numbers, n_categories)
        found[key] = _check_table(table, key[0])
    if place != len(rest):
        raise ArchiveError("The CatBoost model has data after its end.")
    return found


def _check_table(table: Table, kind: int) -> int:
    classes = table.integer(_CLASSES, 0)
    entry = 4 * classes if kind in _COUNTS_BY_CLASS else _ENTRY_BYTES[kind]
    n_bytes = len(table.vector(_COUNTS, "<u1"))
    raw = table.vector(_HASHES, "<u1")
    n_buckets = len(raw) // _BUCKET.itemsize
    fits = 0 < entry < 1 << 30 and n_bytes % entry == 0 and len(raw) == n_buckets * _BUCKET.itemsize
    # looking for a hash starts at its last bits and goes on to the first empty bucket
    if not fits or not n_buckets or n_buckets & (n_buckets - 1):
        raise ArchiveError("The CatBoost model has a table of hashes that cannot be read.")
    buckets = np.frombuffer(raw.tobytes(), dtype=_BUCKET)
    used = buckets["hash"] != _EMPTY
    if used.all() or (buckets["place"][used] >= n_bytes // entry).any():
        raise ArchiveError("The CatBoost model has a table of hashes that refers to entries that do not exist.")
    return classes if kind in _COUNTS_BY_CLASS else 0


def _read_key(base: Table, n_numbers: int, n_categories: int) -> _Key:
    """What a statistic is made from."""
    combination, kind = base.table(_COMBINATION), base.octet(_KIND, 0)
    if combination is None or kind not in (*_COUNTS_BY_CLASS, *_ENTRY_BYTES):
        raise ArchiveError("The CatBoost model has a statistic of a kind that is not known.")
    categories = combination.vector(_CATEGORIES, "<i4")
    numbers, one_hot = combination.vector(_NUMBER_SPLITS, "<u8"), combination.vector(_ONE_HOT_SPLITS, "<u8")
    for chosen, most in (
        (categories, n_categories),
        (_find_features(numbers), n_numbers),
        (_find_features(one_hot), n_categories),
    ):
        if ((chosen < 0) | (chosen >= most)).any():
            raise ArchiveError("The CatBoost model has a statistic of a feature that does not exist.")
    return kind, base.integer(_CLASSIFIER, 0), categories.tobytes(), numbers.tobytes(), one_hot.tobytes()


def _find_features(splits: np.ndarray) -> np.ndarray:
    """The features of splits, which are pairs of a feature and a value."""
    return np.frombuffer(splits.tobytes(), dtype="<i4")[::2]
