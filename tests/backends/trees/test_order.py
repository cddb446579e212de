"""Which sets are listed when there are more than are wanted: the best margins first, then the order of the features."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from backends.trees.problems import all_scores, make_problem, read, sets_of, with_limits
from backends.trees.test_limits import Hand, chain, negative_row, stump, table
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier

from sev import Status
from sev.backends.trees.search import plan

STRATEGIES = {
    "the plan": plan.STRATEGIES,
    "tables of terms": (plan.TERMS, plan.BRANCH),
    "branch and bound": (plan.BRANCH,),
}


def expected_sets(problem, row, scores, most):
    """The smallest sets by the definition, lowest margin first, then features; and how many there are."""
    n_features = problem.n_features
    crosses = problem.is_across(scores)
    sizes = np.bitwise_count(np.arange(scores.size))
    inactive = int(((~problem.active[row]) * (1 << np.arange(n_features))).sum())
    crosses &= (np.arange(scores.size) & inactive) == 0
    if not crosses.any():
        return [], 0
    size = sizes[crosses].min()
    numbers = np.flatnonzero(crosses & (sizes == size))
    sets = [tuple(np.flatnonzero((number >> np.arange(n_features)) & 1).tolist()) for number in numbers]
    margins = np.round(-problem.direction * scores[numbers], 10)
    order = sorted(range(len(sets)), key=lambda at: (margins[at], sets[at]))
    return [sets[at] for at in order[:most]], len(sets)


def case(model, kind):
    rows, labels = table(12)
    model.fit(rows, labels)
    backend = read(model)
    reference = negative_row(model, table(12, 5)[0], kind)
    return backend, make_problem(model, backend, rows[:80], reference, kind=kind, limits=None)


MODELS = pytest.mark.parametrize("model", [
    GradientBoostingClassifier(n_estimators=60, max_depth=3, random_state=0),
    HistGradientBoostingClassifier(max_iter=60, min_samples_leaf=5, random_state=0),
    RandomForestClassifier(10, random_state=0),
], ids=["depth 3", "many leaves", "forest with ties"])  # fmt: skip


@MODELS
@pytest.mark.parametrize("strategies", STRATEGIES.values(), ids=STRATEGIES)
@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_a_cut_list_has_the_best_sets_in_order(model, strategies, kind, monkeypatch):
    monkeypatch.setattr(plan, "STRATEGIES", strategies)
    backend, problem = case(model, kind)
    scores = all_scores(problem, np.arange(problem.n_rows))
    cut = 0
    for most in (1, 3):
        solution = backend.solve(with_limits(problem, max_sets=most))
        for row in range(problem.n_rows):
            expected, number = expected_sets(problem, row, scores[row], most)
            assert sets_of(solution, row, 12) == expected
            cut += number > most
            assert not (solution.complete[row] and number > most)
    assert cut > 20


@MODELS
def test_a_cut_list_is_the_same_in_any_batch_after_any_call_and_from_a_file(model, monkeypatch):
    backend, problem = case(model, "minus")
    problem = with_limits(problem, max_sets=2)
    fresh = pickle.loads(pickle.dumps(backend))
    monkeypatch.setattr(plan, "ROWS_FOR_PATTERNS", problem.n_rows)
    whole = [backend.solve(problem) for _ in range(3)]
    monkeypatch.setattr(plan, "ROWS_FOR_PATTERNS", 10**9)
    whole.append(fresh.solve(problem))
    for row in range(problem.n_rows):
        alone = fresh.solve(replace(
            problem, queries=problem.queries[[row]], active=problem.active[[row]],
            evaluate=lambda rows, sets, row=row: problem.evaluate(rows + row, sets),
        ))  # fmt: skip
        for solution in whole:
            assert sets_of(solution, row, 12) == sets_of(alone, 0, 12)
            assert solution.complete[row] == alone.complete[0]


def equal_weights(p, size):
    trees = [stump(column, -1.0) for column in range(p)]
    rng = np.random.default_rng(0)
    for _ in range(100):
        some = list(rng.choice(p, 3, replace=False))
        trees += [chain(some, 0.02), chain(some[:2], -0.02), chain(some[:2], 0.02), chain(some, -0.02)]
    return Hand(trees, p, size - 0.5)


def test_too_many_sets_to_go_through_end_the_list_the_same_way_with_and_without_patterns(monkeypatch):
    monkeypatch.setattr(plan, "LISTING_WORK", 200_000)
    model = equal_weights(30, 10)
    problem = with_limits(model.problem(np.zeros((3, 30)), np.ones((1, 30))), max_sets=5)
    walked = model.backend.solve(problem)
    monkeypatch.setattr(plan, "ROWS_FOR_PATTERNS", 1)
    looked_up = model.backend.solve(problem)
    assert model.backend._solver._known[0].patterns is not None
    for row in range(3):
        assert len(sets_of(walked, row, 30)) == 5
        assert sets_of(walked, row, 30) == sets_of(looked_up, row, 30)
    assert walked.status.tolist() == 3 * [Status.OPTIMAL.code]
    assert walked.lower_bound.tolist() == [10, 10, 10]


def test_a_set_as_small_as_the_lower_bound_is_optimal(monkeypatch):
    """The budget ends the search, but what greed finds is as small as any set can be."""
    monkeypatch.setattr(plan, "STRATEGIES", (plan.BRANCH,))
    monkeypatch.setattr(plan, "ROW_WORK", 1)
    model = Hand([stump(column, -1.0) for column in range(12)] + [chain([0, 1, 2], 0.0)], 12, 5.5)
    solution = model.backend.solve(model.problem(np.zeros((1, 12)), np.ones((1, 12))))
    assert solution.sizes().tolist() == solution.lower_bound.tolist() == [6]
    assert Status.from_code(int(solution.status[0])) == "optimal"
    assert not solution.complete[0]
