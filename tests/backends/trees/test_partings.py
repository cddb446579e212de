"""Going from parting to parting gives the very sums that looking at every split gives."""

import numpy as np
import pytest
from backends.trees.models import CASES, fitted
from backends.trees.problems import make_problem, own_scores, read, take
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from sev import _native
from sev.backends.trees.search import plan

ALL = "status", "lower_bound", "offsets", "masks", "complete", "set_margins", "query_margins", "helpful"


def assert_same_both_ways(problem, backend, monkeypatch):
    monkeypatch.setattr(plan, "ROWS_FOR_PATTERNS", 10**9)
    solver = backend._solver
    answers = []
    for n_rows in (10**9, 1):
        monkeypatch.setattr(plan, "ROWS_FOR_PARTINGS", n_rows)
        monkeypatch.setattr(solver, "_marked", None)
        answers.append(backend.solve(problem))
        assert solver._marked.has_partings == (n_rows == 1)
    for field in ALL:
        assert np.array_equal(getattr(answers[0], field), getattr(answers[1], field)), field


@pytest.mark.parametrize("name", CASES)
def test_partings_give_the_same_answers(name, monkeypatch):
    case = fitted(name)
    backend = read(case.model, case.response)
    if backend._solver._most_splits > plan.PARTING_SPLITS:
        pytest.skip("its trees have too many splits")
    threshold = 0.0 if case.response == "decision_function" else 0.5
    scores = own_scores(case.model, case.response)(case.rows)
    positive, negative = np.flatnonzero(scores >= threshold), np.flatnonzero(scores < threshold)
    for number in negative[[3, 20]]:
        for kind in ("minus", "plus"):
            for restricted in ((), (0, 2, 3, 5)):
                problem = make_problem(
                    case.model, backend, take(case.rows, positive[:60]), take(case.rows, [number]), kind=kind,
                    response=case.response, threshold=threshold, restricted=restricted,
                )  # fmt: skip
                assert_same_both_ways(problem, backend, monkeypatch)


@pytest.mark.parametrize("missing", [(), (0, 2)], ids=["a complete reference", "missing values in the reference"])
@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_partings_of_missing_values_and_categories(kind, missing, monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 6)).round(1)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[:, 5] = rng.integers(0, 9, 500)
    signal = np.nan_to_num(rows[:, 0]) + np.isnan(rows[:, 1]) - np.nan_to_num(rows[:, 2]) + (rows[:, 5] > 5)
    model = HistGradientBoostingClassifier(max_iter=40, categorical_features=[5], random_state=0)
    model.fit(rows, (signal > 0.5).astype(int))
    backend = read(model)
    scores = model.predict_proba(rows)[:, 1]
    references = rows.copy()
    references[:, list(missing)] = np.nan
    references[:, 3] = -0.0
    reference = references[model.predict_proba(references)[:, 1].argmin()][None]
    problem = make_problem(model, backend, rows[scores >= 0.5], reference, kind=kind)
    assert_same_both_ways(problem, backend, monkeypatch)


def test_rows_of_one_reference_are_counted_over_calls(monkeypatch):
    monkeypatch.setattr(plan, "ROWS_FOR_PARTINGS", 50)
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 5))
    model = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(
        rows, rows[:, 0] * rows[:, 1] + rows[:, 2] > 0
    )
    backend = read(model)
    scores = model.predict_proba(rows)[:, 1]
    one, other = rows[scores < 0.5][:1], rows[scores < 0.5][1:2]
    queries = rows[scores >= 0.5][:20]
    solver = backend._solver
    for reference, is_parted in ((one, False), (one, False), (one, True), (one, True), (other, False), (one, False)):
        backend.solve(make_problem(model, backend, queries, reference))
        assert solver._marked.has_partings == is_parted


def test_trees_of_more_splits_than_a_word_has_bits_are_walked(monkeypatch):
    monkeypatch.setattr(plan, "ROWS_FOR_PARTINGS", 1)
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(900, 5))
    model = RandomForestClassifier(3, random_state=0).fit(rows, (rows[:, 0] * rows[:, 1] + rows[:, 2] > 0).astype(int))
    backend = read(model)
    assert backend._solver._most_splits > plan.PARTING_SPLITS
    scores = model.predict_proba(rows)[:, 1]
    backend.solve(make_problem(model, backend, rows[scores > 0.5][:20], rows[scores < 0.5][:1]))
    assert not backend._solver._marked.has_partings
    with pytest.raises(ValueError, match="at most 64 splits"):
        backend.forest.native.mark(np.zeros(5), partings=True)


def test_a_tree_may_have_as_many_splits_as_a_word_has_bits():
    """A chain of 64 splits on one column, each with a leaf on its left; the last one is bit 63."""
    n = 64
    at = np.arange(n)
    nodes = np.zeros(2 * n + 1, dtype=np.int64)
    nodes[2 * at] = (2 * at + 1) << 32
    values = np.zeros(2 * n + 1)
    values[2 * at], values[2 * at + 1], values[2 * n] = at, -at, 7.0
    none = np.zeros(1, dtype=np.int64)
    forest = _native.Forest(nodes, values, none, none, np.zeros(0, dtype=np.uint64), n_columns=1, base=0.0)
    queries = np.arange(-1.0, n + 1.0)[:, None] + 0.5
    rules = _native.Rules(minus=True, sign=1.0, sure=100.0, limit=100.0, max_size=1)
    for reference in (-5.0, 30.5, 100.0, np.nan):
        found = []
        for partings in (False, True):
            marked = forest.mark(np.array([reference]), partings=partings)
            active = np.ones((len(queries), 1), dtype=bool)
            session = _native.Session(marked, None, queries, active, np.zeros(1, dtype=np.int64), rules, 0.0)
            rows = np.arange(len(queries))
            answers = session.pairs(rows, np.ones_like(rows), np.full_like(rows, 10**9), np.inf, 2, 10**6, widest=2)
            found.append([session.query_margins(), *answers])
        assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
        assert np.array_equal(found[0][0], forest.margins(queries))
