"""A row has the answer that it has alone, whatever rows are beside it: under rules between features, and on curves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, SplineTransformer

import sev

pytestmark = pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning")

MODELS = {
    "linear": LogisticRegression(max_iter=5000),
    "trees": GradientBoostingClassifier(n_estimators=30, random_state=0),
}
BAND = {"a": ("-40", "+40"), "b": ("-40", "+40")}
#: Values of one row are few, those of all rows together are not; and numbers of which only those are tried that decide.
CASES = {
    "two rules": (["a >= b - 5", "a <= b + 60"], BAND),
    "premise": (["if d <= 1 then a >= b - 5"], BAND),
    "many values": (["a >= b - 5"], {}),
    "premise, many values": (["if d <= 1 then a >= b - 5"], {}),
}


def make_explainer(family, rules, within):
    random = np.random.default_rng(0)
    widths = {"a": 400, "b": 400, "c": 6, "d": 5}
    rows = pd.DataFrame({name: random.integers(0, width, 500) for name, width in widths.items()})
    rows["b"] = np.clip(rows["a"] + random.integers(-60, 6, 500), 0, 399)
    labels = (rows @ [0.005, 0.005, 1 / 3, -0.5] + random.normal(size=500) * 0.3 > 2.4).astype(int)
    model = MODELS[family].fit(rows, labels)
    actions = sev.Actions(rules=rules, within=within, frozen=["c"], costs={"a": 2.0, "d": 9.0})
    explainer = sev.Explainer(model, rows, labels, actions=actions, allow_positive_reference=True)
    queries = rows[model.predict(rows) == 1].iloc[: 16 if within else 40]
    # some rows need not keep the rule, and some cannot move a feature of it
    queries.iloc[0, :2] = [100, 300]
    queries.iloc[1, :2] = [399, 399]
    return explainer, queries


def answer_of(one: sev.Explanation) -> dict[str, object]:
    changes = [one.changes_of(at) for at in range(len(one.sets))]
    return {
        "answer": (one.status, one.lower_bound, one.sets, one.sets_complete, one.cost),
        "searched": (one.values_searched, one.proof_scope),
        "changes": changes,
    }


@pytest.mark.parametrize("minimise", ["features", "cost"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("family", MODELS)
def test_a_row_has_the_answer_that_it_has_alone(family, case, minimise):
    explainer, queries = make_explainer(family, *CASES[case])
    many = explainer.explain(queries, values="any", minimise=minimise)
    for place in range(len(queries)):
        alone = explainer.explain(queries.iloc[[place]], values="any", minimise=minimise)[0]
        assert answer_of(alone) == answer_of(many[place])
    if case == "two rules" and family == "linear":
        assert set(many.values_searched) == {"all"}


def add_sines(rows):
    array = np.asarray(rows)
    return np.column_stack([np.sin(array / 120), array / 500])


CURVES = {
    "splines": SplineTransformer(6),
    "bins": KBinsDiscretizer(5, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
    "function": FunctionTransformer(add_sines),
}


@pytest.mark.parametrize("minimise", ["features", "cost"])
@pytest.mark.parametrize("share", [False, True], ids=["change", "share"])
@pytest.mark.parametrize("name", CURVES)
def test_values_on_curves_are_listed_where_those_of_a_row_are_few(name, share, minimise):
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"a": random.integers(0, 1000, 500), "b": random.integers(0, 900, 500)})
    score = np.sin(rows["a"] / 120) + (rows["b"] / 400 - 1) ** 2
    labels = (score > score.median()).astype(int)
    model = make_pipeline(CURVES[name], LogisticRegression(C=10, max_iter=3000)).fit(rows, labels)
    # with a share of the row's own value some rows have few values, some have many
    limits = ("-20%", "+20%") if share else ("-90", "+90")
    actions = sev.Actions(within={"a": limits, "b": limits})
    explainer = sev.Explainer(model, rows, labels, actions=actions, allow_positive_reference=True)
    queries = rows[model.predict(rows) == 1].iloc[:20]
    many = explainer.explain(queries, values="any", minimise=minimise)
    for place in range(len(queries)):
        alone = explainer.explain(queries.iloc[[place]], values="any", minimise=minimise)[0]
        assert answer_of(alone) == answer_of(many[place])
    assert share or set(many.values_searched) == {"all"}
