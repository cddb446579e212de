"""The best of several references where a search chooses values: against every permitted cell of every reference."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from actions.free_cases import as_actions, costs_of, fitted, random_entries, table
from actions.test_free_values import every_cell

import sev
from sev.credibility import IsolationForest
from sev.references import Best, Rows

FAMILIES = ("linear", "additive", "bins", "trees", "forest", "networks", "function")


def make(family, seed, reference=None):
    """An explainer with the best of four real rows as reference, the model's score, the table and the limits."""
    rows, labels = table(seed)
    model, score = fitted(family, seed)
    entries = random_entries(np.random.default_rng(seed))
    negative = rows[(labels == 0) & (np.asarray(score(rows)) < 0.5)]
    explainer = sev.Explainer(
        model,
        rows,
        labels,
        actions=as_actions(entries),
        reference=reference or Best(Rows(negative.iloc[3:7])),
        credibility=IsolationForest(n_trees=20, max_samples=64),
    )
    return explainer, score, rows, labels, entries


def crossing_points(explainer, score, rows, labels, entries, query, reference):
    """Every permitted point of one reference that crosses: features moved, credibility, cost."""
    cells = every_cell(rows, labels, entries, query, reference, "typical")
    points = pd.DataFrame(list(product(*cells)), columns=list(rows.columns)).astype(rows.dtypes.to_dict())
    points = points[np.asarray(score(points)) < explainer.threshold]
    moved = np.column_stack([points[name].to_numpy() != query[name] for name in rows.columns])
    if not len(points):
        return moved, np.zeros(0), np.zeros(0)
    shares = explainer.tasks[0].fitted_credibility.of_rows(points, explainer.form)
    return moved, shares, costs_of(rows, query, points, entries)


@pytest.mark.filterwarnings("ignore:Bins whose width", "ignore::sev.exceptions.ReferenceWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_smallest_set_over_all_references_is_found_and_proven(family):
    n_checked, other_wins = 0, 0
    for seed in range(2):
        explainer, score, rows, labels, entries = make(family, seed)
        queries = rows.iloc[:30]
        options = {"values": "typical", "max_sets": 1000}
        without, limited = (explainer.explain(queries, min_credibility=least, **options) for least in (0.0, 0.5))
        for number, query in enumerate(queries.to_dict("records")):
            if without[number].status == "not_target":
                continue
            n_checked += 1
            found = [
                crossing_points(explainer, score, rows, labels, entries, query, reference)
                for _, reference in explainer.reference.iterrows()
            ]
            for one, least in ((without[number], 0.0), (limited[number], 0.5)):
                sizes = [
                    moved[shares >= least].sum(axis=1).min() if (shares >= least).any() else np.inf
                    for moved, shares, _ in found
                ]
                where = (family, seed, least, query)
                if min(sizes) == np.inf:
                    assert one.status == "unexplainable", where
                    continue
                assert one.status == "optimal", where
                assert one.size == one.lower_bound == min(sizes), where
                assert score(pd.DataFrame([one.result]).astype(rows.dtypes.to_dict()))[0] < explainer.threshold
                first = int(explainer.tasks[0].reference.assigned(queries.iloc[[number]])[0])
                other_wins += sizes[first] > one.size
            assert limited[number].size_without_limit == without[number].size
    assert n_checked > 15
    assert other_wins > 3


@pytest.mark.filterwarnings("ignore:Bins whose width", "ignore::sev.exceptions.ReferenceWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_least_cost_over_all_references_is_found_and_proven(family):
    other_wins = 0
    for seed in range(2):
        explainer, score, rows, labels, entries = make(family, seed)
        queries = rows.iloc[:30]
        many = explainer.explain(queries, values="typical", minimise="cost")
        for number, (one, query) in enumerate(zip(many, queries.to_dict("records"), strict=True)):
            if one.status == "not_target":
                continue
            costs = {}
            for place, reference in explainer.reference.iterrows():
                _, _, found = crossing_points(explainer, score, rows, labels, entries, query, reference)
                if len(found):
                    costs[place] = found.min()
            if not costs:
                assert one.status == "unexplainable"
                continue
            assert one.status == "optimal"
            assert one.cost == pytest.approx(min(costs.values()), rel=1e-9)
            first = int(explainer.tasks[0].reference.assigned(queries.iloc[[number]])[0])
            other_wins += costs.get(first, np.inf) > one.cost + 1e-9
    assert other_wins > 3


def test_any_value_does_not_depend_on_the_reference():
    explainer, _, rows, _, _ = make("trees", 0)
    one = explainer.with_reference("auto", rows)
    best, plain = (some.explain(rows.iloc[:30], values="any") for some in (explainer, one))
    np.testing.assert_array_equal(best.sizes, plain.sizes)
    assert best.statuses.tolist() == plain.statuses.tolist()
