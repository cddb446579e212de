"""Looking patterns up gives what walking the trees gives, which the definition has confirmed."""

from dataclasses import replace

import numpy as np
import pytest
from backends.trees.models import CASES, fitted
from backends.trees.problems import compare, make_problem, own_scores, read, take, with_limits
from sklearn.ensemble import GradientBoostingClassifier

from sev import _native
from sev.backends.trees.search import plan


def both_ways(problem, backend, monkeypatch):
    solver = backend._solver
    monkeypatch.setattr(solver, "_known", ())
    monkeypatch.setattr(plan, "ROWS_FOR_PATTERNS", 10**9)
    walked = backend.solve(problem)
    assert not any(known.patterns for known in solver._known)
    monkeypatch.setattr(plan, "ROWS_FOR_PATTERNS", 1)
    looked_up = backend.solve(problem)
    assert any(known.patterns for known in solver._known)
    return walked, looked_up


def assert_same(one, other):
    for field in ("status", "lower_bound", "offsets", "masks", "complete"):
        assert np.array_equal(getattr(one, field), getattr(other, field)), field


@pytest.mark.parametrize("name", CASES)
def test_patterns_give_the_same_answers(name, monkeypatch):
    case = fitted(name)
    backend = read(case.model, case.response)
    if not backend._solver._is_small:
        pytest.skip("its trees have too many splits, or splits on categories")
    threshold = 0.0 if case.response == "decision_function" else 0.5
    scores = own_scores(case.model, case.response)(case.rows)
    positive, negative = np.flatnonzero(scores >= threshold), np.flatnonzero(scores < threshold)
    queries = take(case.rows, positive[:80])
    for number in negative[[3, 20]]:
        for kind in ("minus", "plus"):
            for restricted in ((), (0, 2, 3, 5)):
                problem = make_problem(
                    case.model, backend, queries, take(case.rows, [number]), kind=kind, response=case.response,
                    threshold=threshold, restricted=restricted,
                )  # fmt: skip
                walked, looked_up = both_ways(problem, backend, monkeypatch)
                assert_same(walked, looked_up)


@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_patterns_of_missing_values(kind, monkeypatch):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 6)).round(1)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    labels = (np.nan_to_num(rows[:, 0]) + np.isnan(rows[:, 1]) - np.nan_to_num(rows[:, 2]) > 0.3).astype(int)
    model = xgboost.XGBClassifier(n_estimators=40, max_depth=3).fit(rows, labels)
    backend = read(model)
    assert backend._solver._is_small
    scores = model.predict_proba(rows)[:, 1]
    for number in np.flatnonzero(scores < 0.5)[[0, 1, 2]]:
        problem = make_problem(model, backend, rows[scores >= 0.5], rows[[number]], kind=kind)
        walked, looked_up = both_ways(problem, backend, monkeypatch)
        assert compare(problem, looked_up) > 50
        assert_same(walked, looked_up)


@pytest.mark.parametrize("n_trees", [1, 8, 63, 64, 65, 130])
@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_patterns_of_any_number_of_trees(n_trees, kind, monkeypatch):
    """Trees in which row and reference part are marked in words of 64."""
    rng = np.random.default_rng(n_trees)
    rows = rng.normal(size=(300, 8)).round(1)
    labels = (rows[:, :4].sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    model = GradientBoostingClassifier(n_estimators=n_trees, max_depth=3, random_state=0).fit(rows, labels)
    backend = read(model)
    threshold = float(np.median(model.predict_proba(rows)[:, 1]))
    reference = rows[[np.flatnonzero(model.predict_proba(rows)[:, 1] < threshold)[0]]]
    problem = make_problem(model, backend, rows, reference, kind=kind, threshold=threshold)
    walked, looked_up = both_ways(problem, backend, monkeypatch)
    assert_same(walked, looked_up)
    np.testing.assert_allclose(looked_up.query_margins, walked.query_margins, rtol=0, atol=1e-12)
    np.testing.assert_allclose(looked_up.set_margins, walked.set_margins, rtol=0, atol=1e-12)
    assert compare(problem, looked_up) > 50


def many_features(depth=3, leaves=None, n_columns=12):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, n_columns))
    labels = (rows.sum(axis=1) + rng.normal(size=400) > 0).astype(int)
    model = GradientBoostingClassifier(n_estimators=60, max_depth=depth, max_leaf_nodes=leaves, random_state=0)
    return model.fit(rows, labels), rows


def close_reference(model, rows, kind):
    """A negative row from which, or to which, the way is long."""
    scores = model.predict_proba(rows)[:, 1]
    scores[scores >= 0.49] = -1.0 if kind == "minus" else 2.0
    return rows[[scores.argmax() if kind == "minus" else scores.argmin()]]


@pytest.mark.parametrize("kind", ["minus", "plus"])
@pytest.mark.parametrize(("depth", "leaves"), [(3, None), (5, 7)])
def test_large_sets_by_patterns(kind, depth, leaves, monkeypatch):
    """Sets of four and more, rows without any, and trees that are deep but have few splits."""
    model, rows = many_features(depth, leaves)
    backend = read(model)
    assert backend._solver._is_small
    sizes = []
    for seed in (5, 6, 7):
        reference = close_reference(model, np.random.default_rng(seed).normal(size=rows.shape), kind)
        for restricted in ((), (0, 1, 2, 3)):
            problem = make_problem(model, backend, rows[:60], reference, kind=kind, restricted=restricted)
            walked, looked_up = both_ways(problem, backend, monkeypatch)
            compare(problem, looked_up)
            assert_same(walked, looked_up)
            sizes += looked_up.sizes().tolist()
    assert np.nanmax(sizes) >= 4
    assert np.isnan(sizes).any()


@pytest.mark.parametrize("max_size", [1, 2, 3, 4])
def test_a_largest_size_means_the_same_either_way(max_size, monkeypatch):
    model, rows = many_features()
    backend = read(model)
    problem = make_problem(model, backend, rows, close_reference(model, rows, "minus"), restricted=(0, 1, 2, 3))
    assert_same(*both_ways(with_limits(problem, max_size=max_size), backend, monkeypatch))


def test_tables_are_kept_and_never_taken_for_other_rows(monkeypatch):
    """Tables serve later rows, one at a time too, unless these may use other features than those they were made for."""
    monkeypatch.setattr(plan, "ROWS_FOR_PATTERNS", 20)
    made = []
    make = _native.Patterns
    monkeypatch.setattr(_native, "Patterns", lambda *a: made.append(1) or make(*a))
    model, rows = many_features(n_columns=7)
    rows[:, 2] = rows[:, 2].round()
    backend = read(model)
    reference = close_reference(model, rows, "minus")
    reference[:, 2] = 0.0  # which many rows share
    for restricted in ((), (2,), (0, 2), ()):
        problem = make_problem(model, backend, rows[:60], reference, restricted=restricted)
        whole = backend.solve(problem)
        compare(problem, whole)
        for row in range(problem.n_rows):
            alone = replace(
                problem, queries=problem.queries[[row]], active=problem.active[[row]],
                evaluate=lambda rows, sets, row=row, whole=problem: whole.evaluate(rows + row, sets),
            )  # fmt: skip
            assert_same(backend.solve(alone), whole.take(np.array([row])))
    assert len(made) <= 4


def test_a_small_batch_counts_towards_the_tables(monkeypatch):
    monkeypatch.setattr(plan, "ROWS_FOR_PATTERNS", 60)
    model, rows = many_features(n_columns=7)
    backend = read(model)
    problem = make_problem(model, backend, rows[:50], close_reference(model, rows, "minus"))
    answers = [backend.solve(problem)]
    assert not backend._solver._known[0].patterns
    while not backend._solver._known[0].patterns:
        answers.append(backend.solve(problem))
    answers.append(backend.solve(problem))
    assert 3 <= len(answers) <= 5
    for answer in answers:
        assert_same(answer, answers[0])


def test_tables_do_not_serve_a_restriction_that_they_have_not_seen(monkeypatch):
    """A feature on which all rows so far agreed with the reference is restricted for the next ones."""
    monkeypatch.setattr(plan, "ROWS_FOR_PATTERNS", 20)
    model, rows = many_features(n_columns=7)
    backend = read(model)
    reference = close_reference(model, rows, "minus")
    best = int(model.feature_importances_.argmax())
    agreeing = rows[:150].copy()
    agreeing[:, best] = reference[0, best]
    backend.solve(make_problem(model, backend, agreeing, reference))
    assert backend._solver._known[0].patterns
    problem = make_problem(model, backend, rows[:150], reference, restricted=(best,))
    compare(problem, backend.solve(problem))
