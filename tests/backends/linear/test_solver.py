"""Ties at the threshold, unexplainable rows, caps and limits, more than 64 features."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import all_sets, assert_equals_oracle
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.preprocessing import LabelBinarizer

import sev


def linear_model(weights, intercept, *, probability=True):
    """A model with exactly these weights, so that sums of whole numbers are exact and ties are real."""
    model = LogisticRegression() if probability else RidgeClassifier()
    if not isinstance(getattr(type(model), "classes_", None), property):
        model.classes_ = np.array([0, 1])
    model.coef_ = np.array([weights], dtype=float)
    model.intercept_ = np.array([intercept], dtype=float)
    model.n_features_in_ = len(weights)
    if not probability:
        model._label_binarizer = LabelBinarizer(neg_label=-1).fit([0, 1])  # where older versions have the classes
    return model


def explain(model, query, reference, *, background=None, **options):
    rows = np.array([reference, query], dtype=float) if background is None else background
    explainer = sev.Explainer(
        model, rows, reference=np.array(reference, dtype=float), threshold=options.pop("threshold", None)
    )
    assert explainer.backend == "linear"
    return explainer.explain(np.array([query], dtype=float), **options)[0]


def own_score(model):
    if hasattr(model, "predict_proba"):
        return lambda frame: model.predict_proba(frame.to_numpy(float))[:, 1]
    return lambda frame: model.decision_function(frame.to_numpy(float))


whole = st.integers(-3, 3)


@settings(max_examples=250, deadline=None)
@given(
    weights=st.lists(whole, min_size=2, max_size=6),
    data=st.data(),
    kind=st.sampled_from(["minus", "plus"]),
    probability=st.booleans(),
)
def test_ties_are_decided_as_the_model_decides_them(weights, data, kind, probability):
    size = len(weights)
    query = data.draw(st.lists(st.integers(-2, 2), min_size=size, max_size=size))
    reference = data.draw(st.lists(st.integers(-2, 2), min_size=size, max_size=size))
    intercept = data.draw(st.sampled_from([-1.0, 0.0, 1.0, -2.0]))
    restricted = data.draw(st.lists(st.sampled_from([f"x{n}" for n in range(size)]), max_size=2))
    model = linear_model(weights, intercept, probability=probability)
    margins = np.array([query, reference]) @ np.array(weights) + intercept
    if not (margins[0] >= 0 > margins[1]):
        return
    one = explain(model, query, reference, kind=kind, restricted=restricted)
    assert_equals_oracle(one, own_score(model), {f"x{n}": (f"x{n}",) for n in range(size)})


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["minus", "plus"]))
def test_sums_that_only_differ_by_rounding(seed, kind):
    """Weights such as 0.1 and 0.3, whose sums meet the threshold only up to rounding."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 7))
    weights = rng.choice([0.1, 0.2, 0.3, -0.1, -0.3, 0.7], size)
    query, reference = rng.integers(-2, 3, size) / 1.0, rng.integers(-2, 3, size) / 1.0
    intercept = float(rng.choice([0.1, -0.1, 0.3, -0.3, 0.0]))
    model = linear_model(weights, intercept)
    scores = model.predict_proba(np.array([query, reference]))[:, 1]
    if not (scores[0] >= 0.5 > scores[1]):
        return
    if not has_one_word(model, query, reference):
        return
    one = explain(model, query, reference, kind=kind)
    assert_equals_oracle(one, own_score(model), {f"x{n}": (f"x{n}",) for n in range(size)})


def has_one_word(model, query, reference):
    """Whether the model decides each vertex alike alone and in a batch, row by row or column by column in memory.

    The product of matrices behind its scores may add up in another order for each of them.
    """
    rows = np.where(all_sets(len(query)), reference, query)
    score = own_score(model)
    batch = score(pd.DataFrame(rows)) >= 0.5
    alone = np.array([score(pd.DataFrame(row[None]))[0] >= 0.5 for row in rows])
    by_row = model.predict_proba(np.ascontiguousarray(rows))[:, 1] >= 0.5
    by_column = model.predict_proba(np.asfortranarray(rows))[:, 1] >= 0.5
    return (batch == alone).all() and (batch == by_row).all() and (batch == by_column).all()


def test_a_score_of_exactly_the_threshold_is_positive():
    model = linear_model([1.0, 1.0, 1.0], 0.0)
    one = explain(model, [1, 1, 1], [-1, -1, -1])  # margin 3; two changes give -1, one gives 1
    assert one.size == 2
    tie = explain(model, [1, 0, 1], [-1, -1, -1])  # margin 2; changing x0 gives exactly 0, which is still positive
    assert tie.size == 2
    assert set(tie.sets) == {("x0", "x1"), ("x0", "x2"), ("x1", "x2")}


def test_unexplainable_is_proven():
    model = linear_model([5.0, 1.0, 1.0], -1.0)
    one = explain(model, [1, 1, 1], [-1, -1, -1], restricted=["x0"])
    assert one.status == "unexplainable"
    assert one.size is None
    assert one.sets == ()
    assert one.lower_bound == 3
    assert one.result is None


def test_max_sets_keeps_the_best_and_says_so():
    weights = np.arange(1.0, 13.0)
    model = linear_model(weights, -60.0)
    query, reference = np.ones(12), -np.ones(12)
    everything = explain(model, query, reference, max_sets=10_000)
    assert everything.size == 1
    assert everything.sets_complete
    assert [names[0] for names in everything.sets] == [f"x{n}" for n in range(11, -1, -1) if 18 - 2 * (n + 1) < 0]
    best = explain(model, query, reference, max_sets=2)
    assert best.sets == everything.sets[:2]
    assert not best.sets_complete
    exactly = explain(model, query, reference, max_sets=len(everything.sets))
    assert exactly.sets_complete
    assert explain(model, query, reference, max_sets=1).sets_complete is False


def test_the_best_sets_are_kept_when_there_are_many():
    rng = np.random.default_rng(5)
    weights = 1.0 + 0.1 * rng.random(14)
    model = linear_model(weights, -float(weights.sum()) * 0.3)
    query, reference = np.ones(14), np.zeros(14)
    everything = explain(model, query, reference, max_sets=100_000)
    some = explain(model, query, reference, max_sets=7)
    assert len(everything.sets) > 20
    assert some.sets == everything.sets[:7]


def test_max_size_gives_an_honest_bound():
    model = linear_model(np.ones(6), -0.5)
    one = explain(model, np.ones(6), -np.ones(6), max_size=2)
    assert (one.status, one.size, one.lower_bound) == ("undecided", None, 3)
    assert explain(model, np.ones(6), -np.ones(6), max_size=3).size == 3


@pytest.mark.parametrize("n_columns", [65, 130])
@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_more_than_64_features(n_columns, kind):
    rng = np.random.default_rng(n_columns)
    weights = rng.normal(size=n_columns) * 0.05
    weights[[0, 63, 64, n_columns - 1]] = [3.0, 2.0, 2.5, 4.0]
    model = linear_model(weights, -2.0 if kind == "minus" else -6.0)
    query, reference = np.ones(n_columns), np.zeros(n_columns)
    one = explain(model, query, reference, kind=kind, max_sets=10_000)

    def crosses(chosen):
        row = np.where(chosen, reference, query) if kind == "minus" else np.where(chosen, query, reference)
        positive = model.predict_proba(row[None])[0, 1] >= 0.5
        return positive if kind == "plus" else not positive

    names = [f"x{n}" for n in range(n_columns)]
    expected = set()
    for size in (1, 2, 3):
        rows = list(combinations(range(n_columns), size)) if size < 3 else []
        for chosen in rows:
            mask = np.zeros(n_columns, dtype=bool)
            mask[list(chosen)] = True
            if crosses(mask):
                expected.add(tuple(names[n] for n in chosen))
        if expected:
            break
    if expected:
        assert one.size == size
        assert set(one.sets) == expected
    else:
        assert one.size >= 3
        one.verify()


def test_equal_weights_do_not_explode():
    """40 equal weights: more than 10^11 minimum sets, of which the first hundred are listed at once."""
    model = linear_model(np.ones(40), -0.5)
    one = explain(model, np.ones(40), -np.ones(40))
    assert one.size == 20
    assert len(one.sets) == 100
    assert not one.sets_complete


def test_features_that_agree_with_the_reference_are_never_named():
    model = linear_model([2.0, 2.0, 2.0], -1.0)
    one = explain(
        model,
        [1, 1, 0],
        [0, 1, 0],
        background=np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]),
        kind="minus",
        threshold=0.9,
    )
    assert all(names == ("x0",) for names in one.sets)


def test_listing_later_gives_the_same_as_listing_now():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = (X.sum(axis=1) > 0).astype(int)
    explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    many = explainer.explain(X)
    singly = [many[n].sets for n in range(len(many))]
    assert [one.sets for one in many] == singly
    frame = many.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["n_sets"].tolist() == [len(sets) for sets in singly]
