"""``values="any"`` where permitted values are endless: against the splits of trees, and a linear program."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from actions.naive import spread
from scipy.optimize import linprog
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sev


@pytest.mark.parametrize(
    "model", [GradientBoostingClassifier(n_estimators=9, learning_rate=0.4), RandomForestClassifier(5, max_depth=3)]
)
def test_answers_of_trees_are_those_of_a_value_between_every_two_splits(model):
    seen = set()
    for seed in range(4):
        generator = np.random.default_rng(seed)
        rows = pd.DataFrame(generator.normal(size=(300, 4)), columns=list("abcd"))
        labels = (rows.a * rows.b + rows.c - rows.d > 0.5).to_numpy().astype(int)
        model.set_params(random_state=seed).fit(rows, labels)
        within = {"a": ("-0.5", "+0.5"), "b": sev.between(-0.5, 0.5), "d": ("-0.3", "+0.3")}
        actions = sev.Actions(increase=["a"], decrease=["c"], within={**within, "c": ("-0.6", "+0")})
        explainer = sev.Explainer(model, rows, labels, actions=actions)
        queries = rows.iloc[:60]
        many = explainer.explain(queries, values="any")
        many.verify(explainer)
        assert set(many.values_searched) == {"all"}
        for one, query in zip(many, queries.to_numpy(), strict=True):
            if one.status == "not_target":
                continue
            cells = cells_between_splits(model, rows, query)
            points = np.array(list(product(*cells)))
            moved = points != query
            good = model.predict_proba(pd.DataFrame(points, columns=rows.columns))[:, 1] < 0.5
            size = int(moved[good].sum(axis=1).min()) if good.any() else None
            assert one.size == size
            assert one.status == ("unexplainable" if size is None else "optimal")
            best = {tuple(line) for line in moved[good & (moved.sum(axis=1) == size)].tolist()} if size else set()
            assert {tuple(name in names for name in "abcd") for names in one.sets} == best
            seen.add(size)
            for number in range(len(one.sets)):
                check_box(model, one.changes_of(number), query, rows.columns, generator)
    assert {1, 2} <= seen


def cells_between_splits(model, rows, query):
    """The query's own value of each column, and a permitted one between every two splits of the trees."""
    trees = [tree.tree_ for tree in np.ravel(model.estimators_)]
    low, high = rows.min().to_numpy(copy=True), rows.max().to_numpy(copy=True)
    low[1], high[1] = max(low[1], -0.5), min(high[1], 0.5)
    for at, down, up in ((0, 0.0, 0.5), (2, 0.6, 0.0), (3, 0.3, 0.3)):
        low[at], high[at] = max(low[at], query[at] - down), min(high[at], query[at] + up)
    cells = []
    for at in range(rows.shape[1]):
        splits = np.unique(np.concatenate([one.threshold[one.feature == at] for one in trees]))
        inside = splits[(splits > low[at]) & (splits < high[at])]
        edges = np.concatenate([low[at : at + 1], inside, high[at : at + 1]])
        cells.append([query[at], *((edges[1:] + edges[:-1]) / 2)])
    return cells


def check_box(model, changes, query, columns, generator):
    box = pd.DataFrame([query] * 50, columns=columns)
    for name, change in changes.items():
        assert change.new in change.enough
        box[name] = generator.uniform(change.enough.low, change.enough.high, 50)
    assert (model.predict_proba(box)[:, 1] < 0.5).all()


def test_least_costs_of_a_linear_model_are_those_of_a_linear_program():
    proven = 0
    for seed in range(5):
        generator = np.random.default_rng(seed)
        rows = pd.DataFrame(generator.normal(size=(200, 5)) * [1, 5, 20, 0.1, 3], columns=list("abcde"))
        labels = (rows @ (generator.normal(size=5) / [1, 5, 20, 0.1, 3]) > 0.4).to_numpy().astype(int)
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.3)).fit(rows, labels)
        costs = {name: float(generator.integers(1, 5)) for name in "abcde"}
        within = {"a": ("-90%", "+90%"), "b": ("-6", "+2"), "c": ("-15", "+30")}
        explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(decrease=["d"], within=within, costs=costs))
        many = explainer.explain(rows.iloc[:60], values="any", max_size=5)
        slopes = model[1].coef_[0] / model[0].scale_
        spreads = np.array([spread(rows[name]) for name in rows])
        prices = np.array([costs[name] for name in rows]) / spreads
        for one, (_, query) in zip(many, rows.iloc[:60].iterrows(), strict=True):
            if one.status == "not_target":
                continue
            old = query.to_numpy()
            low, high = rows.min().to_numpy(copy=True), rows.max().to_numpy(copy=True)
            low[:3] = np.maximum(low[:3], old[:3] - [0.9 * abs(old[0]), 6, 15])
            high[:3] = np.minimum(high[:3], old[:3] + np.array([0.9 * abs(old[0]), 2, 30]))
            high[3] = min(high[3], old[3])
            low, high = np.minimum(low, old), np.maximum(high, old)
            margin = model.decision_function(rows.loc[[query.name]])[0]

            size = next(
                (
                    k
                    for k in range(1, 6)
                    if np.sort(np.maximum(slopes * (old - low), slopes * (old - high)))[::-1][:k].sum() > margin
                ),
                None,
            )
            assert one.size == size
            for number, names in enumerate(one.sets):
                members = [list("abcde").index(name) for name in names]
                # the parts of each change upward and downward
                bounds = [(0, high[j] - old[j]) for j in members] + [(0, old[j] - low[j]) for j in members]
                signed = np.concatenate([slopes[members], -slopes[members]])
                result = linprog(np.tile(prices[members], 2), A_ub=[signed], b_ub=[-margin], bounds=bounds)
                assert result.status == 0
                cost = sum(
                    costs[name] * abs(change.new - change.old) / spread(rows[name])
                    for name, change in one.changes_of(number).items()
                )
                assert result.fun - 1e-6 <= cost <= 1.0101 * result.fun + 1e-6
                proven += 1
    assert proven > 100
