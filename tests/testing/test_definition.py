"""The definition that ships for contract tests, compared with one that shares no code with it."""

import numpy as np
import pandas as pd
import pytest
from oracle import oracle
from sklearn.ensemble import RandomForestClassifier

import sev
from sev.testing._definition import smallest_sets

GROUPS = {"a": ["a"], "pair": ["b", "c"], "d": ["d"], "e": ["e"]}


@pytest.fixture(scope="module")
def explainer():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(200, 5)).round(1), columns=list("abcde"))
    labels = rows["a"] * rows["b"] + rows["d"] - 0.5 * rows["e"] > 0
    model = RandomForestClassifier(20, max_depth=4, random_state=0).fit(rows, labels)
    return sev.Explainer(model, rows, labels, groups={"pair": ["b", "c"]}), model, rows


@pytest.mark.parametrize("kind", ["minus", "plus"])
@pytest.mark.parametrize("restricted", [(), ("pair",), ("e",)])
def test_both_definitions_agree(explainer, kind, restricted):
    explain, model, rows = explainer

    def score(frame):
        return model.predict_proba(frame)[:, 1]

    sizes = []
    for one in explain.explain(rows[:60], kind=kind, restricted=restricted):
        if one.status != "not_target":
            given = {"kind": kind, "restricted": restricted, "threshold": one.threshold}
            size, sets = oracle(score, one.query.to_dict(), one.reference.to_dict(), GROUPS, **given)
            assert smallest_sets(one, score) == (size, sets)
            sizes.append(size)
    assert len(sizes) > 15
    assert len(set(sizes)) > 1
