"""Looking patterns up gives what walking the trees gives, which the definition has confirmed."""

import numpy as np
import pytest
from backends.trees.models import CASES, fitted
from backends.trees.problems import compare, make_problem, own_scores, read, take

from sev.backends.trees import _solver


def both_ways(problem, backend, monkeypatch):
    solver = backend._solver
    monkeypatch.setattr(solver, "_known", ())
    monkeypatch.setattr(_solver, "ROWS_FOR_PATTERNS", 10**9)
    walked = backend.solve(problem)
    assert not any(known.patterns for known in solver._known)
    monkeypatch.setattr(_solver, "ROWS_FOR_PATTERNS", 1)
    looked_up = backend.solve(problem)
    assert any(known.patterns for known in solver._known)
    return walked, looked_up


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
                for field in ("status", "lower_bound", "offsets", "masks", "complete"):
                    assert np.array_equal(getattr(walked, field), getattr(looked_up, field)), field


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
        for field in ("status", "lower_bound", "offsets", "masks", "complete"):
            assert np.array_equal(getattr(walked, field), getattr(looked_up, field)), field
