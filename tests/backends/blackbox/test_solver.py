"""Budgets, errors and honest bounds of the search that only asks the model."""

import numpy as np
import pytest

import sev
from sev.backends.blackbox._levels import subsets

N = 8


def deep(needed):
    """A model that turns negative only when at least ``needed`` features are changed."""
    return lambda rows: (rows.sum(axis=1) > N - needed).astype(float)


def explainer(score, **options):
    background = np.vstack([np.zeros(N), np.ones(N)])
    return sev.Explainer(score, background, reference=np.zeros(N), **options)


def test_finds_deep_sets_and_all_of_them():
    one = explainer(deep(5)).explain_one(np.ones(N))
    assert one.status == "optimal"
    assert one.size == one.lower_bound == 5
    assert len(one.sets) == 56
    assert one.sets_complete


@pytest.mark.parametrize("budget", [1, 5, 20, 60, 100, 130, 180, 260])
def test_a_budget_gives_bounds_that_hold(budget):
    one = explainer(deep(5)).explain_one(np.ones(N), max_predictions=budget)
    assert one.lower_bound <= 5
    assert one.size is None or one.size >= 5
    assert one.status in ("optimal", "feasible", "undecided")
    if one.size is not None:
        one.verify()
    assert (one.status == "optimal") == (one.size == one.lower_bound)


def test_bounds_only_get_better_with_a_larger_budget():
    ours = explainer(deep(6))
    answers = [ours.explain_one(np.ones(N), max_predictions=budget) for budget in range(1, 260, 7)]
    bounds = [one.lower_bound for one in answers]
    sizes = [one.size if one.size is not None else N + 1 for one in answers]
    assert bounds == sorted(bounds)
    assert sizes == sorted(sizes, reverse=True)
    assert bounds[-1] == 6


def test_time_limit_ends_the_search_honestly():
    import time

    def slow(rows):
        time.sleep(0.002 * len(rows))
        return deep(6)(rows)

    one = explainer(slow).explain_one(np.ones(N), time_limit=0.05)
    assert one.status in ("feasible", "undecided")
    assert 1 <= one.lower_bound <= 6
    if one.size is not None:
        assert one.size >= 6


def test_max_size_is_kept():
    one = explainer(deep(5)).explain_one(np.ones(N), max_size=4)
    assert (one.status, one.size, one.lower_bound) == ("undecided", None, 5)


def test_unexplainable_is_proven_by_all_vertices():
    asked = []

    def score(rows):
        asked.append(len(rows))
        return np.where(rows[:, 0] == 1, 1.0, 0.0)

    one = explainer(score).explain_one(np.ones(N), restricted=["x0"])
    assert one.status == "unexplainable"
    assert sum(asked) >= 2 ** (N - 1) - 1


def test_a_model_that_raises_stops_that_row_only():
    def score(rows):
        if (rows[:, 1] == 7).any() and (rows[:, 0] == 0).any():
            raise ValueError("no such customer")
        return (rows.sum(axis=1) > 2).astype(float)

    queries = np.ones((4, N))
    queries[2, 1] = 7
    many = explainer(score).explain(queries)
    assert many.statuses.tolist() == ["optimal", "optimal", "error", "optimal"]
    assert "no such customer" in many[2].reason
    assert many[2].size is None
    assert "no such customer" in many[2].to_text()


def test_a_score_that_is_not_finite_is_an_error_of_that_row():
    def score(rows):
        return np.where(rows[:, 1] == 7, np.nan, (rows.sum(axis=1) > 2).astype(float))

    queries = np.ones((3, N))
    queries[1, 1] = 7
    many = explainer(score).explain(queries)
    assert many.statuses.tolist() == ["optimal", "error", "optimal"]
    assert "nan" in many[1].reason


def test_rows_that_are_the_same_are_searched_once():
    asked = []

    def score(rows):
        asked.append(len(rows))
        return deep(3)(rows)

    ours = explainer(score)
    asked.clear()
    ours.explain(np.ones((1, N)))
    once = sum(asked)
    asked.clear()
    many = ours.explain(np.ones((50, N)))
    assert sum(asked) <= once + 2 * 50
    assert (many.sizes == 3).all()


def test_subsets_come_in_chunks_and_in_order():
    from itertools import combinations

    for n, size, chunk in ((5, 2, 3), (6, 3, 100), (40, 4, 7000)):
        found = np.concatenate(list(subsets(n, size, chunk)))
        assert max(len(part) for part in subsets(n, size, chunk)) <= chunk
        assert found.tolist() == [list(c) for c in combinations(range(n), size)]
