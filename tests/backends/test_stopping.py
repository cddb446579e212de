"""Searches that end because nobody waits for them any more."""

import threading

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import sev
from sev.backends import SearchStopped, _scores, stopping_when


@pytest.fixture(scope="module")
def forest():
    """An explainer of a forest whose searches take long."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 60))
    y = (X.sum(axis=1) + rng.normal(size=800) > 0).astype(int)
    model = RandomForestClassifier(300, random_state=0).fit(X, y)
    explainer = sev.Explainer(model, X, y, credibility=False)
    return explainer, X[np.argsort(-model.predict_proba(X)[:, 1])[:3]]


class AfterSome:
    """Says that it is over from some call on, and counts the calls."""

    def __init__(self, calls):
        self.left, self.calls = calls, 0

    def __call__(self):
        self.calls += 1
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("values", ["reference", "any"])
def test_compiled_searches_end_while_they_run(forest, values, monkeypatch):
    explainer, rows = forest
    monkeypatch.setattr(_scores, "check_stopped", lambda: None)  # only the compiled search looks
    count = AfterSome(10**9)
    with stopping_when(count):
        explainer.explain(rows, values=values, time_limit=0.5)
    assert count.calls > 5
    some = AfterSome(3)
    with stopping_when(some), pytest.raises(SearchStopped):
        explainer.explain(rows, values=values)
    assert some.calls == 4  # the first that says so ends it
    assert explainer.explain(rows[:1], time_limit=0.05)[0].status is not None  # and nothing is left behind


def test_a_black_box_is_called_no_more():
    calls = []

    def model(X):
        calls.append(len(X))
        return (X[:, :12].sum(axis=1) > 0.5).astype(float)

    background = np.vstack([np.zeros((19, 40)), np.ones((1, 40))])
    explainer = sev.Explainer(model, background, target=1, reference=np.zeros(40), threshold=0.5)
    calls.clear()
    with stopping_when(lambda: len(calls) >= 2), pytest.raises(SearchStopped):
        explainer.explain(np.full((1, 40), 0.1))
    assert len(calls) == 2


def test_other_threads_search_on_and_inner_blocks_give_way_to_outer_ones(forest):
    explainer, rows = forest
    answered = []

    def search():
        answered.append(explainer.explain(rows[:1], time_limit=0.2)[0])

    with stopping_when(lambda: True):
        thread = threading.Thread(target=search)
        thread.start()
        thread.join()
        assert len(answered) == 1
        with stopping_when(lambda: False):
            assert explainer.explain(rows[:1], time_limit=0.2)[0].score == answered[0].score
        with pytest.raises(SearchStopped):
            explainer.explain(rows[:1], time_limit=0.2)
    explainer.explain(rows[:1], time_limit=0.2)
