"""Values of a grid at the ends of what is permitted, and at the ends of the cells of trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import sev
from sev.actions import NumberDestinations
from sev.backends.trees.free.layout import permitted_between


def on_steps(step, low, high):
    return NumberDestinations(
        old=np.zeros(1), low=np.array([low]), high=np.array([high]), step=step, origin=np.zeros(1),
        missing=np.zeros(1, dtype=bool), scale=1.0, weight=1.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("step", "low", "high", "cell", "wanted"),
    [
        (1.0, 0.0, 9.0, (-np.inf, np.nextafter(3.0, -np.inf)), (0.0, 2.0)),
        (1.0, 0.0, 9.0, (np.nextafter(3.0, np.inf), np.inf), (4.0, 9.0)),
        (0.1, 0.0, 0.3, (-np.inf, np.inf), (0.0, 0.3)),  # 3 * 0.1 is more than 0.3 by rounding
        (0.1, 0.3, 0.9, (-np.inf, np.inf), (0.3, 0.9)),
        (0.1, 0.0, 0.9, (-np.inf, np.nextafter(0.3, -np.inf)), (0.0, 0.2)),
        (0.1, 0.0, 0.9, (np.nextafter(0.3, np.inf), np.inf), (0.4, 0.9)),
    ],
)
def test_a_cell_ends_to_the_last_bit_and_what_is_permitted_at_the_grid(step, low, high, cell, wanted):
    ends = permitted_between(on_steps(step, low, high), np.array([0]), np.array([cell[0]]), np.array([cell[1]]))
    assert tuple(float(one[0]) for one in ends) == wanted


@pytest.mark.parametrize("model", [GradientBoostingClassifier(n_estimators=5), LogisticRegression(C=1e4)])
def test_the_last_value_of_a_grid_of_tenths_is_found(model):
    generator = np.random.default_rng(0)
    rows = pd.DataFrame({"rate": generator.integers(0, 4, 300) / 10, "other": generator.integers(0, 3, 300)})
    labels = (rows.rate < 0.25).astype(int).to_numpy()
    actions = sev.Actions(steps={"rate": 0.1}, within={"rate": sev.between(0.1, 0.3)})
    one = sev.Explainer(model.fit(rows, labels), rows, labels, actions=actions).explain_one(
        pd.Series({"rate": 0.1, "other": 1}), values="any"
    )
    assert one.sets == (("rate",),)
    assert one.changes["rate"].new == 0.3
