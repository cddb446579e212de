"""Under rules between features and a limit: bounds that no set is below."""

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
    "trees": GradientBoostingClassifier(n_estimators=40, max_depth=2, random_state=0),
}
#: No feature goes far without another, so that sets are larger than they would be without rules.
RULES = {
    "one pair": ["a <= b + 1", "b <= a + 1"],
    "two pairs": ["a <= b + 1", "b <= a + 1", "c <= d + 1", "d <= c + 1"],
}


@pytest.mark.parametrize("limit", [{"max_size": 1}, {"max_size": 2}, {"max_size": 3}, {"time_limit": 1e-6}], ids=str)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("family", MODELS)
def test_bounds_are_not_above_the_smallest_set(family, rules, limit):
    random = np.random.default_rng(2)
    rows = pd.DataFrame(random.integers(0, 9, (400, 5)), columns=list("abcde"))
    for one, other in ("ab", "cd"):
        rows[other] = np.clip(rows[one] + random.integers(-1, 2, 400), 0, 8)
    labels = (rows.sum(axis=1) + random.normal(size=400) > 19).astype(int)
    model = MODELS[family].fit(rows, labels)
    actions = sev.Actions(rules=RULES[rules], within=dict.fromkeys("abcde", ("-3", "+3")))
    explainer = sev.Explainer(model, rows, labels, actions=actions)
    queries = rows[model.predict(rows) == 1].iloc[:40]
    whole, cut = explainer.explain(queries, values="any"), explainer.explain(queries, values="any", **limit)
    n_cut = 0
    for one, other in zip(whole, cut, strict=True):
        assert other.status != "unexplainable" or one.status == "unexplainable"
        if one.size is None:
            continue
        assert one.status == "optimal"
        assert other.lower_bound <= one.size
        if other.size is not None:
            assert one.size <= other.size <= limit.get("max_size", 5)
        if "max_size" in limit and one.size > limit["max_size"]:
            assert (str(other.status), other.lower_bound) == ("undecided", limit["max_size"] + 1)
            n_cut += 1
        n_cut += "time_limit" in limit
    assert n_cut > 1, n_cut
