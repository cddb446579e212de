"""Every case equals the brute-force definition, in size and in the full list of sets, by the model's own scores."""

import warnings

import cases
import numpy as np
import pandas as pd
import pytest
from oracle import assert_equals_oracle

import sev
from sev.exceptions import FallbackWarning, ReferenceWarning

ROWS_PER_CASE = 14


def build(case, **options):
    model, X, y = case.fitted()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReferenceWarning)
        if case.warns:
            with pytest.warns(FallbackWarning):
                return sev.Explainer(model, X, y, **{**case.options, **options}), X
        return sev.Explainer(model, X, y, **{**case.options, **options}), X


def own_score(explainer, X):
    """The model's own score of the explained class for a DataFrame, worked out apart from the package."""
    model, target = explainer.model, explainer.target
    as_model_takes = (lambda frame: frame) if isinstance(X, pd.DataFrame) else (lambda frame: frame.to_numpy(float))
    if not hasattr(model, "predict"):
        return lambda frame: model(as_model_takes(frame))
    classes = list(model.classes_)
    place = classes.index(target)

    def score(frame):
        rows = as_model_takes(frame)
        if hasattr(model, "predict_proba"):
            outputs = model.predict_proba(rows)
            if len(classes) > 2:
                return outputs[:, place] - np.delete(outputs, place, axis=1).max(axis=1)
            return outputs[:, place]
        decision = model.decision_function(rows)
        return decision if place == 1 else -decision

    return score


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_equals_the_definition(case):
    explainer, X = build(case)
    assert explainer.backend == case.backend
    features = {name: tuple(columns) for name, columns in explainer.explain(X[:1])._features.items()}
    assert len(features) <= 8
    score = own_score(explainer, X)
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
    if hasattr(explainer.model, "predict"):
        many = explainer.explain(X)
        tie = many.scores == explainer.threshold  # where a model's own predict decides a tie otherwise, the score rules
        explained = many.statuses != "not_target"
        assert (tie | (explained == (explainer.model.predict(X) == explainer.target))).all()
        assert explained[tie].all()


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_every_set_is_confirmed_by_the_model_and_nothing_given_is_changed(case):
    model, X, _ = case.fitted()
    before = X.copy()
    explainer, X = build(case)
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
    pd.testing.assert_frame_equal(whole.reset_index(drop=True), backwards.reset_index(drop=True), rtol=1e-12)
    one_by_one = pd.concat([explainer.explain(rows[n : n + 1]).to_frame() for n in range(len(rows))])
    pd.testing.assert_frame_equal(whole.reset_index(drop=True), one_by_one.reset_index(drop=True), rtol=1e-12)
    shared = explainer.explain(rows, n_jobs=2).to_frame()
    pd.testing.assert_frame_equal(whole, shared, rtol=1e-12)


@pytest.mark.parametrize("case", [case for case in cases.CASES if case.name != "callable"], ids=lambda case: case.name)
def test_an_explainer_survives_a_pickle(case):
    import pickle

    explainer, X = build(case)
    again = pickle.loads(pickle.dumps(explainer))
    pd.testing.assert_frame_equal(explainer.explain(X[:20]).to_frame(), again.explain(X[:20]).to_frame())


def test_every_registered_model_has_a_case():
    from sev.backends import registered_models

    covered = {key for case in cases.CASES for key in case.registers}
    assert set(registered_models()) <= covered | set(cases.COVERED_ELSEWHERE)
    assert not covered & set(cases.COVERED_ELSEWHERE)
