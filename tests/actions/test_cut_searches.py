"""What ends a search early (a size, a number of predictions) leaves no claim that was not proven."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev


def rows_and_labels():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({name: rng.integers(0, 8, 200) for name in "abcd"})
    return rows, (rows.sum(axis=1) > 14).astype(int).to_numpy()


def score(frame):
    """High until a number falls to 0, or two others fall by a little."""
    array = np.asarray(frame, dtype=float)
    far, near = array[:, 0] < 1, (array[:, 1] < 5) & (array[:, 2] < 5)
    return np.where(far | near, 0.1, 0.9)


QUERY = pd.Series({"a": 7, "b": 5, "c": 5, "d": 6})


@pytest.mark.parametrize("family", ["function", "linear"])
def test_a_least_cost_within_a_size_is_not_the_least_of_all(family):
    rows, labels = rows_and_labels()
    model = score
    actions = None
    if family == "linear":
        model = LogisticRegression().fit(rows, labels)
        # only one feature reaches far enough alone, and it is costly
        actions = sev.Actions(costs={"a": 9.0}, within=dict.fromkeys("bcd", ("-3", "+0")))
    explainer = sev.Explainer(model, rows, labels, actions=actions)
    query = QUERY if family == "function" else pd.Series({"a": 7, "b": 5, "c": 4, "d": 4})
    whole = explainer.explain_one(query, values="any", minimise="cost")
    cut = explainer.explain_one(query, values="any", minimise="cost", max_size=1)
    assert (whole.status, cut.status) == ("optimal", "feasible")
    assert whole.size > cut.size == 1
    assert whole.cost < cut.cost


def test_a_search_that_ends_proves_no_least_cost():
    rows, labels = rows_and_labels()
    explainer = sev.Explainer(score, rows, labels)
    whole = explainer.explain_one(QUERY, values="any", minimise="cost")
    statuses = set()
    for most in range(10, 200, 10):
        one = explainer.explain_one(QUERY, values="any", minimise="cost", max_predictions=most)
        statuses.add(str(one.status))
        if one.status == "optimal":
            assert one.cost == pytest.approx(whole.cost)
        elif one.cost is not None:
            assert one.cost >= whole.cost - 1e-9
    assert "feasible" in statuses


def smooth(frame):
    return 1 / (1 + np.exp(12 - np.asarray(frame, dtype=float).sum(axis=1)))


@pytest.mark.parametrize("rules", [[], ["a >= 2", "b + c >= 7"]])
def test_a_set_as_small_as_its_bound_is_proven(rules):
    """Whatever ended the search, and however the set was found."""
    rows, labels = rows_and_labels()
    explainer = sev.Explainer(smooth, rows, labels, actions=sev.Actions(rules=rules))
    cut = 0
    for most in range(100, 1500, 100):
        one = explainer.explain_one(QUERY, values="any", max_predictions=most)
        if one.size is not None:
            cut += not one.sets_complete
            assert (one.status == "optimal") == (one.size == one.lower_bound)
    assert cut


def test_a_set_without_proof_keeps_the_rules():
    rows, labels = rows_and_labels()
    explainer = sev.Explainer(smooth, rows, labels, actions=sev.Actions(rules=["a >= 2", "b + c >= 7"]))
    found = 0
    for most in range(600, 1500, 150):
        one = explainer.explain_one(QUERY, values="any", max_predictions=most)
        if one.size is not None:
            found += not one.sets_complete
            assert one.result["a"] >= 2
            assert one.result["b"] + one.result["c"] >= 7
    assert found
