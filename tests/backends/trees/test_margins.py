"""The margins that a search reports beside its sets are those of the forest."""

import numpy as np
import pytest
from backends.trees.models import CASES, fitted
from backends.trees.problems import make_problem, own_scores, read, take
from backends.trees.test_patterns import both_ways

from sev.core import Solution, unpack


def assert_margins(solution, problem, backend):
    tolerance = backend.noise + 2 * backend.own_noise
    assert np.abs(solution.query_margins - backend.margins(problem.queries)).max() <= tolerance
    rows = np.repeat(np.arange(problem.n_rows), np.diff(solution.offsets))
    sets = unpack(solution.masks, problem.n_features)[:, problem.column_feature]
    mixed = np.where(sets == (problem.kind == "minus"), problem.reference, problem.queries[rows])
    assert len(solution.set_margins) == len(rows)
    assert np.abs(solution.set_margins - backend.margins(mixed)).max(initial=0.0) <= tolerance
    return len(rows)


@pytest.mark.parametrize("kind", ["minus", "plus"])
@pytest.mark.parametrize("name", CASES)
def test_margins_of_queries_and_sets(name, kind, monkeypatch):
    case = fitted(name)
    backend = read(case.model, case.response)
    threshold = 0.0 if case.response == "decision_function" else 0.5
    scores = own_scores(case.model, case.response)(case.rows)
    positive, negative = np.flatnonzero(scores >= threshold), np.flatnonzero(scores < threshold)
    n_sets = 0
    for restricted in ((), (0, 3)):
        problem = make_problem(
            case.model, backend, take(case.rows, positive[:60]), take(case.rows, negative[[3]]), kind=kind,
            response=case.response, threshold=threshold, restricted=restricted,
        )  # fmt: skip
        if backend._solver._is_small:
            for solution in both_ways(problem, backend, monkeypatch):
                n_sets += assert_margins(solution, problem, backend)
        else:
            n_sets += assert_margins(backend.solve(problem), problem, backend)
    assert n_sets


def test_parts_and_wholes_of_a_solution_keep_the_margins():
    solution = Solution(
        status=np.zeros(3, dtype=np.int8),
        lower_bound=np.ones(3, dtype=np.int64),
        offsets=np.array([0, 2, 3, 5]),
        masks=np.arange(5, dtype=np.uint64)[:, None],
        complete=np.ones(3, dtype=np.bool_),
        query_margins=np.array([10.0, 20.0, 30.0]),
        set_margins=np.array([0.0, 1.0, 2.0, 3.0, 4.0]),
    )
    parts = [(np.array([2, 0]), solution.take(np.array([2, 0]))), (np.array([1]), solution.take(np.array([1])))]
    again = Solution.merge(parts)
    assert again.query_margins.tolist() == [10.0, 20.0, 30.0]
    assert again.set_margins.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert solution.with_errors({1: "it raises"}).set_margins.tolist() == [0.0, 1.0, 3.0, 4.0]
