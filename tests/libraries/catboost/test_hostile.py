"""Hostile CatBoost models: what compiled code would trust blindly is refused."""

import numpy as np
import pytest
from files import zoo

from sev.exceptions import ArchiveError
from sev.files._models import model_from_bytes
from sev.libraries.catboost import flatbuffer as _flatbuffer
from sev.libraries.catboost import format as _catboost


def test_catboost_splits_that_do_not_exist_are_refused():
    model, rows, _ = zoo.fitted("catboost")
    data = model._serialize_model()
    read = model_from_bytes("catboost", data)
    np.testing.assert_array_equal(read.predict_proba(rows), model.predict_proba(rows))
    core = data[8:]
    trees = _flatbuffer.Table.root(core).table(_catboost._CORE_TREES)
    start, count = trees._find_vector(_catboost._SPLITS, 4)
    assert count == 8
    refused = 0
    for place in range(start, start + 4 * count, 4):
        for value in (10**6, -1):
            changed = bytearray(data)
            changed[8 + place : 12 + place] = value.to_bytes(4, "little", signed=True)
            with pytest.raises(ArchiveError, match="a split that does not exist"):
                model_from_bytes("catboost", bytes(changed))
            refused += 1
    assert refused == 16


def test_catboost_statistics_of_categories_are_checked():
    """Tables of hashes follow the trees: a wrong place in one reads foreign memory, a full one is searched for ever."""
    model, rows, _ = zoo.fitted("catboost with categories")
    data = model._serialize_model()
    assert b"static_provider_v1" in data
    read = model_from_bytes("catboost", data)
    np.testing.assert_array_equal(read.predict_proba(rows), model.predict_proba(rows))
    end = 8 + int.from_bytes(data[4:8], "little")
    bucket = data.index(b"\xff" * 8, end)  # an empty bucket of the first table
    wild = bytearray(data)
    wild[bucket : bucket + 12] = (7).to_bytes(8, "little") + (10**6).to_bytes(4, "little")
    full = data[:end] + data[end:].replace(b"\xff" * 8, b"\x01" * 8)
    for changed in (bytes(wild), full):
        with pytest.raises(ArchiveError, match="a table of hashes that refers to entries that do not exist"):
            model_from_bytes("catboost", changed)
    with pytest.raises(ArchiveError, match=r"cut off|after its end|damaged|leads outside"):
        model_from_bytes("catboost", data[:-5])
