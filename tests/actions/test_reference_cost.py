"""``minimise="cost"`` with ``values="reference"``: the least weighted change, against all sets of features."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from actions.naive import is_missing, nearest, spread
from actions.test_reference_values import MODELS, RULES, STEPS, as_actions, encoded, random_entries, table
from sklearn.linear_model import LogisticRegression

import sev
from sev.exceptions import InputError, VerificationError
from sev.references import Best, Clusters


def least_cost(score, query, changes, costs, threshold, rules):
    """The least cost of any set that crosses and keeps the rules, and the fewest features; None where none does."""
    kept = [rule for rule in rules if rule(query)]
    sets = [names for size in range(1, len(changes) + 1) for names in combinations(changes, size)]
    rows = []
    for names in sets:
        row = query.copy()
        for name in names:
            row[name] = changes[name]
        rows.append(row)
    if not rows:
        return None, None
    scores = score(pd.DataFrame(rows).infer_objects())
    good = [
        names
        for names, row, one in zip(sets, rows, scores, strict=True)
        if one < threshold and all(rule(row) for rule in kept)
    ]
    if not good:
        return None, None
    return min(sum(costs[name] for name in names) for names in good), min(map(len, good))


@pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning", "ignore::sev.exceptions.ReferenceWarning")
@pytest.mark.parametrize("how", ["no actions", "actions", "rules"])
@pytest.mark.parametrize("family", list(MODELS))
def test_least_cost_is_that_of_all_sets(family, how):
    n_found = n_larger = 0
    for seed in range(5 if family == "networks" else 2):  # few of their rows are of the class
        generator = np.random.default_rng(1000 + 10 * seed + len(family))
        model, options = MODELS[family]()
        rows, labels = table(seed, **options)
        if model is None:
            weights = generator.normal(size=4)

            def model(frame, weights=weights):
                array = np.asarray(frame, dtype=float)
                margins = np.sin(array[:, 0]) + array[:, 1:] @ weights[1:] / 5 + array[:, 0] * array[:, 1]
                return 1 / (1 + np.exp(-margins))

            score = model
        else:
            model.fit(rows, labels)

            def score(frame, model=model):
                return model.predict_proba(frame)[:, 1]

        entries = random_entries(generator, rows.columns, missing=options.get("missing", False))
        entries["costs"] = {name: 1.0 + float(generator.integers(0, 60)) / 7 for name in rows.columns}
        if how == "no actions":
            entries = {"within": {}, "allowed": {}, "steps": {}, "costs": {}}
        rules = list(generator.choice(list(RULES), 2, replace=False)) if how == "rules" else []
        explainer = sev.Explainer(
            model,
            rows,
            labels,
            reference="mean" if seed % 2 else "auto",
            actions=None if how == "no actions" else as_actions(entries, rules),
            allow_positive_reference=True,
        )
        queries = rows.iloc[:50]
        many = explainer.explain(queries, minimise="cost")
        fewest = explainer.explain(queries)
        many.verify()
        many.verify(explainer)
        target = explainer.reference.iloc[0]
        for one, other, (_, query) in zip(many, fewest, queries.astype(object).iterrows(), strict=True):
            if one.status == "not_target":
                continue
            changes, costs = {}, {}
            for name in rows.columns:
                if how == "no actions":
                    usable, value = True, target[name]
                else:
                    step = entries["steps"].get(name, STEPS.get(name))
                    usable, value = nearest(entries, name, query[name], target[name], step=step)
                if usable and value != query[name] and not (is_missing(value) and is_missing(query[name])):
                    changes[name] = value
                    far = 1.0
                    if name != "job" and not is_missing(value) and not is_missing(query[name]):
                        far = abs(value - query[name]) / spread(rows[name])
                    costs[name] = entries["costs"].get(name, 1.0) * far
            cost, size = least_cost(score, query, changes, costs, one.threshold, [RULES[rule] for rule in rules])
            where = (family, how, seed, query.to_dict(), changes)
            assert one.status == ("unexplainable" if cost is None else "optimal"), where
            assert one.values_searched == "reference"
            if cost is None:
                continue
            n_found += 1
            n_larger += one.size > size
            assert one.cost == pytest.approx(cost, rel=1e-9), where
            assert one.cost <= other.cost + 1e-9
            assert one.lower_bound <= size
            assert len(one.sets) == 1
            assert not one.sets_complete
            assert one.enough == {}
            for name in one.features:
                assert one.changes[name].new == pytest.approx(changes[name], nan_ok=True)
    assert n_found > 5
    assert n_larger or (family, how) != ("linear", "no actions")


def test_what_has_no_least_cost_is_refused():
    rows, labels = table(0)
    model = encoded(LogisticRegression()).fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels)
    with pytest.raises(InputError, match=r'minimise="cost" .* use kind="minus"'):
        explainer.explain(rows, minimise="cost", kind="plus")
    several = sev.Explainer(model, rows, labels, reference=Best(Clusters(3)))
    with pytest.raises(InputError, match=r"without Best"):
        several.explain(rows, minimise="cost")


def test_credible_results_of_least_cost():
    """With a limit of credibility the least costly set is that among the credible ones."""
    rows, labels = table(3, text=False)
    model = LogisticRegression().fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels)
    queries = rows[model.predict(rows) == 1].iloc[:12]
    least = 0.9
    many = explainer.explain(queries, minimise="cost", min_credibility=least)
    target = explainer.reference.iloc[0]
    costlier = 0
    without = explainer.explain(queries, minimise="cost")
    for one, other, (_, query) in zip(many, without, queries.iterrows(), strict=True):
        sets = [names for size in range(1, 5) for names in combinations(rows.columns, size)]
        moved = pd.DataFrame([{**query, **{name: target[name] for name in names}} for names in sets])
        shares = explainer.tasks[0].fitted_credibility.of_rows(moved, explainer.form)
        good = np.flatnonzero((model.predict_proba(moved)[:, 1] < 0.5) & (shares >= least))
        costs = [
            sum(abs(target[name] - query[name]) / spread(rows[name]) for name in sets[place]) for place in good.tolist()
        ]
        assert (one.cost is None) == (not costs)
        if costs:
            costlier += one.cost > other.cost + 1e-9
            assert one.status == "optimal"
            assert one.cost == pytest.approx(min(costs), rel=1e-9)
            assert one.credibility >= least
    assert costlier  # the limit matters


@pytest.mark.parametrize("values", ["reference", "any"])
def test_the_fewest_features_are_not_accepted_as_the_least_cost(values):
    """A file that says "least cost" about the fewest features is refused: they cost more."""
    rows, labels = table(1)
    model = encoded(LogisticRegression()).fit(rows, labels)
    costs = {"a": 9.0, "b": 1.0, "c": 7.0, "d": 0.5, "job": 5.0}
    explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(costs=costs))
    queries = rows.iloc[:40]
    fewest, cheapest = (explainer.explain(queries, values=values, minimise=how) for how in ("features", "cost"))
    document = json.loads(fewest[:].to_json())
    costlier = [
        one.cost is not None and one.cost > other.cost * 1.01 for one, other in zip(fewest, cheapest, strict=True)
    ]
    assert any(costlier)
    read = sev.Explanations.from_json(json.dumps({**document, "minimise": "cost"}))
    first = costlier.index(True)
    with pytest.raises(VerificationError, match=r"changes cost .* the least cost is"):
        read.verify(explainer)
    with pytest.raises(VerificationError, match=r"changes cost .* the least cost is"):
        read[first].verify(explainer)
    sev.Explanations.from_json(cheapest.to_json()).verify(explainer)
