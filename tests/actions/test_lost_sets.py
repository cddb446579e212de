"""Smallest sets whose least costly values break a rule are found with other values."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import sev


@pytest.mark.parametrize("on_grid", [True, False])
def test_other_values_of_a_set_that_breaks_a_rule(on_grid):
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(generator.uniform(0, 10, (600, 2)), columns=["a", "b"])
    rows = rows.round() if on_grid else rows
    labels = ((rows.a > 5) & (rows.b > 5)).astype(int).to_numpy()
    model = DecisionTreeClassifier(random_state=0).fit(rows, labels)
    actions = sev.Actions(rules=["a <= 2 or a > 6"])
    one = sev.Explainer(model, rows, labels, actions=actions).explain_one(pd.Series({"a": 9.0, "b": 9.0}), values="any")
    assert one.status == "optimal"
    assert set(one.sets) == {("a",), ("b",)}
    new = one.changes_of(one.sets.index(("a",)))["a"].new
    assert new <= 2
    if on_grid:
        assert new == 2
    # of a number without a grid only candidates were tried: that these are all sets is not known
    assert one.sets_complete == on_grid


def test_a_set_that_breaks_a_rule_with_every_value_is_left_out():
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(generator.integers(0, 11, (600, 2)), columns=["a", "b"])
    labels = ((rows.a > 5) & (rows.b > 5)).astype(int).to_numpy()
    model = DecisionTreeClassifier(random_state=0).fit(rows, labels)
    actions = sev.Actions(rules=["a > 6"])
    one = sev.Explainer(model, rows, labels, actions=actions).explain_one(pd.Series({"a": 9, "b": 9}), values="any")
    assert one.sets == (("b",),)
    assert one.sets_complete
