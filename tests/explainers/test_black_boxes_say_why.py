"""A model without an exact form says why it is a black box, and what that means."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sev
from sev.exceptions import FallbackWarning

MEMBERS = [("linear", LogisticRegression()), ("trees", RandomForestClassifier(n_estimators=3, random_state=0))]
MODELS = {
    "soft vote": (VotingClassifier(MEMBERS, voting="soft"), 2, "VotingClassifier combines 2 models"),
    "hard vote": (VotingClassifier(MEMBERS, voting="hard"), 2, "only its labels can be explained"),
    "stack": (StackingClassifier(MEMBERS, cv=2), 2, "StackingClassifier combines 2 models"),
    "one against the rest": (OneVsRestClassifier(MEMBERS[1][1]), 3, "it has 3 classes"),
}


@pytest.mark.parametrize("in_pipeline", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_reason_is_kept_warned_of_and_shown(name, in_pipeline):
    model, n_classes, reason = MODELS[name]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(150, 3)), columns=list("abc"))
    y = pd.cut(X["a"] + X["b"], n_classes, labels=False)
    fitted = (make_pipeline(StandardScaler(), model) if in_pipeline else model).fit(X, y)
    with pytest.warns(FallbackWarning) as told:
        explainer = sev.Explainer(fitted, X, y, target=n_classes - 1)
    assert explainer.backend == "black box"
    assert reason in explainer.backend_reason
    message = next(str(one.message) for one in told if issubclass(one.category, FallbackWarning))
    # a budget may end a search with "feasible": nothing is called exact without it
    assert "proven only where the budget of predictions was enough. Why: " in message
    assert message.endswith(f"{explainer.backend_reason}.")
    assert f"Why not exact</th><td style='text-align: left'>{explainer.backend_reason}" in explainer._repr_html_()
