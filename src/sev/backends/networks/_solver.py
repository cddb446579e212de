"""Exact search for networks: every set of one size, then of the next, until one crosses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sev.backends.networks._budget import Budget
from sev.backends.networks._search import Search
from sev.backends.networks._vertices import Vertices
from sev.core import Problem, Solution, SolutionBuilder, n_words
from sev.typing import FloatArray, IntArray

#: Numbers that the prepared vectors of one batch of rows may take.
_BATCH_NUMBERS = 1 << 21

#: ``make(start, end, columns, active)`` prepares the vertices of some rows.
MakeVertices = Callable[[FloatArray, FloatArray, list[IntArray], IntArray], Vertices]


def solve(problem: Problem, make: MakeVertices, numbers_per_feature: int, vertices_per_prediction: int) -> Solution:
    """Solve a problem level by level.

    Parameters
    ----------
    problem : Problem
        What to solve.
    make : callable
        Prepares the vertices of some rows.
    numbers_per_feature : int
        Numbers that are prepared for each feature of each row.
    vertices_per_prediction : int
        Vertices that cost about as much as one prediction of the model, the unit of ``max_predictions``.
    """
    builder = SolutionBuilder(problem.n_rows, n_words(problem.n_features))
    columns = [np.flatnonzero(problem.column_feature == feature) for feature in range(problem.n_features)]
    against_the_clock = problem.limits.time_limit is not None
    together = 1 if against_the_clock else max(1, _BATCH_NUMBERS // max(1, numbers_per_feature * problem.n_features))
    for rows, n_active in _split_rows(problem, together):
        if n_active == 0:
            for row in rows.tolist():
                builder.unexplainable(row, n_active=0)
            continue
        budget = Budget.of(problem.limits, n_active, vertices_per_prediction)
        active = np.nonzero(problem.active[rows])[1].reshape(len(rows), n_active)
        queries = problem.queries[rows]
        reference = np.broadcast_to(problem.reference, queries.shape)
        start, end = (queries, reference) if problem.kind == "minus" else (reference, queries)
        Search(problem, make(start, end, columns, active), rows, active, budget).run(builder)
    return builder.build()


def _split_rows(problem: Problem, together: int) -> Iterator[tuple[IntArray, int]]:
    """Rows with the same number of active features, a batch at a time."""
    counts = problem.active.sum(axis=1)
    for n_active in np.unique(counts):
        rows = np.flatnonzero(counts == n_active)
        for begin in range(0, len(rows), together):
            yield rows[begin : begin + together], int(n_active)
