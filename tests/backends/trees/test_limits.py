"""Many features, large sets, limits and budgets, the order of sets, and independence from the batch."""

from dataclasses import replace

import numpy as np
import pytest
from backends.trees.models import fitted
from backends.trees.problems import (
    all_scores,
    compare,
    make_problem,
    own_scores,
    read,
    sets_of,
    with_limits,
)
from oracle import oracle_of_problem
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier

from sev import Explainer, Status
from sev.backends.trees._backend import Link, TreeBackend
from sev.backends.trees._encoding import to_numbers
from sev.backends.trees._forest import Tree, build_forest
from sev.backends.trees.search import plan


class Hand:
    """A classifier around a forest made by hand; its score is the margin."""

    def __init__(self, trees, n_columns, base):
        forest = build_forest(trees, n_columns=n_columns, base=base)
        self.backend = TreeBackend(forest=forest, encoder=to_numbers, link=Link("linear", 1.0), noise=1e-13)

    def decision_function(self, rows):
        return self.backend.margins(np.ascontiguousarray(rows, dtype=float))

    def problem(self, queries, reference, **options):
        return make_problem(
            self, self.backend, queries, reference, response="decision_function", threshold=0.0, **options
        )


def stump(column, value):
    """``value`` where the column is above one half."""
    return Tree(
        left=np.array([1, -1, -1]), right=np.array([2, -1, -1]), column=np.array([column, 0, 0]),
        threshold=np.array([0.5, 0.0, 0.0]), value=np.array([0.0, 0.0, value]),
    )  # fmt: skip


def chain(columns, value):
    """``value`` where all columns are above one half."""
    depth = len(columns)
    inner = np.arange(depth)
    left = np.full(2 * depth + 1, -1)
    right = np.full(2 * depth + 1, -1)
    left[inner] = depth + 1 + inner
    right[inner] = inner + 1
    values = np.zeros(2 * depth + 1)
    values[depth] = value
    column = np.zeros(2 * depth + 1, dtype=np.int64)
    column[inner] = columns
    return Tree(left=left, right=right, column=column, threshold=np.full(2 * depth + 1, 0.5), value=values)


def negative_row(model, rows, kind="minus"):
    """A negative row from which, or to which, the way is long."""
    scores = own_scores(model, "predict_proba")(rows)
    scores[scores >= 0.49] = -1.0 if kind == "minus" else 2.0
    return rows[[scores.argmax() if kind == "minus" else scores.argmin()]]


def table(n_columns, seed=0, n=400):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, n_columns))
    return rows, (rows.sum(axis=1) + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("depth", [1, 3, 5])
@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_large_sets(depth, kind):
    """A dozen features that all matter: sizes up to six and more, in tables and over wide cubes."""
    rows, labels = table(12)
    model = GradientBoostingClassifier(n_estimators=80, max_depth=depth, random_state=0).fit(rows, labels)
    backend = read(model)
    sizes = []
    for seed in range(3):
        reference = negative_row(model, table(12, seed + 5)[0], kind)
        for restricted in ((), (0, 1, 2, 3)):
            problem = make_problem(model, backend, rows[:60], reference, kind=kind, restricted=restricted)
            solution = backend.solve(problem)
            compare(problem, solution)
            sizes += solution.sizes().tolist()
    assert np.nanmax(sizes) >= 4
    assert np.isnan(sizes).any()


@pytest.mark.parametrize("make", [RandomForestClassifier, ExtraTreesClassifier])
def test_large_sets_of_deep_forests(make):
    rows, labels = table(11, 1)
    model = make(30, random_state=0).fit(rows, labels)
    backend = read(model)
    sizes = []
    for kind in ("minus", "plus"):
        problem = make_problem(model, backend, rows[:120], negative_row(model, table(11, 6)[0], kind), kind=kind)
        solution = backend.solve(problem)
        compare(problem, solution)
        sizes += solution.sizes().tolist()
    assert np.nanmax(sizes) >= 4


@pytest.mark.parametrize("widest", [3, 5])
@pytest.mark.parametrize("n_columns", [40, 70, 300])
def test_more_features_than_a_word_and_than_a_table(n_columns, widest):
    """Tables of triples end at 32 features, or 64 when no cube is wider; words at 64, tables of pairs at 256."""
    rng = np.random.default_rng(n_columns)
    trees = [stump(column, -rng.uniform(0.5, 1.0)) for column in range(n_columns)]
    columns = [rng.choice(n_columns, 2 + i % (widest - 1), replace=False) for i in range(80)]
    trees += [chain(some, rng.uniform(-0.3, 0.3)) for some in columns]
    model = Hand(trees, n_columns, base=2.8 if n_columns < 300 else 1.95)
    queries = np.zeros((1, n_columns))
    reference = np.ones((1, n_columns))
    problem = model.problem(queries, reference)
    solution = model.backend.solve(problem)
    size, sets = oracle_of_problem(problem, 0)
    assert size == (3 if n_columns < 300 else 2)
    assert set(sets_of(solution, 0, n_columns)) == sets


def test_four_of_forty_features_by_tables():
    rng = np.random.default_rng(4)
    trees = [stump(column, -rng.uniform(0.3, 1.0)) for column in range(40)]
    trees += [chain(rng.choice(40, 3, replace=False), rng.uniform(-0.4, 0.4)) for _ in range(300)]
    model = Hand(trees, 40, base=3.75)
    problem = model.problem(np.zeros((1, 40)), np.ones((1, 40)))
    size, sets = oracle_of_problem(problem, 0)
    assert size == 4
    assert set(sets_of(model.backend.solve(problem), 0, 40)) == sets


def test_no_set_at_all_is_proven_among_many_features():
    rng = np.random.default_rng(0)
    trees = [stump(column, rng.uniform(-0.1, 0.3)) for column in range(60)]
    trees += [chain(rng.choice(60, 5, replace=False), rng.uniform(-0.1, 0.2)) for _ in range(50)]
    model = Hand(trees, 60, base=20.0)
    solution = model.backend.solve(model.problem(np.zeros((1, 60)), np.ones((1, 60))))
    assert Status.from_code(int(solution.status[0])) == "unexplainable"
    assert solution.lower_bound[0] == 61


def equal_weights(n_columns=40, size=20):
    """Every set of ``size`` features crosses and no smaller one; pairs pull the bounds apart."""
    rng = np.random.default_rng(1)
    trees = [stump(column, -1.0) for column in range(n_columns)]
    for _ in range(400):
        one, other = rng.choice(n_columns, 2, replace=False)
        trees += [chain([one, other, 0], 0.02), chain([one, other], -0.02), chain([one, other], 0.02)]
    return Hand(trees, n_columns, base=size - 0.5)


def test_equal_weights_end_honestly():
    model = equal_weights()
    problem = with_limits(model.problem(np.zeros((1, 40)), np.ones((1, 40))), max_sets=5)
    model.backend.solve(replace(problem, limits=replace(problem.limits, max_size=2)))  # compile first
    solution = model.backend.solve(problem)
    status = Status.from_code(int(solution.status[0]))
    assert status in {"optimal", "feasible"}
    assert 15 <= solution.lower_bound[0] <= 20
    assert not solution.complete[0]
    for found in sets_of(solution, 0, 40):
        assert len(found) >= solution.lower_bound[0]
        row = np.zeros((1, 40))
        row[0, list(found)] = 1.0
        assert model.decision_function(row)[0] < 0.0


@pytest.mark.parametrize("n_columns", [14, 40])
def test_a_spent_budget_leaves_a_bound_and_a_set(n_columns, monkeypatch):
    monkeypatch.setattr(plan, "ROW_WORK", 3_000)
    rng = np.random.default_rng(3)
    trees = [stump(column, -1.0) for column in range(n_columns)]
    trees += [chain(rng.choice(n_columns, 3, replace=False), 0.4) for _ in range(300)]
    trees += [chain(rng.choice(n_columns, 3, replace=False), -0.4) for _ in range(300)]
    model = Hand(trees, n_columns, base=6.5)
    problem = model.problem(np.zeros((1, n_columns)), np.ones((1, n_columns)))
    solution = model.backend.solve(problem)
    (found,) = sets_of(solution, 0, n_columns)
    proven = len(found) == solution.lower_bound[0]
    assert Status.from_code(int(solution.status[0])) == ("optimal" if proven else "feasible")
    assert not solution.complete[0]
    assert problem.crosses(np.array([0]), np.isin(np.arange(n_columns), found)[None])[0]
    monkeypatch.setattr(plan, "ROW_WORK", 10**9)
    exact = model.backend.solve(with_limits(problem, max_sets=1))
    assert solution.lower_bound[0] <= exact.lower_bound[0] <= len(found)


def test_a_time_limit_is_kept_and_honest():
    model = equal_weights()
    problem = with_limits(model.problem(np.zeros((1, 40)), np.ones((1, 40))), max_sets=5, time_limit=0.05)
    solution = model.backend.solve(problem)
    assert Status.from_code(int(solution.status[0])) in {"optimal", "feasible"}


def test_max_size_stops_the_search_with_what_is_known():
    rows, labels = table(12)
    model = GradientBoostingClassifier(n_estimators=80, random_state=0).fit(rows, labels)
    backend = read(model)
    problem = make_problem(model, backend, rows, negative_row(model, rows))
    full = backend.solve(problem)
    for size in (1, 2, 3, 4):
        cut = backend.solve(with_limits(problem, max_size=size, max_sets=100_000))
        small = (full.sizes() <= size) & (full.sizes() > 0)
        np.testing.assert_array_equal(cut.sizes()[small], full.sizes()[small])
        stopped = cut.status == Status.UNDECIDED.code
        assert not (stopped & small).any()
        assert (cut.lower_bound[stopped] == size + 1).all()
        assert ((cut.status == Status.UNEXPLAINABLE.code) <= (full.status == Status.UNEXPLAINABLE.code)).all()


def test_max_sets_cuts_the_list_and_says_so():
    case = fitted("random_forest_with_ties")
    backend = read(case.model)
    reference = case.rows[np.flatnonzero(own_scores(case.model, "predict_proba")(case.rows) < 0.5)[3:4]]
    problem = make_problem(case.model, backend, case.rows, reference)
    full = backend.solve(problem)
    counts = np.diff(full.offsets)
    cut = backend.solve(with_limits(problem, max_sets=2))
    np.testing.assert_array_equal(np.diff(cut.offsets), np.minimum(counts, 2))
    assert not cut.complete[counts > 2].any()
    assert cut.complete[counts < 2].all()  # with exactly two, a tie beyond the list may be left unasked
    np.testing.assert_array_equal(cut.lower_bound, full.lower_bound)
    for row in range(problem.n_rows):
        assert set(sets_of(cut, row, problem.n_features)) <= set(sets_of(full, row, problem.n_features))


def test_sets_furthest_across_come_first():
    rows, labels = table(10)
    model = GradientBoostingClassifier(n_estimators=60, random_state=0).fit(rows, labels)
    backend = read(model)
    for kind in ("minus", "plus"):
        problem = make_problem(model, backend, rows[:80], negative_row(model, rows), kind=kind)
        solution = backend.solve(problem)
        scores = all_scores(problem, np.arange(problem.n_rows))
        several = 0
        for row in range(problem.n_rows):
            numbers = [sum(1 << feature for feature in found) for found in sets_of(solution, row, 10)]
            margins = problem.direction * scores[row, numbers]
            assert (np.diff(margins) <= 1e-9).all()
            several += len(numbers) > 1
        assert several > 10


@pytest.mark.parametrize("name", ["random_forest_with_ties", "xgboost_shallow", "gradient_boosting"])
def test_answers_do_not_depend_on_the_batch(name):
    case = fitted(name)
    backend = read(case.model)
    reference = case.rows[np.flatnonzero(own_scores(case.model, "predict_proba")(case.rows) < 0.5)[3:4]]
    problem = make_problem(case.model, backend, case.rows[:150], reference)
    whole = backend.solve(problem)
    for row in range(problem.n_rows):
        alone = replace(
            problem,
            queries=problem.queries[[row]],
            active=problem.active[[row]],
            evaluate=lambda rows, sets, row=row: problem.evaluate(rows + row, sets),
        )
        answer = backend.solve(alone)
        assert sets_of(answer, 0, 7) == sets_of(whole, row, 7)
        assert (answer.status[0], answer.lower_bound[0]) == (whole.status[row], whole.lower_bound[row])


def test_a_model_that_raises_stops_only_its_row():
    case = fitted("random_forest_with_ties")
    backend = read(case.model)
    reference = case.rows[np.flatnonzero(own_scores(case.model, "predict_proba")(case.rows) < 0.5)[3:4]]
    problem = make_problem(case.model, backend, case.rows, reference)
    asked = set()

    def fails_on_one(rows, sets):
        asked.update(rows.tolist())
        if min(asked) in rows:
            raise RuntimeError("out of range")
        return problem.evaluate(rows, sets)

    whole = backend.solve(problem)
    solution = backend.solve(replace(problem, evaluate=fails_on_one))
    (failed,) = solution.reasons
    assert solution.reasons[failed] == "RuntimeError: out of range"
    assert solution.status[failed] == Status.ERROR.code
    others = np.arange(problem.n_rows) != failed
    np.testing.assert_array_equal(solution.sizes()[others], whole.sizes()[others])


def test_a_size_limit_may_be_as_large_as_one_likes():
    rows = np.random.default_rng(0).normal(size=(80, 4))
    labels = (rows.sum(axis=1) > 0).astype(int)
    explainer = Explainer(GradientBoostingClassifier(n_estimators=5).fit(rows, labels), rows, labels)
    limited, free = explainer.explain(rows, max_size=2**70), explainer.explain(rows)
    assert [one.sets for one in limited] == [one.sets for one in free]
