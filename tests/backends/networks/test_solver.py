"""Networks against the brute-force definition, through each model's own scores."""

from dataclasses import replace

import numpy as np
import pytest
from backends.networks.cases import CASES, get_case
from backends.networks.problems import compare_with_oracle, make_problem, sets_of
from oracle import oracle_of_problem
from scipy.special import expit, logit

from sev.backends import Backend
from sev.backends.networks import _search
from sev.core import Limits

N_ROWS = 26
KINDS = ("minus", "plus")
RESTRICTED = ((), (1, 3))


def problem_of(name, kind="minus", restricted=(), limits=None, n_rows=N_ROWS):
    case = get_case(name)
    return make_problem(
        case.backend,
        case.score,
        case.rows[:n_rows],
        case.reference,
        kind=kind,
        groups=case.groups,
        restricted=restricted,
        limits=limits,
        threshold=case.threshold,
    )


@pytest.mark.parametrize("restricted", RESTRICTED, ids=["free", "restricted"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_equals_the_oracle_in_size_and_sets(name, kind, restricted):
    problem = problem_of(name, kind, restricted)
    compare_with_oracle(problem, get_case(name).backend.solve(problem))


def test_the_table_is_large():
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("skorch", reason="skorch is not installed")
    rows = {(name, kind): problem_of(name, kind).n_rows for name in CASES for kind in KINDS}
    assert min(rows.values()) >= 5
    assert sum(rows.values()) * len(RESTRICTED) >= 600


@pytest.mark.parametrize("name", CASES)
def test_scores_meet_the_models_own(name):
    case = get_case(name)
    backend = case.backend
    assert isinstance(backend, Backend)
    rows = backend.encode(case.rows)
    np.testing.assert_allclose(
        backend.scores(backend.margins(rows)), case.score(case.rows), rtol=0, atol=backend.score_tolerance
    )


def test_ties_do_meet_the_threshold():
    for name in ("torch-ties-one-output", "torch-ties-two-outputs", "torch-ties-at-threshold"):
        case = get_case(name)
        problem = problem_of(name)
        sets = np.array(list(np.ndindex(*(2,) * 7)), dtype=bool)
        scores = [problem.evaluate(np.full(len(sets), row), sets) for row in range(problem.n_rows)]
        assert (np.concatenate(scores) == case.threshold).sum() >= 10


@pytest.mark.parametrize("name", ["mlp-relu", "torch-any-logit"])
def test_inside_the_band_the_model_decides(name):
    """A model that decides a little to the side of where the margins say, within the band that the problem gives."""
    case = get_case(name)
    problem = problem_of(name)
    threshold = expit(logit(case.threshold) - 0.6)
    shifted = replace(
        problem, low=problem.low - 0.7, high=problem.high + 0.7, is_across=lambda scores: scores < threshold
    )
    unlike = sum(oracle_of_problem(problem, row) != oracle_of_problem(shifted, row) for row in range(problem.n_rows))
    assert unlike >= 3
    compare_with_oracle(shifted, case.backend.solve(shifted))


@pytest.mark.parametrize("name", ["torch-one-logit", "torch-any-logit", "torch-any-probability"])
def test_a_tie_is_asked_of_the_model_even_without_a_band(name):
    """A threshold at the very score of one vertex, and a problem that leaves all care for rounding to the solver."""
    problem = problem_of(name)
    single = np.eye(problem.n_features, dtype=bool)
    scores = np.array([problem.evaluate(np.full(len(single), row), single) for row in range(problem.n_rows)])
    row, feature = np.unravel_index(np.argmin(scores), scores.shape)
    threshold = scores[row, feature]
    margin = (logit(threshold) if name.endswith("logit") else threshold) + 1e-6  # as float32 may have it
    asked = set()

    def evaluate(rows, sets):
        asked.update((int(number), *np.flatnonzero(chosen).tolist()) for number, chosen in zip(rows, sets, strict=True))
        return problem.evaluate(rows, sets)

    tied = replace(problem, low=margin, high=margin, evaluate=evaluate, is_across=lambda scores: scores < threshold)
    get_case(name).backend.solve(replace(tied, limits=Limits(max_size=1)))
    assert (row, feature) in asked
    assert len(asked) < problem.n_rows * problem.n_features / 4


@pytest.mark.parametrize("name", ["mlp-relu", "torch-one-logit", "torch-any-logit"])
@pytest.mark.parametrize("chunk", [1, 40, 1 << 18])
def test_chunks_do_not_matter(name, chunk, monkeypatch):
    problem = problem_of(name)
    backend = get_case(name).backend
    whole = backend.solve(problem)
    monkeypatch.setattr(_search, "CHUNK_NUMBERS", chunk)
    monkeypatch.setattr(_search, "SMALLEST_CHUNK", 3)
    pieces = backend.solve(problem)
    np.testing.assert_array_equal(whole.status, pieces.status)
    np.testing.assert_array_equal(whole.offsets, pieces.offsets)
    np.testing.assert_array_equal(whole.masks, pieces.masks)


@pytest.mark.parametrize("name", ["mlp-relu", "mlp-tanh", "torch-two-logits", "torch-any-probability"])
def test_batches_and_row_order_do_not_matter(name):
    case = get_case(name)
    together = problem_of(name)
    solution = case.backend.solve(together)
    for row in range(together.n_rows):
        alone = make_problem(
            case.backend, case.score, together.queries[row : row + 1], case.reference, threshold=case.threshold
        )
        assert sets_of(alone, case.backend.solve(alone), 0) == sets_of(together, solution, row)


@pytest.mark.parametrize("name", ["mlp-relu", "torch-one-logit", "torch-any-logit"])
def test_sets_come_furthest_across_first(name):
    problem = problem_of(name, "plus")
    solution = get_case(name).backend.solve(problem)
    several = 0
    for row in range(problem.n_rows):
        masks = np.zeros((0, problem.n_features), dtype=bool)
        for chosen in sets_of(problem, solution, row):
            masks = np.vstack([masks, np.isin(np.arange(problem.n_features), chosen)])
        scores = problem.evaluate(np.full(len(masks), row), masks)
        assert (np.diff(scores) <= 1e-6).all()
        several += len(masks) > 1
    assert several >= 3


def test_the_cap_on_sets_cuts_honestly():
    uncut = problem_of("mlp-relu")
    solution = get_case("mlp-relu").backend.solve(uncut)
    problem = problem_of("mlp-relu", limits=Limits(max_sets=1))
    capped = get_case("mlp-relu").backend.solve(problem)
    n_sets = np.diff(solution.offsets)
    np.testing.assert_array_equal(capped.complete, n_sets <= 1)
    assert (n_sets > 1).any()
    for row in np.flatnonzero(n_sets):
        assert sets_of(problem, capped, row) == sets_of(uncut, solution, row)[:1]
