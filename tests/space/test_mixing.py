"""Which features differ between a row and its reference."""

import numpy as np
import pandas as pd
import pytest

from sev.space import FeatureSpace, TableForm, differing_features


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
    differs = differing_features(
        TableForm.of(frame), space, frame, frame.iloc[[reference]], np.zeros(4, dtype=np.int64)
    )
    kinds = np.array([0, 1, 2, 0])
    np.testing.assert_array_equal(differs[:, 0], kinds != kinds[reference])
