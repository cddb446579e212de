"""Sets in the solution of a search, and the rows that they belong to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sev.core import Solution, Status, n_words
from sev.typing import FloatArray, IntArray


def group_by_reference(assigned: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Each reference row with the rows that are compared with it."""
    if not len(assigned):
        return
    if (assigned == assigned[0]).all():
        yield int(assigned[0]), np.arange(len(assigned), dtype=np.int64)
        return
    order = np.argsort(assigned, kind="stable")
    references, first = np.unique(assigned[order], return_index=True)
    yield from zip(references.tolist(), np.split(order, first[1:]), strict=True)


def locate_sets(solution: Solution, *, first_only: bool) -> tuple[IntArray, IntArray]:
    """The row of each set, or of each row's first set, and the place of the set."""
    if first_only:
        rows = np.flatnonzero(solution.has_set)
        return rows, solution.offsets[rows]
    rows = np.repeat(np.arange(len(solution.status), dtype=np.int64), np.diff(solution.offsets))
    return rows, np.arange(len(rows), dtype=np.int64)


def scores_of_first_sets(rows: IntArray, scores: FloatArray, n_rows: int) -> FloatArray:
    """Of the scores of each row's sets the first; NaN for rows without a set."""
    result = np.full(n_rows, np.nan)
    result[rows[::-1]] = scores[::-1]  # the first of each row is written last
    return result


def solve_with_empty_sets(n_rows: int, n_features: int) -> Solution:
    """The reference is already positive: the empty set, for every row."""
    return Solution(
        status=np.full(n_rows, Status.OPTIMAL.code, dtype=np.int8),
        lower_bound=np.zeros(n_rows, dtype=np.int64),
        offsets=np.arange(n_rows + 1, dtype=np.int64),
        masks=np.zeros((n_rows, n_words(n_features)), dtype=np.uint64),
        complete=np.ones(n_rows, dtype=np.bool_),
    )
