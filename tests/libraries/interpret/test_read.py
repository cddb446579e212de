"""Explainable boosting machines: additive without interactions, a black box with them."""

import numpy as np
import pytest
from oracle import assert_equals_oracle

import sev
from sev.exceptions import FallbackWarning

glassbox = pytest.importorskip("interpret.glassbox", reason="interpret-core is not installed")


def fitted(interactions):
    import cases

    X, y = cases.table()
    options = {"max_bins": 8, "outer_bags": 1, "max_rounds": 30, "n_jobs": 1, "random_state": 0}
    return glassbox.ExplainableBoostingClassifier(interactions=interactions, **options).fit(X, y), X, y


@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_explainable_boosting_without_interactions_is_additive(kind):
    model, X, y = fitted(0)
    explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "additive"
    many = explainer.explain(X, kind=kind)
    positive = np.flatnonzero(many.statuses != "not_target")
    many.to_frame()
    for row in positive[:40]:
        assert_equals_oracle(many[int(row)], lambda f: model.predict_proba(f)[:, 1], {c: (c,) for c in X.columns})


def test_explainable_boosting_with_interactions_is_a_black_box():
    model, X, y = fitted(3)
    with pytest.warns(FallbackWarning, match="interactions"):
        explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "black box"
    assert explainer.backend_reason
