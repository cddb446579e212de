"""The open contract of backends: a right one passes, and each way to break it is found."""

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import sev
from sev import _registry
from sev.core import Status
from sev.exceptions import FallbackWarning, InputError, VerificationError
from sev.testing import check_backend

EXAMPLE = Path(__file__).parents[2] / "examples" / "30_backend_of_your_own.py"
NAME = "backend_of_your_own"


@pytest.fixture(scope="module")
def example():
    """The backend of the example, as a module that a reader can be looked up in."""
    spec = importlib.util.spec_from_file_location(NAME, EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, NAME, module)
        patch.setattr(_registry, "_ADDED", {})  # what it registers ends with these tests
        spec.loader.exec_module(module)
        yield module


def test_the_backend_of_the_example_passes(example):
    assert check_backend(example.card(), example.applicants()) == 60


def test_rows_may_be_a_table(example):
    X = pd.DataFrame(example.applicants(), columns=["debt", "late", "years", "income"])
    assert check_backend(example.card(), X, n_rows=3) == 18


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        GradientBoostingClassifier(n_estimators=5, random_state=0),
        MLPClassifier((4,), max_iter=300, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_our_own_backends_pass(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)).round(1)
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0
    assert check_backend(model.fit(X, y), X, y, n_rows=4) == 24


def encode_of_the_row_before(backend, rows):
    return np.roll(type(backend).encode(backend, rows), 1, axis=0)


def encode_with_a_neighbour(backend, rows):
    found = type(backend).encode(backend, rows)
    found[:, 0] += 1e-3 * found[:, 1]
    return found


def encode_in_place(backend, rows):
    rows += 1.0
    return type(backend).encode(backend, rows - 1.0)


def larger_sets(backend, problem):
    """Proves too much: the first size is left out."""
    found = type(backend).solve(backend, problem)
    masks = found.masks.copy()
    one = np.diff(found.offsets) > 0
    masks[found.offsets[:-1][one]] |= np.uint64(0b1111)
    keep = found.offsets[:-1][one]
    offsets = np.concatenate([[0], np.cumsum(one)])
    return replace(found, masks=masks[keep], offsets=offsets, lower_bound=found.lower_bound + 1)


def first_set_only(backend, problem):
    found = type(backend).solve(backend, problem)
    one = np.diff(found.offsets) > 0
    offsets = np.concatenate([[0], np.cumsum(one)])
    return replace(found, masks=found.masks[found.offsets[:-1][one]], offsets=offsets)


def never_sure(backend, problem):
    found = type(backend).solve(backend, problem)
    optimal = found.status == Status.OPTIMAL.code
    status = np.where(optimal, Status.FEASIBLE.code, found.status).astype(np.int8)
    return replace(found, status=status, lower_bound=found.lower_bound - optimal)


def gives_up_as_a_proof(backend, problem):
    """What a limit ended is called unexplainable."""
    found = type(backend).solve(backend, problem)
    undecided = found.status == Status.UNDECIDED.code
    return replace(found, status=np.where(undecided, Status.UNEXPLAINABLE.code, found.status).astype(np.int8))


def bound_too_high(backend, problem):
    found = type(backend).solve(backend, problem)
    undecided = found.status == Status.UNDECIDED.code
    return replace(found, lower_bound=found.lower_bound + 5 * undecided)


def by_place_in_the_batch(backend, problem):
    """All sets of the first row only, as if a buffer for sets had run out."""
    found = type(backend).solve(backend, problem)
    return first_set_only(backend, problem) if problem.n_rows == 1 else found


def first_set_if_only_that_is_wanted(backend, problem):
    """As a backend may that says so with lists_sets_later; this one does not."""
    found = type(backend).solve(backend, problem)
    if not problem.limits.first_only:
        return found
    return replace(first_set_only(backend, problem), complete=found.complete & (np.diff(found.offsets) < 2))


BROKEN = {
    "encode of one row differs": {"encode": encode_of_the_row_before},
    "must change the encoded column 0 and no other": {"encode": encode_with_a_neighbour},
    "encode has changed the rows": {"encode": encode_in_place},
    "float64 of shape": {"encode": lambda backend, rows: type(backend).encode(backend, rows).astype(int)},
    "margins must have shape": {"margins": lambda backend, encoded: encoded},
    "differ from its own by up to": {"scores": lambda backend, margins: margins + 0.5},
    "not decrease as the margin increases": {
        "scores": lambda backend, margins: np.where(margins == margins.astype(int), margins, -margins)
    },
    "by the model's own scores it is size": {"solve": larger_sets},
    "sets {": {"solve": first_set_only},
    "must prove its answer": {"solve": never_sure},
    "an explanation where the exact search found none": {"solve": gives_up_as_a_proof},
    "the lower bound is": {"solve": bound_too_high},
    "one row at a time": {"solve": by_place_in_the_batch},
    "sets are listed in a batch of 300 rows": {"solve": first_set_if_only_that_is_wanted},
}


@pytest.mark.parametrize("as_table", [True, False])
def test_integer_columns_are_scored_at_thresholds_between_integers(as_table):
    table = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (150, 4)), columns=list("abcd"))
    rows = table if as_table else table.to_numpy()
    y = table["a"] + table["b"] > table["c"] + 4
    assert check_backend(GradientBoostingClassifier(n_estimators=10, random_state=0).fit(rows, y), rows, y) == 60


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_backend_is_found(example, message, monkeypatch):
    def read(model, response):
        backend = example.ScorecardBackend(model)
        for name, method in BROKEN[message].items():
            setattr(backend, name, method.__get__(backend))
        return backend

    monkeypatch.setattr(example, "read_scorecard", read)
    with pytest.raises(VerificationError, match=re.escape(message)):
        check_backend(example.card(), example.applicants(), n_rows=6)


def test_a_model_that_cannot_be_pickled_is_found(example):
    model = example.card()
    model.hook = lambda: None
    with pytest.raises(VerificationError, match="cannot be pickled"):
        check_backend(model, example.applicants(), n_rows=2)


def test_a_model_without_a_reader_is_refused():
    class Unknown:
        pass

    with pytest.raises(InputError, match=r"sev\.backends\.register\('.*Unknown'"):
        check_backend(Unknown(), np.zeros((3, 2)))


def test_a_reader_of_something_else_is_found(example, monkeypatch):
    monkeypatch.setattr(example, "read_scorecard", lambda model, response: object())
    with pytest.raises(VerificationError, match="object, which is not a Backend"):
        check_backend(example.card(), example.applicants())


def test_nothing_to_check_is_an_error(example):
    with pytest.raises(InputError, match="nothing can be checked"):
        check_backend(example.card(), np.tile([0.0, 0.0, 9.0, 90.0], (20, 1)))


def test_too_many_features_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 13))
    with pytest.raises(InputError, match="at most 12 columns"):
        check_backend(LogisticRegression().fit(X, X[:, 0] > 0), X)


@pytest.mark.parametrize("name", ["lists_sets_later", "score_tolerance", "proof_rows"])
def test_an_incomplete_backend_is_told_what_it_lacks(example, name, monkeypatch):
    class Incomplete:
        """All members of the example's backend but one."""

        def __init__(self, model):
            backend = example.ScorecardBackend(model)
            for member in set(dir(backend)) - {name}:
                if not member.startswith("_"):
                    setattr(self, member, getattr(backend, member))

    monkeypatch.setattr(example, "read_scorecard", lambda model, response: Incomplete(model))
    with pytest.raises(VerificationError, match=f"returned Incomplete, which is not a Backend: it has no {name}"):
        check_backend(example.card(), example.applicants())
    with pytest.warns(FallbackWarning, match=f"returned Incomplete, which is not a Backend: it has no {name}"):
        sev.Explainer(example.card(), example.applicants())


def test_sets_may_be_listed_later(example, monkeypatch):
    def read(model, response):
        backend = example.ScorecardBackend(model)
        backend.lists_sets_later = True
        backend.solve = first_set_if_only_that_is_wanted.__get__(backend)
        return backend

    monkeypatch.setattr(example, "read_scorecard", read)
    assert check_backend(example.card(), example.applicants(), n_rows=6) == 36
