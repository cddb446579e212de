"""Budgets, errors and honest bounds of the search that only asks the model."""

import time
import tracemalloc
from itertools import combinations
from math import comb

import numpy as np
import pytest

import sev
from sev.backends.blackbox import _calls, solve_blackbox
from sev.backends.blackbox._levels import subsets
from sev.backends.blackbox._rows import BestSets
from sev.core import Limits, Problem, unpack

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


class Counted:
    """A model that counts the rows that it scores."""

    def __init__(self, score):
        self.score, self.n_rows = score, 0

    def __call__(self, rows):
        self.n_rows += len(rows)
        return self.score(rows)


def counted_explainer(n_features, needed):
    """An explainer of a model that needs ``needed`` of ``n_features`` changes, and its counter set to zero."""
    model = Counted(lambda rows: (rows.sum(axis=1) > n_features - needed).astype(float))
    background = np.vstack([np.zeros(n_features), np.ones(n_features)])
    ours = sev.Explainer(model, background, reference=np.zeros(n_features))
    model.n_rows = 0
    return ours, model


@pytest.mark.parametrize("max_predictions", [3, 4, 10, 100, 250, 251, 1000])
@pytest.mark.parametrize(("n_features", "needed"), [(8, 5), (40, 3), (200, 120)])
def test_no_more_rows_are_scored_than_max_predictions(n_features, needed, max_predictions):
    ours, model = counted_explainer(n_features, needed)
    one = ours.explain_one(np.ones(n_features), max_predictions=max_predictions)
    assert model.n_rows <= max_predictions
    assert one.lower_bound <= needed
    assert one.size is None or one.size >= needed


def test_a_budget_is_used():
    """A descent that fits the budget is made, and what it leaves goes into the proof."""
    ours, model = counted_explainer(40, 6)
    one = ours.explain_one(np.ones(40), max_predictions=300)
    assert (one.status, one.size, one.lower_bound) == ("feasible", 6, 2)
    assert model.n_rows == 300


def test_every_row_of_a_batch_has_its_own_budget():
    ours, model = counted_explainer(30, 7)
    rng = np.random.default_rng(0)
    queries = np.where(rng.random((6, 30)) < 0.95, 1.0, 0.0)
    alone = [ours.explain_one(query, max_predictions=200) for query in queries]
    model.n_rows = 0
    together = ours.explain(queries, max_predictions=200)
    assert model.n_rows <= 6 * 200
    for one, other in zip(alone, together, strict=True):
        assert (one.status, one.size, one.lower_bound, one.sets) == (
            other.status,
            other.size,
            other.lower_bound,
            other.sets,
        )


def test_no_set_beyond_max_size_is_scored():
    ours, model = counted_explainer(30, 20)
    one = ours.explain_one(np.ones(30), max_size=3)
    assert (one.status, one.lower_bound) == ("undecided", 4)
    # the query, twice, all sets of up to three features, and the two steps of a descent to three features
    assert model.n_rows <= 2 + 30 + comb(30, 2) + comb(30, 3) + 29 + 28


def make_problem(score, n_features, n_rows=1, **limits):
    """A problem whose vertices are the features that are still on; scores of at least 0.5 are positive."""

    def evaluate(rows, sets):
        return score(1.0 - sets)

    return Problem(
        kind="minus",
        direction=-1,
        low=0.0,
        high=0.0,
        queries=np.zeros((0, 0)),
        reference=np.zeros(0),
        column_feature=np.zeros(0, dtype=np.int64),
        active=np.ones((n_rows, n_features), dtype=bool),
        evaluate=evaluate,
        is_across=lambda scores: scores < 0.5,
        across_sign=-1,
        limits=Limits(**limits),
    )


@pytest.mark.parametrize("seconds_per_row", [0.001, 0.1, 3.0])
def test_no_call_is_made_when_the_time_is_over(monkeypatch, seconds_per_row):
    """On a clock that only the model moves: one call more, sized by the speed of those before, is all there can be."""
    clock = {"now": 0.0}
    late = []
    monkeypatch.setattr(time, "monotonic", lambda: clock["now"])

    def score(rows):
        late.append(clock["now"] >= 10.0)
        clock["now"] += seconds_per_row * len(rows)
        return (rows.sum(axis=1) > 60 - 50).astype(float)

    solution = solve_blackbox(make_problem(score, 60, time_limit=10.0))
    assert not any(late)
    assert clock["now"] <= 10.0 + seconds_per_row
    assert solution.lower_bound[0] <= 50


def test_memory_does_not_grow_with_the_sets_that_cross():
    problem = make_problem(lambda rows: (rows.sum(axis=1) > 60 - 3).astype(float), 60, n_rows=20, max_sets=10)
    tracemalloc.start()
    solution = solve_blackbox(problem)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.diff(solution.offsets).tolist() == [10] * 20
    assert not solution.complete.any()
    # all the sets that cross take 41 MB, those of one call of the model half a megabyte
    assert peak < 15e6


@pytest.mark.parametrize("cells", [1, 300, 1 << 19])
def test_the_best_sets_are_listed_first_whatever_the_size_of_calls(monkeypatch, cells):
    monkeypatch.setattr(_calls, "_CELLS_PER_CALL", cells)
    monkeypatch.setattr(_calls, "_LEAST_PER_CALL", 1)
    weights = np.array([3, 1, 2, 3, 1, 2, 3, 1])

    def score(rows):
        return rows @ weights - 11.0  # whole numbers: equal scores are exact

    found = solve_blackbox(make_problem(score, 8, max_sets=7))
    listed = [tuple(np.flatnonzero(chosen)) for chosen in unpack(found.masks, 8)]
    crossing = [chosen for chosen in combinations(range(8), 2) if score(1.0 - np.isin(range(8), chosen)) < 0.5]
    expected = sorted(crossing, key=lambda chosen: (-weights[list(chosen)].sum(), chosen))
    assert len(expected) > 7
    assert listed == expected[:7]


def test_best_sets_are_bounded_and_counted():
    best = BestSets(2)
    for across in ([1.0, 3.0], [3.0, 2.0], [0.5]):
        best.add(np.eye(5, dtype=bool)[: len(across)], np.array(across))
    assert best.n_seen == 5
    assert best.sets.shape == (2, 5)
    assert best.sets.argmax(axis=1).tolist() == [1, 0]  # of two equal ones the earlier


def test_scores_of_another_length_are_an_error_of_the_row():
    problem = make_problem(lambda rows: np.ones(max(1, len(rows) - 1)), 4)
    solution = solve_blackbox(problem)
    assert "shape (3,) for 4 rows" in solution.reasons[0]


def test_a_mixed_row_without_a_finite_score_is_an_error_of_its_row():
    """The query has a score, one of the changed rows has none: nothing is proven about it."""

    def score(rows):
        scores = (rows.sum(axis=1) > N - 2).astype(float)
        scores[(rows[:, 0] == 0) & (rows[:, 1] == 7)] = np.nan
        return scores

    queries = np.ones((3, N))
    queries[1, 1] = 7
    many = explainer(score).explain(queries)
    assert many.statuses.tolist() == ["optimal", "error", "optimal"]
    assert "nan" in many[1].reason
    assert many[1].sets == ()


def test_time_limit_ends_the_search_honestly():
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
    for n, size, chunk in ((5, 2, 3), (6, 3, 100), (40, 4, 7000)):
        found = np.concatenate(list(subsets(n, size, chunk)))
        assert max(len(part) for part in subsets(n, size, chunk)) <= chunk
        assert found.tolist() == [list(c) for c in combinations(range(n), size)]
