"""Rows of a table that are the same."""

import numpy as np

from sev.core import distinct_rows


def test_the_first_of_each_kind_stands_for_all_of_it():
    table = np.array([[3.0, 1.0], [1.0, 2.0], [3.0, 1.0], [3.0, 2.0], [1.0, 2.0]])
    first, kind = distinct_rows(table)
    assert first.tolist() == [0, 1, 3]
    assert kind.tolist() == [0, 1, 0, 2, 1]


def test_missing_values_are_the_same_and_the_two_zeros_are_not():
    first, kind = distinct_rows(np.array([[np.nan], [0.0], [np.nan], [-0.0]]))
    assert first.tolist() == [0, 1, 3]
    assert kind.tolist() == [0, 1, 0, 2]


def test_rows_without_columns_are_all_the_same():
    assert [part.tolist() for part in distinct_rows(np.zeros((3, 0)))] == [[0], [0, 0, 0]]
    assert [part.tolist() for part in distinct_rows(np.zeros((0, 2)))] == [[], []]


def test_columns_need_not_lie_side_by_side():
    table = np.arange(12.0).reshape(3, 4)[:, ::2]
    table[2] = table[0]
    assert distinct_rows(table)[1].tolist() == [0, 1, 0]
