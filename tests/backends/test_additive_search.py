"""Any permitted values of additive models: rounding, vertices, and what is claimed to be searched."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sev
from sev.backends.free import _additive_run

pytestmark = pytest.mark.filterwarnings("ignore::sev.exceptions.ReferenceWarning")


def test_the_best_value_of_a_parabola_is_its_vertex():
    """The other class lies in the middle: no end of the permitted values crosses, the vertex alone does."""
    generator = np.random.default_rng(0)
    inner, outer = generator.normal(0, 0.2, 200), generator.normal(0, 2.0, 200)
    rows = pd.DataFrame({"x": np.concatenate([inner, outer]), "y": generator.normal(size=400)})
    labels = np.repeat([0, 1], 200)
    model = GaussianNB().fit(rows, labels)
    for actions in (sev.Actions(), sev.Actions(steps={"x": 0.25})):
        explainer = sev.Explainer(model, rows, labels, actions=actions)
        queries = rows[model.predict_proba(rows)[:, 1] >= 0.999].iloc[:20]
        many = explainer.explain(queries, values="any")
        assert set(many.values_searched) == {"all"}
        assert set(many.sizes) == {1}
        for one in many:
            enough = one.enough["x"]
            assert enough.low < 0 < enough.high
            assert one.changes["x"].new in enough
    ends = pd.DataFrame({"x": [rows.x.min(), rows.x.max()], "y": [0.0, 0.0]})
    assert (model.predict_proba(ends)[:, 1] >= 0.5).all()


def test_values_that_were_not_all_seen_are_not_claimed_to_be():
    """A wave is best between the values that occur, where nothing was tried."""
    rows = pd.DataFrame({"x": np.arange(40.0) * 1.5 + 0.25, "y": np.tile([0.0, 1.0], 20)})
    labels = (np.sin(rows.x) > 0).to_numpy().astype(int)
    model = make_pipeline(FunctionTransformer(np.sin), LogisticRegression()).fit(rows, labels)
    for actions, expected in ((sev.Actions(), "candidates"), (sev.Actions(steps={"x": 0.25}), "all")):
        explainer = sev.Explainer(model, rows, labels, actions=actions, allow_positive_reference=True)
        many = explainer.explain(rows, values="any")
        assert {one.values_searched for one in many if one.status != "not_target"} == {expected}
    fine = sev.Explainer(model, rows, labels, actions=sev.Actions(steps={"x": 0.001}), allow_positive_reference=True)
    assert "candidates" in fine.explain(rows, values="any").values_searched


def test_sums_within_rounding_of_the_decision_are_decided_by_the_model(monkeypatch):
    """Terms that cancel: the search sums them in another order than the model, and is off by the last bits."""
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(generator.integers(0, 2, (300, 6)).astype(float), columns=list("abcdef"))
    labels = generator.integers(0, 2, 300)
    model = LogisticRegression().fit(rows, labels)
    model.coef_[:] = [[1e8 / 3, -1e8 / 7, 0.1, 0.2, -0.3, 1e-9]]
    model.intercept_[:] = 0.0
    scores = []

    def solve(problem, start, gains, slack, solve=_additive_run.solve_gains):
        sums = start[:, None] + gains
        exact = [[problem.evaluate(np.array([row]), np.eye(6, dtype=bool)[[at]])[0] for at in range(6)] for row in (0,)]
        scores.append((sums, slack, exact))
        return solve(problem, start, gains, slack)

    monkeypatch.setattr(_additive_run, "solve_gains", solve)
    actions = sev.Actions(allowed={name: [0.0, 1.0] for name in rows})
    explainer = sev.Explainer(model, rows, labels, actions=actions, threshold=0.5, allow_positive_reference=True)
    explainer.explain(rows[model.predict_proba(rows)[:, 1] >= 0.5].iloc[:30], values="any")
    [(sums, slack, _)] = scores
    # each term is off by up to half a unit of the largest: the slack has to cover all of them
    unit = np.spacing(np.abs(sums).max(axis=1))
    assert (slack >= 4 * unit).all()
    assert (slack < 1e6 * unit).all()
