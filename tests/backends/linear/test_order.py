"""Which sets come first, and sums beyond the largest float."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from backends.linear.test_solver import explain, linear_model

from sev.backends.linear._solver import solve_additive
from sev.search import Limits, Problem, unpack


def make_problem(weights, intercept, n_rows=1, **limits):
    n = len(weights)

    def evaluate(rows, sets):
        return np.where(sets, 0.0, 1.0) @ weights + intercept

    return Problem(
        kind="minus", direction=-1, low=-1e-12, high=1e-12, queries=np.ones((n_rows, n)), reference=np.zeros(n),
        column_feature=np.arange(n), active=np.ones((n_rows, n), dtype=bool), evaluate=evaluate,
        is_across=lambda scores: scores < 0, across_sign=-1, limits=Limits(**limits),
    )  # fmt: skip


def solve(problem, weights, intercept):
    solution = solve_additive(problem, np.array(weights), intercept, 2.3e-16)
    return [tuple(np.flatnonzero(bits).tolist()) for bits in unpack(solution.masks, len(weights))], solution


@pytest.mark.parametrize("weights", [
    [1.0, 4.0, 3.0, 2.0, 1.0, 4.0], [1.0] * 8, [0.1, 0.2, 0.3, 0.4, 0.3, 0.2, 0.1], [2.0, 1.0, 2.0, 1.0, 3.0, 3.0],
])  # fmt: skip
@pytest.mark.parametrize("most", [1, 2, 5, 1000])
def test_equal_margins_are_in_the_order_of_the_features(weights, most):
    intercept = -0.45 * sum(weights)
    start = sum(weights) + intercept
    for size in range(1, len(weights) + 1):
        margins = {
            some: round(start - sum(weights[at] for at in some), 9) for some in combinations(range(len(weights)), size)
        }
        crossing = sorted((margin, some) for some, margin in margins.items() if margin < 0)
        if crossing:
            break
    problem = make_problem(np.array(weights), intercept, max_sets=most)
    sets, solution = solve(problem, weights, intercept)
    assert sets == [some for _, some in crossing[:most]]
    assert bool(solution.complete[0]) == (len(crossing) <= most)
    first, _ = solve(replace(problem, limits=Limits(max_sets=most, first_only=True)), weights, intercept)
    assert first == sets[:1]


def test_terms_beyond_the_largest_float_are_left_to_the_model():
    """The weight times the value is infinite, in the model as well: changing that feature is what matters."""
    model = linear_model([1e200, 1.0, 1.0], -1.0)
    for query, reference, size in (([1e200, 1.0, 1.0], [-1.0, 0.0, 0.0], 1), ([1.0, 1.0, 1.0], [-1e200, 0.0, 0.0], 1)):
        with np.errstate(over="ignore"):
            one = explain(model, query, reference)
        assert (one.status, one.size) == ("optimal", size)
        assert one.features == ("x0",)


def test_a_sum_of_finite_terms_beyond_the_largest_float():
    model = linear_model([1.0, 1.0, 1.0], 0.0)
    with np.errstate(over="ignore"):
        one = explain(model, [1.5e308, 1.5e308, 1.0], [-1.7e308, 0.0, 0.0])
    assert (one.status, one.size) == ("optimal", 1)
    assert set(one.sets) == {("x0",)}


def test_other_rows_of_the_batch_are_still_solved_as_sums():
    weights = np.array([1e200, 1.0, 2.0])
    problem = make_problem(weights, -0.5, n_rows=2)
    queries = np.array([[1e200, 1.0, 1.0], [0.0, 1.0, 1.0]])

    def evaluate(rows, sets):
        with np.errstate(over="ignore"):
            return np.clip(np.where(sets, 0.0, queries[rows]) @ weights - 0.5, -1e300, 1e300)

    asked = []
    solution = solve_additive(
        replace(problem, queries=queries, evaluate=lambda rows, sets: asked.extend(rows) or evaluate(rows, sets)),
        weights, -0.5, 2.3e-16,
    )  # fmt: skip
    assert solution.sizes().tolist() == [3, 2]
    assert set(asked) == {0}
