"""Every case equals the brute-force definition, in size and in the full list of sets, by the model's own scores."""

import warnings
from functools import cache

import cases
import numpy as np
import pandas as pd
import pytest
from oracle import assert_equals_oracle

import sev
from sev.exceptions import FallbackWarning, ReferenceWarning

ROWS_PER_CASE = 9


@cache
def build(case):
    """The explainer of a case, made once: calls do not change it, which the last tests of a case would show."""
    model, X, y = case.fitted()
    # smaller than the default: it grows in a third of the time of a test, and the columns that it fills are the same
    options = {"credibility": sev.credibility.IsolationForest(n_trees=8), **case.options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReferenceWarning)
        if case.warns:
            with pytest.warns(FallbackWarning):
                return sev.Explainer(model, X, y, **options), X
        return sev.Explainer(model, X, y, **options), X


def own_score(case, explainer, X):
    """The model's own score of the explained class for a DataFrame, worked out apart from the package."""
    model, target = explainer.model, explainer.target
    as_model_takes = (
        (lambda frame: frame) if isinstance(X, pd.DataFrame) else (lambda frame: frame.to_numpy(float, copy=True))
    )
    if case.score is not None:
        return lambda frame: np.asarray(case.score(model, as_model_takes(frame)), dtype=float)
    classes = list(model.classes_)
    place = classes.index(target)

    def score(frame):
        rows = as_model_takes(frame)
        if hasattr(model, "predict_proba"):
            outputs = np.asarray(model.predict_proba(rows), dtype=float)
            if len(classes) > 2:
                return outputs[:, place] - np.delete(outputs, place, axis=1).max(axis=1)
            return outputs[:, place]
        decision = model.decision_function(rows)
        return decision if place == 1 else -decision

    return score


def own_decisions(case, explainer, X):
    """Which rows the model calls the explained class: by ``predict``, or for bare scores by their middle."""
    model = explainer.model
    if case.score is not None:
        return np.asarray(case.score(model, X)) >= 0.5
    return np.asarray(model.predict(X)).ravel() == explainer.target


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_equals_the_definition(case):
    explainer, X = build(case)
    assert explainer.backend == case.backend
    features = {name: tuple(columns) for name, columns in explainer.explain(X[:1])._features.items()}
    assert len(features) <= 8
    score = own_score(case, explainer, X)
    names = list(features)
    rng = np.random.default_rng(3)
    compared = 0
    for kind in ("minus", "plus"):
        for restricted in ((), (names[0],), tuple(rng.choice(names, 3, replace=False))):
            many = explainer.explain(X, kind=kind, restricted=restricted)
            positive = np.flatnonzero(many.statuses != "not_target")
            assert positive.size
            many.to_frame()  # lists the sets of all rows at once
            for row in rng.choice(positive, min(ROWS_PER_CASE, positive.size), replace=False):
                assert_equals_oracle(many[int(row)], score, features)
                compared += 1
    assert compared >= 6 * min(ROWS_PER_CASE, positive.size)


@pytest.mark.parametrize("case", [case for case in cases.CASES if not case.options], ids=lambda case: case.name)
def test_the_decisions_explained_are_the_models_own(case):
    """By default a row is explained exactly when the model's own ``predict`` says so, threshold wrappers included."""
    explainer, X = build(case)
    many = explainer.explain(X)
    explained = many.statuses != "not_target"
    decided = own_decisions(case, explainer, X)
    assert 0 < decided.sum() < len(decided)
    tie = many.scores == explainer.threshold  # where a model's own predict decides a tie otherwise, the score rules
    assert (tie | (explained == decided)).all()
    assert explained[tie].all()


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_every_set_is_confirmed_by_the_model_and_nothing_given_is_changed(case):
    model, X, _ = case.fitted()
    before = X.copy()
    explainer, X = build.__wrapped__(case)  # one that is made after the copy
    many = explainer.explain(X[:60])
    many.verify()
    pd.testing.assert_frame_equal(pd.DataFrame(X), pd.DataFrame(before))
    assert model is explainer.model


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_row_order_batch_size_and_workers_do_not_matter(case):
    explainer, X = build(case)
    rows = X[:20]
    whole = explainer.explain(rows).to_frame()
    backwards = explainer.explain(rows[::-1]).to_frame()[::-1]
    pd.testing.assert_frame_equal(whole.reset_index(drop=True), backwards.reset_index(drop=True), rtol=case.rtol)
    one_by_one = pd.concat([explainer.explain(rows[n : n + 1]).to_frame() for n in range(len(rows))])
    pd.testing.assert_frame_equal(whole.reset_index(drop=True), one_by_one.reset_index(drop=True), rtol=case.rtol)
    shared = explainer.explain(rows, n_jobs=2).to_frame()
    pd.testing.assert_frame_equal(whole, shared, rtol=case.rtol)


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_an_explainer_survives_a_pickle(case):
    import pickle

    explainer, X = build(case)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", FutureWarning
        )  # a class that scikit-learn has deprecated says so when it is made
        again = pickle.loads(pickle.dumps(explainer))
    pd.testing.assert_frame_equal(explainer.explain(X[:20]).to_frame(), again.explain(X[:20]).to_frame())


def test_every_registered_model_has_a_case():
    from sev.backends import registered_models

    covered = [key for case in cases.CASES for key in case.registers]
    assert set(registered_models()) == set(covered)


@pytest.mark.parametrize("case", [case for case in cases.CASES if case.registers], ids=lambda case: case.name)
def test_a_case_is_of_the_model_that_it_stands_for(case):
    """The reader is the one registered under the case's own key, and it is the one that is used."""
    from sev.backends import registered_models

    model = case.fitted()[0]
    keys = [f"{cls.__module__.partition('.')[0]}.{cls.__name__}" for cls in type(model).__mro__]
    assert [key for key in keys if key in registered_models()][:1] == list(case.registers)
    assert build(case)[0].backend == case.backend
