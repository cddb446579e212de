"""Rows mixed, and marks joined, by compiled code: the same as by numpy, and wrong numbers are refused."""

import numpy as np
import pytest

from sev import _native

COLUMN_FEATURE = np.array([0, 1, 1, 2, 0])


@pytest.mark.parametrize("n_references", [1, 3])
def test_mixed_rows_are_queries_with_marked_features_of_their_references(n_references):
    rng = np.random.default_rng(n_references)
    queries, references = rng.normal(size=(4, 5)), rng.normal(size=(n_references, 5))
    queries[0, 1], references[0, 3] = np.nan, -0.0
    assigned = rng.integers(0, n_references, 4)
    rows, taken = rng.integers(0, 4, 9), rng.random((9, 3)) < 0.5
    mixed = _native.mix_rows(queries, references, assigned, rows, taken, COLUMN_FEATURE)
    expected = np.where(taken[:, COLUMN_FEATURE], references[assigned[rows]], queries[rows])
    assert mixed.tobytes() == expected.tobytes()  # with the sign of zeros and the bits of missing values
    assert mixed.flags.writeable


def test_a_feature_is_marked_where_one_of_its_columns_is():
    marks = np.random.default_rng(0).random((50, 5)) < 0.2
    marked = _native.any_by_feature(marks, COLUMN_FEATURE, 4).view(bool)
    expected = [[marks[row][feature == COLUMN_FEATURE].any() for feature in range(4)] for row in range(50)]
    assert marked.tolist() == expected


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rows": np.array([2])}, "a row is out of range"),
        ({"rows": np.array([-1])}, "a row is out of range"),
        ({"rows": np.array([0, 1])}, "rows and taken must have the same length"),
        ({"assigned": np.array([0, 2])}, "the number of a reference is out of range"),
        ({"assigned": np.array([0])}, "queries and assigned must have the same length"),
        ({"references": np.zeros((2, 1))}, "the same number of columns"),
        ({"column_feature": np.array([0, 3])}, "a feature in column_feature is out of range"),
        ({"column_feature": np.array([0])}, "the same number of columns"),
    ],
)
def test_wrong_numbers_are_refused(changed, message):
    arguments = {
        "queries": np.zeros((2, 2)),
        "references": np.ones((2, 2)),
        "assigned": np.array([0, 1]),
        "rows": np.array([1]),
        "taken": np.ones((1, 2), dtype=bool),
        "column_feature": np.array([0, 1]),
    }
    assert _native.mix_rows(**arguments).tolist() == [[1.0, 1.0]]
    with pytest.raises(ValueError, match=message):
        _native.mix_rows(**{**arguments, **changed})


@pytest.mark.parametrize("column_feature", [np.array([0, 2]), np.array([-1, 0]), np.array([0])])
def test_marks_of_unknown_features_are_refused(column_feature):
    with pytest.raises(ValueError, match="column_feature"):
        _native.any_by_feature(np.ones((3, 2), dtype=bool), column_feature, 2)
