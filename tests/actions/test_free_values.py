"""``values="any"`` and ``"typical"``: sizes, sets, costs and ranges against every permitted cell."""

import math

import numpy as np
import pytest
from actions.free_cases import ADDITIVE, MODELS, WITH_RANGES, Case, costs_of
from actions.naive import permits


def typical_band(values, reference):
    """The values between two quantiles on both sides of the reference's own position."""
    below = sum(value < reference for value in values)
    upto = sum(value <= reference for value in values)
    position = (below + upto) / 2 / len(values)
    ends = [np.quantile(values, min(max(position + side, 0.0), 1.0)) for side in (-0.1, 0.1)]
    return min(ends[0], reference), max(ends[1], reference)


def every_cell(rows, labels, entries, query, reference, values):
    """For each column the permitted values, the query's own first."""
    cells = []
    for name in rows.columns:
        seen = sorted(set(rows[name]))
        options = seen if name == "job" else list(range(int(min(seen)), int(max(seen)) + 1))
        if values == "typical":
            if name == "job":
                options = [reference[name]]
            else:
                low, high = typical_band(rows[name][labels == 0].tolist(), reference[name])
                options = [one for one in options if low <= one <= high]
        good = [one for one in options if one != query[name] and permits(entries, name, query[name], one, step=None)]
        cells.append([query[name], *good])
    return cells


def smallest(case, query, cells, threshold):
    """Size, and each smallest set with its least cost."""
    points, good = case.crossing(query, cells, threshold)
    if not good.any():
        return None, {}
    moved = np.column_stack([points[name].to_numpy() != query[name] for name in points.columns])
    size = int(moved[good].sum(axis=1).min())
    costs = costs_of(case.rows, query, points, case.entries)
    found = {}
    for place in np.flatnonzero(good & (moved.sum(axis=1) == size)).tolist():
        names = frozenset(np.array(points.columns)[moved[place]])
        found[names] = min(found.get(names, math.inf), costs[place])
    return size, found


@pytest.mark.filterwarnings("ignore:Bins whose width")
@pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning", "ignore::sev.exceptions.ReferenceWarning")
@pytest.mark.parametrize("with_rules", [False, True], ids=["plain", "rules"])
@pytest.mark.parametrize("family", list(MODELS))
def test_sizes_sets_costs_and_ranges_are_those_of_all_cells(family, with_rules):
    seen = set()
    for seed in range(2):
        case = Case.of(family, seed, with_rules)
        queries = case.rows.iloc[:24]
        for values in ("any", "typical"):
            many = case.explainer.explain(queries, values=values)
            if not seed:
                many.verify()
                many.verify(case.explainer)
            for one, query in zip(many, queries.to_dict("records"), strict=True):
                if one.status == "not_target":
                    continue
                cells = every_cell(
                    case.rows, case.labels, case.entries, query, case.explainer.reference.iloc[0], values
                )
                size, sets = smallest(case, query, cells, one.threshold)
                assert one.size == size, (case.entries, query, values, sets)
                assert one.status == ("unexplainable" if size is None else "optimal")
                assert one.values_searched == "all"
                if family in WITH_RANGES and not with_rules:
                    assert set(one.enough) == set(one.features)
                seen.add(size)
                if one.sets_complete or not with_rules:
                    assert {frozenset(names) for names in one.sets} == set(sets)
                assert {frozenset(names) for names in one.sets} <= set(sets)
                exact = family not in ("additive", "bins") and not with_rules
                for number, names in enumerate(one.sets):
                    check_set(case, one, number, sets[frozenset(names)], cells, exact=exact)
    assert seen - {None}


@pytest.mark.filterwarnings("ignore:Bins whose width")
@pytest.mark.filterwarnings("ignore::sev.exceptions.RuleWarning", "ignore::sev.exceptions.ReferenceWarning")
@pytest.mark.parametrize("with_rules", [False, True], ids=["plain", "rules"])
@pytest.mark.parametrize("family", list(MODELS))
def test_least_cost_is_that_of_all_cells(family, with_rules):
    more_than_fewest = n_found = 0
    for seed in range(3):
        case = Case.of(family, seed, with_rules)
        queries = case.rows.iloc[:30]
        many = case.explainer.explain(queries, values="any", minimise="cost")
        fewest = case.explainer.explain(queries, values="any")
        if not seed:
            many.verify()
            many.verify(case.explainer)
        for one, other, query in zip(many, fewest, queries.to_dict("records"), strict=True):
            if one.status == "not_target":
                continue
            cells = every_cell(case.rows, case.labels, case.entries, query, case.explainer.reference.iloc[0], "any")
            points, good = case.crossing(query, cells, one.threshold)
            assert one.status == ("optimal" if good.any() else "unexplainable")
            assert one.values_searched == "all"
            assert one.lower_bound == other.lower_bound
            if not good.any():
                continue
            cost = costs_of(case.rows, query, points, case.entries)[good].min()
            n_found += 1
            more_than_fewest += one.size > other.size
            assert one.cost == pytest.approx(cost, rel=1e-9)
            assert one.cost <= other.cost + 1e-9
            assert len(one.sets) == 1
            assert not one.sets_complete
            check_set(case, one, 0, cost, cells, exact=True)
    assert n_found > 10
    assert more_than_fewest > 0 or with_rules or family in ADDITIVE


def check_set(case, one, number, least, cells, *, exact):
    columns = list(case.rows.columns)
    changes = one.changes_of(number)
    assert set(changes) == set(one.sets[number])
    cost = sum(
        one.efforts[name][0] * (1.0 if name == "job" else abs(change.new - change.old) / one.efforts[name][1])
        for name, change in changes.items()
    )
    assert cost >= least - 1e-9
    if exact:
        assert cost == pytest.approx(least, rel=1e-9)
    for name, change in changes.items():
        assert change.new in cells[columns.index(name)]
    if all(change.enough is not None for change in changes.values()):
        inside = [
            [value for value in cells[place][1:] if value in changes[name].enough]
            if name in changes
            else cells[place][:1]
            for place, name in enumerate(columns)
        ]
        assert all(changes[name].new in changes[name].enough for name in changes)
        query = {name: cells[place][0] for place, name in enumerate(columns)}
        _, good = case.crossing(query, inside, one.threshold)
        assert good.all()
