"""Rows that no bound helps with: tables of terms end them, against the definition and branch and bound."""

from dataclasses import replace

import numpy as np
import pytest
from backends.trees.models import fitted
from backends.trees.problems import compare, make_problem, own_scores, read, sets_of, take, with_limits
from backends.trees.test_limits import Hand, chain, stump
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from sev import Status
from sev.backends.trees.search import plan


@pytest.fixture
def at_once(monkeypatch):
    """Every row that needs more than tables of pairs gets tables of terms at once; returns the sizes searched so."""
    sizes = []
    steps_for_size = plan.steps_for_size

    def counted(facts, size, n_terms, left):
        steps = steps_for_size(facts, size, n_terms, left)
        sizes.extend(size for step in steps if step.strategy is plan.TERMS)
        return steps

    monkeypatch.setattr(plan, "STRATEGIES", (plan.TERMS, plan.BRANCH))
    monkeypatch.setattr(plan, "QUICK_ROUNDS", 10**9)
    monkeypatch.setattr(plan, "steps_for_size", counted)
    return sizes


@pytest.mark.parametrize("name", [
    "random_forest_with_ties", "random_forest_missing", "extra_trees", "gradient_boosting_deep",
    "hist_gradient_boosting_codes", "xgboost_text", "lightgbm_missing", "catboost_text",
])  # fmt: skip
def test_sizes_and_all_sets_are_those_of_the_definition(name, at_once):
    case = fitted(name)
    backend = read(case.model, case.response)
    threshold = 0.0 if case.response == "decision_function" else 0.5
    scores = own_scores(case.model, case.response)(case.rows)
    queries = take(case.rows, np.flatnonzero(scores >= threshold)[:12])
    reference = take(case.rows, np.flatnonzero(scores < threshold)[5:6])
    for kind, restricted in (("minus", ()), ("plus", ()), ("minus", (0, 2, 3))):
        problem = make_problem(
            case.model, backend, queries, reference, kind=kind, response=case.response, threshold=threshold,
            restricted=restricted,
        )  # fmt: skip
        compare(problem, backend.solve(problem))


@pytest.mark.parametrize("model", [
    RandomForestClassifier(30, random_state=0),
    GradientBoostingClassifier(n_estimators=60, max_depth=5, random_state=0),
], ids=["forest", "boosting"])  # fmt: skip
def test_it_finds_what_branch_and_bound_finds(model, request):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(500, 14))
    model.fit(rows, rows.sum(axis=1) + rng.normal(size=500) > 0)
    backend = read(model)
    scores = model.predict_proba(rows)[:, 1]
    reference = rows[[int(np.where(scores < 0.5, scores, -1).argmax())]]
    problem = make_problem(model, backend, rows[:120], reference, kind="minus")
    expected = backend.solve(problem)
    calls = request.getfixturevalue("at_once")
    found = backend.solve(problem)
    assert len(calls) > 5
    assert (expected.sizes() > 3).any() or np.isnan(expected.sizes()).any()
    for row in range(problem.n_rows):
        assert found.status[row] == expected.status[row]
        assert found.lower_bound[row] == expected.lower_bound[row]
        assert sets_of(found, row, 14) == sets_of(expected, row, 14)


def hard(p, size):
    """Any ``size`` of p features cross and no fewer; trees that cancel pull the bounds of a search apart."""
    rng = np.random.default_rng(1)
    trees = [stump(column, -1.0) for column in range(p)]
    for _ in range(60):
        some = list(rng.choice(p, 5, replace=False))
        trees += [chain(some, 0.02), chain(some[:-1], -0.02), chain(some[:-1], 0.02), chain(some, -0.02)]
    return Hand(trees, p, size - 0.5)


def test_a_row_that_would_end_undecided_is_proven(monkeypatch, at_once):
    problem = hard(12, 6).problem(np.zeros((1, 12)), np.ones((1, 12)))
    solution = hard(12, 6).backend.solve(with_limits(problem, max_sets=1000))
    assert at_once
    assert solution.status[0] == Status.OPTIMAL.code
    assert solution.sizes()[0] == 6
    assert len(sets_of(solution, 0, 12)) == 924  # all of them: 12 over 6
    at_once.clear()
    monkeypatch.setattr(plan, "STRATEGIES", (plan.BRANCH,))
    monkeypatch.setattr(plan, "ROW_WORK", 1)
    assert hard(12, 6).backend.solve(problem).status[0] == Status.FEASIBLE.code
    assert not at_once


def test_no_set_and_no_set_small_enough_are_told_apart(at_once):
    model = hard(12, 6)
    problem = model.problem(np.zeros((1, 12)), np.ones((1, 12)))
    cut = model.backend.solve(with_limits(problem, max_size=5))
    assert at_once
    assert (cut.status[0], cut.lower_bound[0]) == (Status.UNDECIDED.code, 6)
    at_once.clear()
    model = hard(12, 12.6)
    solution = model.backend.solve(model.problem(np.zeros((1, 12)), np.ones((1, 12))))
    assert at_once
    assert solution.status[0] == Status.UNEXPLAINABLE.code


def test_a_time_limit_still_ends_in_the_tables(at_once):
    model = hard(12, 6)
    problem = model.problem(np.zeros((1, 12)), np.ones((1, 12)))
    assert model.backend.solve(with_limits(problem, time_limit=60.0)).status[0] == Status.OPTIMAL.code
    assert at_once


def test_sets_that_the_model_refuses_are_not_offered_again(at_once):
    """Sets of five and six features lie in the band, and the model says of both that they do not cross."""
    model = hard(12, 6)
    problem = model.problem(np.zeros((1, 12)), np.ones((1, 12)))
    problem = replace(problem, low=-0.7, high=0.7, is_across=lambda scores: scores < -0.7)
    solution = model.backend.solve(with_limits(problem, max_sets=1000))
    assert at_once
    assert (solution.status[0], solution.sizes()[0]) == (Status.OPTIMAL.code, 7)
    assert len(sets_of(solution, 0, 12)) == 792
