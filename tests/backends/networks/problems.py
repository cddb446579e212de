"""Problems made by hand from a backend and its model, and the brute-force answer through the model's own scores."""

from __future__ import annotations

import numpy as np
from oracle import oracle_of_problem
from scipy.special import logit

from sev import Status
from sev.core import Limits, Problem, Solution, unpack


def make_problem(
    backend, score, rows, reference, *, kind="minus", groups=None, restricted=(), limits=None, threshold=0.5
):
    """A problem on encoded rows, with those rows that start on the near side.

    ``score`` maps rows (n, n_columns) to the model's own scores; ``groups`` gives the feature of each column.
    """
    groups = np.arange(rows.shape[1]) if groups is None else np.asarray(groups)
    n_features = groups.max() + 1
    reference = backend.encode(reference[None])[0]
    positive = score(rows) >= threshold
    if kind == "plus" and score(reference[None])[0] >= threshold:
        positive[:] = False
    queries = backend.encode(rows)[positive]
    differs = np.zeros((len(queries), n_features), dtype=bool)
    for column, feature in enumerate(groups):
        differs[:, feature] |= queries[:, column] != reference[column]
    differs[:, list(restricted)] = False

    def evaluate(numbers, sets):
        chosen = sets[:, groups]
        own, other = (queries[numbers], reference) if kind == "minus" else (reference, queries[numbers])
        return score(np.where(chosen, other, own))

    tolerance = backend.score_tolerance
    link = logit if backend.scores(np.zeros(1))[0] == 0.5 else lambda score: score
    return Problem(
        kind=kind,
        direction=-1 if kind == "minus" else 1,
        low=float(link(threshold - tolerance)),
        high=float(link(threshold + tolerance)),
        queries=queries,
        reference=reference,
        column_feature=groups,
        active=differs,
        evaluate=evaluate,
        is_across=lambda scores: scores < threshold if kind == "minus" else scores >= threshold,
        across_sign=-1 if kind == "minus" else 1,
        limits=limits or Limits(),
    )


def sets_of(problem: Problem, solution: Solution, row: int) -> list[tuple[int, ...]]:
    """The listed sets of a row as tuples."""
    masks = solution.masks[solution.offsets[row] : solution.offsets[row + 1]]
    return [tuple(np.flatnonzero(chosen).tolist()) for chosen in unpack(masks, problem.n_features)]


def status_of(solution: Solution, row: int) -> Status:
    """Status of a row."""
    return Status.from_code(int(solution.status[row]))


def compare_with_oracle(problem: Problem, solution: Solution) -> int:
    """Assert that all rows have the oracle's size and sets; returns how many rows there were."""
    for row in range(problem.n_rows):
        size, sets = oracle_of_problem(problem, row)
        found = sets_of(problem, solution, row)
        if size is None:
            assert status_of(solution, row) is Status.UNEXPLAINABLE
            assert solution.lower_bound[row] == problem.active[row].sum() + 1
            assert found == []
            continue
        assert status_of(solution, row) is Status.OPTIMAL
        assert solution.lower_bound[row] == size
        assert len(found) == len(set(found))
        if len(sets) <= problem.limits.max_sets:
            assert set(found) == sets
            assert solution.complete[row]
        else:
            assert set(found) < sets
            assert len(found) == problem.limits.max_sets
            assert not solution.complete[row]
    return problem.n_rows
