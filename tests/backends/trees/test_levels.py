"""Tables of terms, which answer for all sets of one size at once, against the definition and branch and bound."""

from itertools import combinations

import numpy as np
import pytest
from backends.trees.problems import compare, make_problem, read, sets_of, with_limits
from backends.trees.test_limits import Hand, chain, negative_row, stump, table
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier

from sev.backends.trees.search import plan

TABLES, BRANCH = (plan.TERMS, plan.BRANCH), (plan.BRANCH,)
EACH = pytest.mark.parametrize(
    "strategies", [plan.STRATEGIES, TABLES, BRANCH], ids=["the plan", "tables of terms", "branch and bound"]
)


@EACH
@pytest.mark.parametrize("kind", ["minus", "plus"])
@pytest.mark.parametrize("model", [
    GradientBoostingClassifier(n_estimators=60, max_depth=4, random_state=0),
    HistGradientBoostingClassifier(max_iter=60, min_samples_leaf=5, random_state=0),
    RandomForestClassifier(30, max_depth=6, random_state=0),
], ids=["depth 4", "many leaves", "forest"])  # fmt: skip
def test_sizes_and_all_sets_are_those_of_the_definition(model, kind, strategies, monkeypatch):
    monkeypatch.setattr(plan, "STRATEGIES", strategies)
    rows, labels = table(12)
    model.fit(rows, labels)
    backend = read(model)
    sizes = []
    for seed, restricted in ((5, ()), (6, ()), (5, (0, 1, 2))):
        reference = negative_row(model, table(12, seed)[0], kind)
        problem = make_problem(model, backend, rows[:60], reference, kind=kind, restricted=restricted)
        solution = backend.solve(problem)
        compare(problem, solution)
        sizes += solution.sizes().tolist()
    assert np.nanmax(sizes) >= 4


@pytest.mark.parametrize("p", [19, 30])
def test_both_ways_agree_where_there_are_too_many_sets_to_ask(p, monkeypatch):
    rows, labels = table(p, 2, n=1500)
    model = HistGradientBoostingClassifier(max_iter=100, random_state=0).fit(rows, labels)
    backend = read(model)
    reference = np.quantile(rows[labels == 0], 0.6, axis=0)[None]
    problem = make_problem(model, backend, rows[:150], reference, kind="minus")
    quick = backend.solve(problem)
    monkeypatch.setattr(plan, "STRATEGIES", BRANCH)
    slow = backend.solve(problem)
    assert (quick.sizes() >= 4).sum() > 5
    assert np.nanmax(quick.sizes()) >= 6
    assert quick.status.tolist() == slow.status.tolist()
    assert quick.lower_bound.tolist() == slow.lower_bound.tolist()
    for row in range(problem.n_rows):
        assert sets_of(quick, row, p) == sets_of(slow, row, p)


def interacting(p, width, seed):
    """Whole numbers on features, and on up to ``width`` of them together; many sets meet the threshold exactly."""
    rng = np.random.default_rng(seed)
    trees = [stump(column, float(-rng.integers(1, 4))) for column in range(p)]
    for _ in range(40):
        some = rng.choice(p, rng.integers(2, width + 1), replace=False)
        trees.append(chain(list(some), float(rng.integers(-3, 4))))
    return trees


@EACH
@pytest.mark.parametrize(("p", "width"), [(9, 4), (11, 7), (12, 12)])
def test_exact_ties(p, width, strategies, monkeypatch):
    monkeypatch.setattr(plan, "STRATEGIES", strategies)
    sizes = []
    for seed in range(6):
        for needed in (8.0, 11.0):
            model = Hand(interacting(p, width, seed), p, needed)
            problem = model.problem(np.zeros((1, p)), np.ones((1, p)))
            solution = model.backend.solve(problem)
            compare(problem, solution)
            sizes += solution.sizes().tolist()
    assert np.nanmax(sizes) >= 4


@EACH
@pytest.mark.parametrize(("p", "width"), [(13, 13), (70, 5)])
def test_what_the_tables_do_not_hold(p, width, strategies, monkeypatch):
    """A tree of more features than its polynomial is written down for, and more features than fit into a word."""
    monkeypatch.setattr(plan, "STRATEGIES", strategies)
    trees = [stump(column, -1.0) for column in range(p)] + [chain(list(range(width)), -10.0)]
    trees += [chain([0, 1, 2, 3, column], 0.5) for column in range(4, 8)]
    model = Hand(trees, p, 3.5)
    problem = with_limits(model.problem(np.zeros((1, p)), np.ones((1, p))), max_sets=10)
    solution = model.backend.solve(problem)
    assert solution.sizes().tolist() == [4]
    assert solution.lower_bound.tolist() == [4]
    assert not solution.complete[0]
    assert len(sets_of(solution, 0, p)) == 10


@EACH
def test_features_beyond_a_word(strategies, monkeypatch):
    """Trees that cancel make the first 62 features look strong; those that do something get the highest numbers."""
    monkeypatch.setattr(plan, "STRATEGIES", strategies)
    trees = 25 * [chain([0, column], value) for column in range(1, 62) for value in (-2.0, 2.0)]
    trees += [stump(column, -0.9) for column in range(62, 70)] + [chain([62, 63, 64], 1.0)]
    model = Hand(trees, 70, 3.5)
    solution = model.backend.solve(model.problem(np.zeros((1, 70)), np.ones((1, 70))))
    expected = [some for some in combinations(range(62, 70), 4) if not {62, 63, 64} <= set(some)]
    assert sorted(sets_of(solution, 0, 70)) == expected
    assert solution.complete[0]


@EACH
def test_tables_end_what_branch_and_bound_began(strategies, monkeypatch):
    """So few trees that branch and bound goes first, and such equal weights that it does not come to an end."""
    monkeypatch.setattr(plan, "STRATEGIES", strategies)
    trees = [stump(column, -1.0) for column in range(16)]
    trees += [chain([0, 1, 2, 3], 0.02), chain([0, 1, 2, 3, 4], -0.02), chain([5, 6, 7, 8, 9], 0.02)]
    model = Hand(trees, 16, 5.5)
    problem = with_limits(model.problem(np.zeros((1, 16)), np.ones((1, 16))), max_sets=10_000)
    solution = model.backend.solve(problem)
    assert sorted(sets_of(solution, 0, 16)) == list(combinations(range(16), 6))
    assert solution.complete[0]


def test_a_list_of_sets_is_cut():
    trees = [stump(column, -1.0) for column in range(12)]
    trees += [chain([0, 1, 2, 3, column], 0.25) for column in range(4, 12)]
    model = Hand(trees, 12, 4.5)
    problem = model.problem(np.zeros((1, 12)), np.ones((1, 12)))
    everything = model.backend.solve(problem)
    compare(problem, everything)
    n_sets = len(sets_of(everything, 0, 12))
    assert n_sets > 500
    for cap in (1, 7, n_sets - 1, n_sets):
        few = model.backend.solve(with_limits(problem, max_sets=cap))
        assert few.sizes().tolist() == [5]
        assert bool(few.complete[0]) == (cap == n_sets)
        assert len(set(sets_of(few, 0, 12))) == cap
        assert set(sets_of(few, 0, 12)) <= set(sets_of(everything, 0, 12))
