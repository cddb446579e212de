"""What counts as one feature."""

import numpy as np
import pandas as pd
import pytest

from sev.exceptions import InputError, UnknownFeatureError
from sev.space import FeatureSpace


def dummies(n=200, drop_first=False):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "marital_status": rng.choice(["never_married", "married", "divorced"], n),
            "home": rng.choice(["own", "rent", "free"], n),
            "has_car": rng.integers(0, 2, n),
            "has_boat": rng.integers(0, 2, n),
        }
    )
    return pd.get_dummies(frame, columns=["marital_status", "home"], drop_first=drop_first)


@pytest.mark.parametrize("drop_first", [False, True])
@pytest.mark.parametrize("dtype", [bool, float])
def test_dummies_of_pandas_are_one_feature(drop_first, dtype):
    frame = dummies(drop_first=drop_first)
    blocks = [c for c in frame.columns if c.startswith(("marital", "home"))]
    space = FeatureSpace.of(frame.astype(dict.fromkeys(blocks, dtype)))
    assert space.names == ("age", "has_car", "has_boat", "marital_status", "home")


def test_columns_that_only_share_a_prefix_stay_apart():
    frame = pd.DataFrame(
        {"has_car": [1, 1, 0, 0], "has_boat": [0, 1, 0, 1], "juv_fel": [0, 1, 2, 0], "juv_misd": [1, 0, 0, 2]}
    )
    assert FeatureSpace.of(frame).names == ("has_car", "has_boat", "juv_fel", "juv_misd")


def test_rare_flags_that_never_met_stay_apart():
    frame = pd.DataFrame({"flag_a": [1] + [0] * 99, "flag_b": [0] * 99 + [1], "x": range(100)})
    assert FeatureSpace.of(frame).names == ("flag_a", "flag_b", "x")


def test_values_with_underscores_keep_their_block_whole():
    frame = pd.get_dummies(
        pd.DataFrame({"job": ["blue_collar", "blue_sky", "white_collar", "none"] * 5, "x": range(20)})
    )
    assert FeatureSpace.of(frame).names == ("x", "job")


def test_groups_come_first_and_take_positions():
    frame = dummies()
    space = FeatureSpace.of(
        frame, {"vehicles": ["has_car", "has_boat"], "home": [c for c in frame if c.startswith("home")]}
    )
    assert space.names == ("age", "vehicles", "marital_status", "home")
    array = pd.DataFrame(np.zeros((3, 3)), columns=["x0", "x1", "x2"])
    assert FeatureSpace.of(array, {"pair": [0, 2]}).names == ("pair", "x1")


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ({"g": ["agee"]}, UnknownFeatureError, "did you mean 'age'"),
        ({"g": ["age"], "h": ["age"]}, InputError, "two groups"),
        ({"g": "age"}, InputError, "list of columns"),
        ({"has_car": ["age"]}, InputError, "another name"),
    ],
)
def test_groups_that_cannot_be(groups, error, message):
    with pytest.raises(error, match=message):
        FeatureSpace.of(dummies(), groups)


def test_select_by_feature_or_column_name():
    space = FeatureSpace.of(dummies())
    assert space.select(["home"]).tolist() == [False, False, False, False, True]
    assert space.select(["home_own", "age"]).tolist() == [True, False, False, False, True]
    with pytest.raises(UnknownFeatureError, match="did you mean 'home'"):
        space.select(["hom"])
    with pytest.raises(InputError, match=r"\['age'\]"):
        space.select("age")
