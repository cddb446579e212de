"""Ranges that are enough end where a rule does."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import sev

pytestmark = pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning")


def loans(step):
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"amount": generator.integers(0, 161, 600) / 4, "duration": generator.integers(4, 161, 600) / 4}
    )
    rows = (rows / step).round() * step if step else rows
    return rows, (rows.duration > 20).astype(int).to_numpy()


@pytest.mark.parametrize("step", [1.0, 0.5, None], ids=["integers", "halves", "continuous"])
@pytest.mark.parametrize("make", [lambda: DecisionTreeClassifier(), lambda: LogisticRegression(C=100.0)])
def test_a_range_is_narrowed_to_the_values_that_keep_a_rule(make, step):
    rows, labels = loans(step)
    model = make().fit(rows, labels)
    steps = {} if step is None else {"amount": step, "duration": step}
    actions = sev.Actions(frozen=["amount"], steps=steps, rules=["amount <= 2 * duration"])
    query = pd.DataFrame({"amount": [30.0], "duration": [30.0]})
    free = sev.Explainer(model, rows, labels, actions=sev.Actions(frozen=["amount"], steps=steps))
    wide = free.explain_one(query.iloc[0], values="any").enough["duration"]
    found = sev.Explainer(model, rows, labels, actions=actions).explain_one(query.iloc[0], values="any")
    narrow = found.enough["duration"]
    assert wide.low < 15
    assert narrow.low == pytest.approx(15.0, abs=1e-4)
    assert narrow.low >= 15.0
    assert narrow.high == wide.high
    assert found.changes["duration"].new in narrow


def test_two_ranges_are_narrowed_together():
    rows, _ = loans(1.0)
    labels = ((rows.duration > 20) | (rows.amount > 25)).astype(int).to_numpy()
    model = DecisionTreeClassifier(random_state=0).fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(rules=["amount <= duration"]))
    found = explainer.explain_one(pd.Series({"amount": 30.0, "duration": 30.0}), values="any")
    assert found.size == 2
    ranges = found.enough
    assert ranges
    inside = {
        name: [value for value in range(41) if value in ranges[name]] if name in ranges else [found.changes[name].new]
        for name in ("amount", "duration")
    }
    points = [(amount, duration) for amount in inside["amount"] for duration in inside["duration"]]
    assert len(points) > 1
    assert all(amount <= duration for amount, duration in points)
    assert not model.predict(pd.DataFrame(points, columns=["amount", "duration"], dtype=float)).any()


def test_choices_that_break_a_rule_are_left_out():
    generator = np.random.default_rng(1)
    rows = pd.DataFrame({"home": generator.choice(["a", "b", "c"], 300), "debt": generator.integers(0, 9, 300)})
    labels = (rows.home == "a").astype(int).to_numpy()
    model = _encoded(DecisionTreeClassifier(random_state=0)).fit(rows, labels)
    query = pd.Series({"home": "a", "debt": 5})
    for rules, wanted in (([], {"b", "c"}), (["home == 'c' -> debt <= 4"], {"b"})):
        explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(frozen=["debt"], rules=rules))
        assert set(explainer.explain_one(query, values="any").enough["home"]) == wanted


def test_a_rule_that_corners_do_not_decide_drops_the_range():
    rows, labels = loans(1.0)
    model = DecisionTreeClassifier().fit(rows, labels)
    actions = sev.Actions(frozen=["amount"], rules=["duration != 17"])
    found = sev.Explainer(model, rows, labels, actions=actions).explain_one(
        pd.Series({"amount": 30.0, "duration": 30.0}), values="any"
    )
    assert found.changes["duration"].new == 20
    assert found.enough == {}


def _encoded(model):
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["home"]), remainder="passthrough")
    return make_pipeline(columns, model)
