"""The end of a range that is only that of the permitted values is no part of what a person is told."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import sev
from sev.explanations import Explanations

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"income": RNG.integers(1000, 8000, 300) // 7 * 7, "debt": RNG.normal(3.0, 1.0, 300)})
LABELS = (ROWS["income"] / 1000 - ROWS["debt"] + RNG.normal(0, 0.5, 300) < 1).astype(int)
NAMES = sev.Labels(features={"income": {"label": "income", "unit": "EUR"}}, classes={0: "approved", 1: "refused"})


def explain(**actions):
    model = LogisticRegression(max_iter=1000).fit(ROWS, LABELS)
    explainer = sev.Explainer(model, ROWS, LABELS, labels=NAMES, actions=sev.Actions(frozen=["debt"], **actions))
    row = pd.DataFrame({"income": [3000], "debt": [3.0]})
    return explainer, explainer.explain(row, values="any")


@pytest.mark.parametrize(
    ("actions", "limit"),
    [
        ({}, ""),
        ({"steps": {"income": 100}}, ""),  # the end of the background is no multiple of the step
        ({"increase": ["income"], "steps": {"income": 50}}, ""),
        # the user's own limits: a larger value might be refused again
        ({"within": {"income": sev.between(2000, 6030)}, "steps": {"income": 10}}, " (permitted up to 6030 EUR)"),
        ({"within": {"income": ("-10%", "+80%")}}, " (permitted up to 5400 EUR)"),
    ],
)
def test_an_end_that_is_a_limit_is_told_apart_from_what_is_enough(actions, limit):
    _, many = explain(**actions)
    [one] = many
    enough = one.enough["income"]
    assert enough.high_is_limit
    assert not enough.low_is_limit
    assert f"income been at least {enough.low:.0f} EUR{limit}, with" in one.to_text()
    assert "between" not in one.to_text()
    assert many.to_text() == [one.to_text()]
    again = Explanations.from_json(many.to_json())
    assert again.to_text() == many.to_text()


def test_a_range_that_ends_before_the_limit_keeps_both_ends():
    X = pd.DataFrame({"x": np.arange(100.0)})
    model = DecisionTreeClassifier(random_state=0).fit(X, ~X["x"].between(20, 40))
    [one] = sev.Explainer(model, X, ~X["x"].between(20, 40)).explain(X.iloc[[70]], values="any")
    assert "between 20 and 40" in one.to_text()


def test_the_menu_says_the_same():
    explainer, many = explain(within={"income": sev.between(2000, 6030)}, steps={"income": 10})
    menu = explainer.menu(many.queries, 1)
    [text] = sev.text.menu_table(menu[menu["outcome"] == "works"], NAMES)["changes"]
    assert text.startswith("at least ")
