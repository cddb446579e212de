"""Where few sets are wanted, these are the least costly of all smallest ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import sev

pytestmark = pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning")

MODELS = {
    "linear": LogisticRegression(max_iter=1000),
    "trees": GradientBoostingClassifier(n_estimators=20, max_depth=2, random_state=0),
}
COSTS = {name: 1.0 + 0.7 * at for at, name in enumerate("dcbae")}


def make_explainer(family, rules):
    random = np.random.default_rng(1)
    rows = pd.DataFrame(random.integers(0, 9, (300, 5)), columns=list("abcde"))
    labels = (rows @ [1.0, 0.9, 0.8, 1.1, 0.7] + random.normal(size=300) > 19).astype(int)
    model = MODELS[family].fit(rows, labels)
    actions = sev.Actions(costs=COSTS, rules=rules)
    return sev.Explainer(model, rows, labels, actions=actions), rows[model.predict(rows) == 1].iloc[:24]


@pytest.mark.parametrize("at_once", [True, False], ids=["alone", "batch"])
@pytest.mark.parametrize("rules", [(), ("a <= b + 4", "c <= d + 5")], ids=["free", "rules"])
@pytest.mark.parametrize("family", MODELS)
def test_the_least_costly_of_all_are_listed(family, rules, at_once):
    explainer, rows = make_explainer(family, rules)
    parts = [rows] if not at_once else [rows.iloc[[place]] for place in range(6)]
    several = 0
    for part in parts:
        whole = explainer.explain(part, values="any")
        for most in (1, 2):
            for one, every in zip(explainer.explain(part, values="any", max_sets=most), whole, strict=True):
                assert one.sets == every.sets[:most]
                assert [one.changes_of(at) for at in range(len(one.sets))] == [
                    every.changes_of(at) for at in range(len(one.sets))
                ]
                assert one.cost == every.cost
                assert one.sets_complete == (len(every.sets) <= most)
                several += len(every.sets) > most
    assert several > 3
