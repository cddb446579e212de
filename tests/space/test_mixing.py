"""Which features differ between a row and its reference."""

import numpy as np
import pandas as pd
import pytest

from sev.space import FeatureSpace, MixedRows


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["a", None, "b", "a"]),
        pd.Series(["a", None, "b", "a"], dtype=object),
        pd.Series(["a", None, "b", "a"], dtype="string"),
        pd.Series(["a", None, "b", "a"], dtype="category"),
        pd.Series([1, None, 2, 1], dtype="Int64"),
        pd.Series([1.0, None, 2.0, 1.0]),
        pd.Series([True, None, False, True], dtype="boolean"),
    ],
    ids=lambda values: str(values.dtype),
)
@pytest.mark.parametrize("reference", [0, 1, 2])
def test_missing_is_a_value_like_another_in_every_dtype(values, reference):
    frame = values.to_frame("x")
    space = FeatureSpace.of(frame, None)
    differs = MixedRows(space, frame, frame.iloc[[reference]], np.zeros(4, dtype=np.int64)).differing()
    kinds = np.array([0, 1, 2, 0])
    np.testing.assert_array_equal(differs[:, 0], kinds != kinds[reference])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "longdouble", "Float64", "double[pyarrow]", object])
@pytest.mark.parametrize("n_rows", [2, 40])
def test_zeros_of_different_signs_are_different_cells(dtype, n_rows):
    """A model may divide by them."""
    frame = pd.DataFrame({"x": pd.Series([0.0, -0.0] * (n_rows // 2), dtype=dtype), "y": 1.0})
    space = FeatureSpace.of(frame)
    differs = MixedRows(space, frame, frame.iloc[[1]], np.zeros(n_rows, dtype=np.int64)).differing()
    assert differs[:, 0].tolist() == [True, False] * (n_rows // 2)
    assert not differs[:, 1].any()


def test_a_zero_with_a_sign_is_no_integer():
    frame = pd.DataFrame({"x": [0, 1]})
    rows = MixedRows(FeatureSpace.of(frame), frame, pd.DataFrame({"x": [-0.0]}), np.zeros(2, dtype=np.int64))
    assert rows.differing()[:, 0].tolist() == [True, True]
    assert str(rows.frame(np.array([0]), np.array([[True]]))["x"].iloc[0]) == "-0.0"
