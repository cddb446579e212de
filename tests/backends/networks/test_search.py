"""Budgets, limits and failures: what the search says when it cannot say everything."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from backends.networks.cases import get_case, make_mlp
from backends.networks.problems import make_problem, sets_of, status_of
from oracle import oracle_of_problem
from sklearn.neural_network import MLPClassifier

from sev import Status
from sev.backends.networks import _budget
from sev.backends.networks._beam import beam
from sev.backends.networks._search import Search
from sev.backends.networks._vertices import ModuleVertices
from sev.core import Limits
from sev.libraries.sklearn.read_networks import read_mlp as from_sklearn

N_COLUMNS = 12


@pytest.fixture(scope="module")
def deep():
    """A network and rows whose answers take several levels."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(600, N_COLUMNS))
    model = MLPClassifier((24, 24), activation="tanh", learning_rate_init=0.01, random_state=0)
    for _ in range(30):
        model.partial_fit(rows, rows.sum(axis=1) + rows[:, 0] * rows[:, 1] > 0, classes=[False, True])
    backend = from_sklearn(model, "predict_proba")
    rows = rng.uniform(0.0, 1.2, size=(60, N_COLUMNS))
    rows[:20] *= 3  # too far for any allowed set

    def score(rows):
        return model.predict_proba(rows)[:, 1]

    reference = np.linspace(-0.9, -0.1, N_COLUMNS)
    problem = make_problem(backend, score, rows, reference, restricted=(0, 3, 5))
    sizes = backend.solve(problem).sizes()
    by_size = [np.flatnonzero(sizes == size) for size in range(2, 8)]
    chosen = np.concatenate([rows[:4] for rows in [np.flatnonzero(np.isnan(sizes)), *by_size]])
    assert len(np.unique(sizes[chosen])) >= 4
    return backend, replace(problem, queries=problem.queries[chosen], active=problem.active[chosen]), chosen, problem


def solve_with(deep, **limits):
    backend, problem, chosen, whole = deep
    evaluate = whole.evaluate

    def evaluate_chosen(rows, sets):
        return evaluate(chosen[rows], sets)

    problem = replace(problem, limits=Limits(**limits), evaluate=evaluate_chosen)
    return problem, backend.solve(problem)


BUDGETS = [1, 2, 3, 5, 8, 10, 12, 14, 16, 18, 20]


@pytest.fixture(scope="module")
def answers(deep):
    """Answers of all rows for growing budgets, the last one without a limit."""
    return [solve_with(deep, max_predictions=budget)[1] for budget in BUDGETS] + [solve_with(deep)[1]]


def test_bounds_never_cross_and_never_get_worse(deep, answers):
    final = answers[-1]
    n_active = deep[1].active.sum(axis=1)
    best = np.array([_best(solution) for solution in answers])
    lower = np.array([solution.lower_bound for solution in answers])
    assert (np.diff(lower, axis=0) >= 0).all()
    assert all((later <= earlier).all() for earlier, later in pairwise(best))
    assert (lower <= np.minimum(best, n_active + 1)).all()
    known = final.sizes() > 0
    assert (lower[:, known] <= final.sizes()[known]).all()
    assert (best[:, known] >= final.sizes()[known]).all()


def test_budgets_end_in_every_honest_way(answers):
    seen = {Status.from_code(int(code)) for solution in answers for code in solution.status}
    assert seen >= {Status.FEASIBLE, Status.UNDECIDED, Status.OPTIMAL, Status.UNEXPLAINABLE}
    for solution in answers:
        for row, code in enumerate(solution.status):
            size = solution.sizes()[row]
            if code == Status.OPTIMAL.code:
                assert solution.lower_bound[row] == size
            if code == Status.FEASIBLE.code:
                assert solution.lower_bound[row] < size
                assert not solution.complete[row]


def test_sets_of_any_budget_do_cross(deep, answers):
    _, problem, chosen, whole = deep
    for solution in answers:
        for row in range(problem.n_rows):
            for features in sets_of(problem, solution, row):
                chosen_set = np.isin(np.arange(N_COLUMNS), features)
                assert whole.crosses(chosen[row : row + 1], chosen_set[None])[0]


def _best(solution):
    """Size of what was found, infinite where nothing was."""
    return np.where(solution.has_set, solution.sizes(), math.inf)


class Clock:
    """A clock that moves on by one with every look at it."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1.0
        return self.now


def test_more_time_never_makes_an_answer_worse(deep, monkeypatch):
    lower, best = [], []
    for looks in [*range(0, 60, 2), 10_000]:
        monkeypatch.setattr(_budget, "time", Clock())
        solution = solve_with(deep, time_limit=float(looks))[1]
        lower.append(solution.lower_bound)
        best.append(_best(solution))
    assert (np.diff(lower, axis=0) >= 0).all()
    assert all((later <= earlier).all() for earlier, later in pairwise(best))
    assert (lower[0] == 1).all()
    assert np.isinf(best[0]).all()
    np.testing.assert_array_equal(solution.sizes(), solve_with(deep)[1].sizes())


def test_beams_leave_out_what_a_set_does_not_need():
    """The best first step, feature 0, leads to three features where two others would do."""

    def reached(rows):
        first, second, third = (rows[:, column] for column in range(3))
        return first + 0.3 * (second + third) + 2.0 * second * third - 2.0

    rows = np.zeros((1, 6))
    problem = replace(
        make_problem(get_case("mlp-relu").backend, lambda rows: np.ones(len(rows)), np.ones((1, 6)), np.zeros(6)),
        low=0.0,
        high=0.0,
        direction=1,
        evaluate=lambda numbers, sets: reached(sets.astype(float)),
    )
    active = np.arange(6)[None]
    columns = [np.array([column]) for column in range(6)]
    vertices = ModuleVertices(reached, rows, np.ones((1, 6)), columns, active, np.dtype(np.float64))
    search = Search(problem, vertices, np.zeros(1, dtype=np.int64), active, _budget.Budget())
    found = beam(search, np.zeros(1, dtype=np.int64), 6)
    assert [np.flatnonzero(chosen).tolist() for chosen in found] == [[1, 2]]
    narrow = Search(problem, vertices, np.zeros(1, dtype=np.int64), active, _budget.Budget(beams=6 + 5 + 4 + 3))
    assert [np.flatnonzero(chosen).tolist() for chosen in beam(narrow, np.zeros(1, dtype=np.int64), 6)] == [[1, 2]]
    narrower = Search(problem, vertices, np.zeros(1, dtype=np.int64), active, _budget.Budget(beams=6 + 5 + 4))
    assert [len(np.flatnonzero(chosen)) for chosen in beam(narrower, np.zeros(1, dtype=np.int64), 6)] == [3]


def test_no_time_at_all_still_gives_an_answer_for_every_row(deep):
    problem, solution = solve_with(deep, time_limit=0.0)
    assert {status_of(solution, row) for row in range(problem.n_rows)} == {Status.UNDECIDED}
    assert (solution.lower_bound == 1).all()


def test_a_size_limit_is_kept(deep):
    full = solve_with(deep)[1]
    solution = solve_with(deep, max_size=3)[1]
    small = (full.sizes() > 0) & (full.sizes() <= 3)
    assert (solution.status[small] == Status.OPTIMAL.code).all()
    assert (solution.status[~small] == Status.UNDECIDED.code).all()
    assert (solution.lower_bound[~small] == 4).all()


def test_beams_keep_to_the_size_limit(deep):
    for budget in BUDGETS:
        solution = solve_with(deep, max_size=3, max_predictions=budget)[1]
        assert (solution.sizes()[solution.has_set] <= 3).all()


def test_a_row_on_which_the_model_raises_is_the_only_one_to_fail():
    case = get_case("torch-any-logit")
    problem = make_problem(case.backend, case.score, case.rows[:30], case.reference, threshold=case.threshold)
    bad = 2

    class Raises:
        def evaluate(self, rows, sets):
            if (rows == bad).any():
                raise RuntimeError("no score for this one")
            return problem.evaluate(rows, sets)

    everything_near = replace(problem, low=-math.inf, high=math.inf, evaluate=Raises().evaluate)
    solution = case.backend.solve(everything_near)
    assert status_of(solution, bad) is Status.ERROR
    assert solution.reasons == {bad: "RuntimeError: no score for this one"}
    for row in set(range(problem.n_rows)) - {bad}:
        size, sets = oracle_of_problem(problem, row)
        assert set(sets_of(problem, solution, row)) == sets
        assert size == solution.sizes()[row]


def test_a_score_that_is_not_finite_is_an_error_of_its_row():
    case = get_case("mlp-relu")
    problem = make_problem(case.backend, case.score, case.rows[:10], case.reference)
    broken = replace(
        problem, low=-math.inf, high=math.inf, evaluate=lambda rows, sets: np.where(rows == 0, np.nan, 0.9)
    )
    solution = case.backend.solve(broken)
    assert status_of(solution, 0) is Status.ERROR
    assert solution.reasons == {0: "the model's score is nan"}
    assert status_of(solution, 1) is Status.UNEXPLAINABLE


def test_a_row_without_active_features_is_unexplainable():
    case = get_case("mlp-relu")
    problem = make_problem(case.backend, case.score, case.rows[:10], case.reference, restricted=range(7))
    solution = case.backend.solve(problem)
    assert (solution.status == Status.UNEXPLAINABLE.code).all()
    assert (solution.lower_bound == 1).all()


def test_margins_too_large_for_float32_are_looked_at_again():
    model = make_mlp("relu", (6,))
    model.coefs_[0] *= 1e30
    model.coefs_[1] *= 1e30
    backend = from_sklearn(model, "predict_proba")
    rows = np.random.default_rng(0).normal(size=(20, 7))

    def score(rows):
        return model.predict_proba(rows)[:, 1]

    reference = rows[score(rows) < 0.5][0]
    problem = make_problem(backend, score, rows, reference)
    solution = backend.solve(problem)
    for row in range(problem.n_rows):
        assert set(sets_of(problem, solution, row)) == oracle_of_problem(problem, row)[1]
