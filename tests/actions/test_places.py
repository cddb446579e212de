"""Where the values of rows stand among the values that a feature may take."""

import numpy as np
import pandas as pd
import pytest

from sev.actions import (
    Actions,
    BoundActions,
    ChoiceDestinations,
    ChoiceGround,
    Destinations,
    Ground,
    NumberDestinations,
)
from sev.actions._cells import find_rows
from sev.backends.free import move_rows
from sev.space import FeatureSpace


def _bound(frame, groups=None):
    """No actions on a table of one feature."""
    ground = Ground((ChoiceGround((), (), False, (None,)),))
    return BoundActions(Actions(), FeatureSpace.of(frame, groups or {}), ground)


@pytest.mark.parametrize("dtype", ["object", "str", "category"])
def test_text_is_found_in_every_kind_of_column(dtype):
    frame = pd.DataFrame({"colour": pd.Series(["red", "blue", "red", "green"] * 5, dtype=dtype)})
    choices = (("green",), ("red",))
    assert _bound(frame).places(0, frame.iloc[:4], choices).tolist() == [1, -1, 1, 0]


def test_a_missing_text_is_found():
    frame = pd.DataFrame({"colour": pd.Series(["red", None, "red", "green"] * 5, dtype="str")})
    assert _bound(frame).places(0, frame.iloc[:4], (("red",), (None,))).tolist() == [0, 1, 0, -1]


def test_one_and_true_are_two_values_in_a_column_of_objects():
    frame = pd.DataFrame({"mixed": pd.Series([1, True, "a", 1.0] * 5, dtype=object)})
    assert _bound(frame).places(0, frame.iloc[:4], ((True,), (1,))).tolist() == [1, 0, -1, 1]


def test_a_block_is_found_whatever_its_dtype():
    block = pd.DataFrame([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]] * 5, columns=["a", "b", "c"])
    choices = ((0, 1, 0), (1, 0, 0))
    for frame in (block, block.astype(float), block.astype("float32"), block.astype({"b": float})):
        bound = _bound(frame, {"block": ["a", "b", "c"]})
        assert bound.places(0, frame.iloc[:4], choices).tolist() == [1, 0, 0, -1]


def test_rows_of_numbers_move_as_rows_with_other_columns_do():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 5, size=(6, 4)).astype(float), columns=["a", "b", "c", "d"])
    space = FeatureSpace.of(frame, {"block": ["b", "d"]})
    names = [feature.columns for feature in space.features]
    n = len(frame)
    number = NumberDestinations(
        old=np.zeros(n), low=np.zeros(n), high=np.ones(n), step=None, origin=np.zeros(n),
        missing=np.zeros(n, dtype=bool), scale=1.0, weight=1.0,
    )  # fmt: skip
    choice = ChoiceDestinations(
        choices=((7.0, 8.0), (9.0, 10.0)), old=np.full(n, -1), allowed=np.ones((n, 2), dtype=bool), weight=1.0
    )
    destinations = Destinations(features=tuple(choice if len(columns) > 1 else number for columns in names))
    rows = np.array([5, 0, 0, 3])
    sets = rng.random((4, len(names))) < 0.6
    targets = np.where(sets, rng.integers(0, 2, size=sets.shape).astype(float), np.nan)
    targets[0, names.index(("a",))] = np.nan  # becomes missing
    sets[0, names.index(("a",))] = True
    moved = move_rows(frame, space, destinations, rows, sets, targets)
    wide = move_rows(frame.assign(text="x"), space, destinations, rows, sets, targets)
    pd.testing.assert_frame_equal(moved, wide.drop(columns="text"))
    assert not moved.equals(frame.iloc[rows].reset_index(drop=True))


@pytest.mark.parametrize("n_rows", [1, 5, 20_000])
def test_rows_of_numbers_are_found_among_choices(n_rows):
    known = np.array([[0.0, 1.0], [1.0, 0.0], [np.nan, 1.0], [-0.0, 2.0]])
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [np.nan, 1.0], [0.0, 2.0], [np.nan, np.nan]])
    repeated = rows[np.arange(n_rows) % 5]
    assert find_rows(known, repeated).tolist() == [[0, 0, 2, 3, -1][row % 5] for row in range(n_rows)]
    assert find_rows(known[:0], repeated).tolist() == [-1] * n_rows
