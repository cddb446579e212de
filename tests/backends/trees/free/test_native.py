"""The compiled search over cells against trying everything, on small random forests."""

import numpy as np
import pytest

from sev import _native
from sev.backends.trees._forest import build_forest

from .small import Case, make_tree, random_case, smooth_case, try_everything

FIRST, CHEAPEST, ALL, COST = range(4)
FOUND, NONE, TOO_LARGE, SPENT = 0, 1, 2, 4


def solve(case, goal, *, sure=None, limit=None, ask=None, max_size=99, max_sets=10**6, work=10**9):
    def refuse(row, points):
        raise AssertionError("nothing is unsure here")

    margin = 1e-9
    answers = case.native().solve(
        np.array([case.at], dtype=np.int64), np.concatenate(case.cost)[None],
        case.limit - margin if sure is None else sure, case.limit - margin if limit is None else limit,
        goal, max_size, max_sets, work, np.inf, ask or refuse,
    )  # fmt: skip
    outcome, proven, _, n_sets, complete, cells, cost, cheapest, start = answers
    assert n_sets.tolist() == [len(cells)]
    assert start[0] == pytest.approx(case.margins(case.at[None])[0], abs=1e-9)
    sets = {
        tuple(np.flatnonzero(row != case.at).tolist()): (row, c, p)
        for row, c, p in zip(cells, cost, cheapest, strict=True)
    }
    assert len(sets) == len(cells)
    return int(outcome[0]), int(proven[0]), bool(complete[0]), sets


def check_points(case, sets, crosses):
    for features, (row, cost, _) in sets.items():
        assert all(row[f] in case.destinations(f) for f in features)
        assert cost == pytest.approx(sum(case.cost[f][row[f]] for f in features))
        assert crosses(row[None])[0]


@pytest.mark.parametrize("part", range(8))
def test_size_sets_and_cost_are_those_of_trying_everything(part):
    for seed in range(part * 250, (part + 1) * 250):
        # some of many features with few cells: large sets
        case = (
            random_case(seed, max_features=8, most_cells=3, least_features=6) if seed % 10 == 0 else random_case(seed)
        )
        compare_with_everything(case, seed)


def compare_with_everything(case, seed, goals=(FIRST, CHEAPEST, ALL, COST)):
    def crosses(points):
        return case.margins(points) < case.limit - 1e-9

    found = try_everything(case, crosses)
    size = min(map(len, found), default=None)
    smallest = {features: cost for features, cost in found.items() if len(features) == size}
    for goal in goals:
        outcome, proven, complete, sets = solve(case, goal)
        if size is None:
            assert (outcome, complete, sets) == (NONE, True, {}), seed
            continue
        assert outcome == FOUND, seed
        assert proven == size - 1, seed
        check_points(case, sets, crosses)
        assert all(proven_cost for _, _, proven_cost in sets.values())
        costs = {features: cost for features, (_, cost, _) in sets.items()}
        if goal == ALL:
            assert costs == pytest.approx(smallest), seed
            assert complete
        elif goal == COST:
            assert list(costs.values()) == [pytest.approx(min(found.values()))], seed
        else:
            (features,) = costs
            assert costs[features] == pytest.approx(smallest[features]), seed
            if goal == CHEAPEST:
                assert costs[features] == pytest.approx(min(smallest.values())), seed


def test_many_small_moves_instead_of_few_large_ones():
    """Large sets, whose least cost is below that of smaller ones."""
    for seed in range(100):
        compare_with_everything(smooth_case(seed), seed, (ALL, COST))
    # what the least sum of affordable leaves excludes is close to a larger set of less cost here
    compare_with_everything(random_case(21647, max_features=6, most_cells=4, least_features=3), 21647)


def test_a_move_that_is_lost_within_a_piece_counts_for_every_piece():
    """Feature 1 alone adds 0.6 or 1; in the two pieces of feature 0 that is lost in part, and wholly."""
    alone = [(0, 1, 1, 2), (0, 0, 3, 4), -0.5, (1, 0, 5, 6), (1, 1, 7, 8), 0.0, (1, 1, 9, 10), 0.1, 5.0, 0.6, 1.0]
    both = [(0, 1, 1, 2), 0.0, (1, 1, 3, 4), 0.0, -2.0]
    forest = build_forest([make_tree(alone), make_tree(both)], n_columns=2, base=0.0)
    case = Case(forest, [3, 3], np.zeros(2, dtype=np.int64), [np.ones(3), np.ones(3)], -2.3, 1.0)
    assert [*solve(case, ALL)[3]] == [(0, 1)]
    compare_with_everything(case, "by hand")


def test_all_points_of_the_band_are_decided_by_the_model():
    """Of 121 pairs of cells that it has to decide about, the model accepts the costliest only."""
    n = 12
    trees = [make_tree([(feature, 0, 1, 2), 0.0, -0.01]) for feature in (0, 1)]
    cost = [np.arange(n) + 1.0, 0.1 * np.arange(n) + 1.0]
    case = Case(build_forest(trees, n_columns=2, base=0.0), [n, n], np.zeros(2, dtype=np.int64), cost, -0.5, 1.0)

    def ask(row, points):
        return (points == n - 1).all(axis=1)

    outcome, proven, _, sets = solve(case, ALL, sure=-1.0, limit=-0.005, ask=ask)
    assert (outcome, proven) == (FOUND, 1)
    assert sets[0, 1][0].tolist() == [n - 1, n - 1]


@pytest.mark.parametrize("part", range(4))
def test_within_the_band_the_model_decides(part):
    """A model that refuses some points of the band: the search goes on as if they did not cross."""
    n_asked = 0
    for seed in range(10_000 + part * 150, 10_000 + (part + 1) * 150):
        case = random_case(seed)
        start = case.margins(case.at[None])[0]
        sure, limit = case.limit - 0.3, min(case.limit + 0.3, start - 1e-6)

        def decides(points, case=case):  # as a model does: the same for the same leaves
            return np.floor(case.margins(points) * 1e4 + 0.01) % 3 == 0

        def ask(row, points, case=case, sure=sure, limit=limit, decides=decides):
            nonlocal n_asked
            n_asked += len(points)
            margins = case.margins(points)
            assert ((margins > sure - 1e-9) & (margins < limit + 1e-9)).all()
            return decides(points)

        def crosses(points, case=case, sure=sure, limit=limit, decides=decides):
            margins = case.margins(points)
            return (margins < sure) | ((margins <= limit) & decides(points))

        found = try_everything(case, crosses)
        size = min(map(len, found), default=None)
        smallest = {features: cost for features, cost in found.items() if len(features) == size}
        for goal in (CHEAPEST, ALL, COST):
            outcome, _, _, sets = solve(case, goal, sure=sure, limit=limit, ask=ask)
            assert outcome == (NONE if size is None else FOUND), seed
            costs = {features: cost for features, (_, cost, _) in sets.items()}
            if goal == ALL:
                assert costs == pytest.approx(smallest), seed
            elif size is not None:
                least = min(smallest.values()) if goal == CHEAPEST else min(found.values())
                assert list(costs.values()) == [pytest.approx(least)], seed
    assert n_asked > 100


def test_the_sets_beside_the_cheapest_are_the_same_alone():
    """They take the rest of the work, and no more."""
    n_compared = 0
    for seed in range(300):
        case = smooth_case(seed)
        rows = np.array([case.at], dtype=np.int64), np.concatenate(case.cost)[None], case.limit, case.limit
        answers = {
            goal: case.native().solve(*rows, goal, 99, 10**6, 10**9, np.inf, lambda *_: None)
            for goal in (CHEAPEST, ALL)
        }
        everything, cells = answers[ALL], answers[ALL][5]
        if len(cells) < 2 or (cells[0] != case.at).sum() < 2:
            continue
        known = (cells[:1] != case.at).astype(np.int64)
        others = case.native().solve(*rows, ALL, 99, 10**6, 10**9, np.inf, lambda *_: None, known)
        for part in (5, 6, 7):  # cells, costs, and that they are the least
            assert np.array_equal(others[part], everything[part][1:])
        assert (others[0].tolist(), others[1].tolist(), others[4].tolist()) == ([FOUND], [known.sum() - 1], [1])
        assert np.array_equal(answers[CHEAPEST][5], cells[:1])
        assert answers[CHEAPEST][2] + others[2] == everything[2]
        cut = case.native().solve(*rows, ALL, 99, 1, 10**9, np.inf, lambda *_: None, known)
        assert (len(cut[5]), cut[4].tolist()) == (0, [0])
        n_compared += 1
    assert n_compared > 20


def test_seconds_of_the_processor_end_a_search():
    case = smooth_case(3)
    rows = np.array([case.at], dtype=np.int64), np.concatenate(case.cost)[None], -1e9, 1e9
    work = {}
    for seconds in (np.inf, 0.0):
        answers = case.native().solve(
            *rows, ALL, 99, 10**6, 300_000_000, np.inf, lambda row, points: np.zeros(len(points), dtype=bool),
            processor_seconds=seconds,
        )  # fmt: skip
        work[seconds] = int(answers[2][0])
    assert work[0.0] < work[np.inf] / 2
    with pytest.raises(ValueError, match="processor_seconds"):
        case.native().solve(*rows, ALL, 99, 1, 1, np.inf, lambda *_: None, processor_seconds=np.nan)


def test_limits_are_honest():
    """Whatever the work and the sizes that are allowed, bounds hold and sets that are listed cross."""
    n_spent = n_some = 0
    for seed in range(300):
        case = random_case(seed)

        def crosses(points, case=case):
            return case.margins(points) < case.limit - 1e-9

        found = try_everything(case, crosses)
        size = min(map(len, found), default=99)
        for work in (0, 300, 3_000, 20_000):
            outcome, proven, _, sets = solve(case, CHEAPEST, work=work)
            check_points(case, sets, crosses)
            assert proven < size
            assert outcome in (FOUND, SPENT) or size == 99
            n_spent += outcome == SPENT
            if outcome == SPENT:
                n_some += check_last_is_needed(case, sets, crosses)
        for max_size in (0, 1, 2):
            outcome, proven, _, sets = solve(case, ALL, max_size=max_size)
            if size > max_size:
                assert outcome == TOO_LARGE or (outcome, size) == (NONE, 99)
                assert sets == {}
                assert proven == max_size or outcome == NONE
            else:
                assert outcome == FOUND
        outcome, _, complete, sets = solve(case, ALL, max_sets=1)
        n_smallest = sum(len(features) == size for features in found)
        assert len(sets) == min(1, n_smallest)
        assert complete == (n_smallest <= 1)
    assert n_spent > 50
    assert n_some > 50


def check_last_is_needed(case, sets, crosses):
    """Of a set without proof the last feature, which was tried after all others, is needed."""
    for features, (row, _, _) in sets.items():
        without = row.copy()
        without[features[-1]] = case.at[features[-1]]
        assert not crosses(without[None])[0]
    return len(sets)


def test_a_least_cost_that_is_claimed_is_one():
    """Whatever ends a search by cost: the work that is allowed, or the size."""
    n_claimed = n_other = n_none = 0
    for seed in range(200):
        case = smooth_case(seed) if seed % 2 else random_case(seed, max_features=8, most_cells=3, least_features=6)

        def crosses(points, case=case):
            return case.margins(points) < case.limit - 1e-9

        found = try_everything(case, crosses)
        least = min(found.values(), default=np.inf)
        limits = [{"work": work} for work in (3_000, 10_000, 20_000, 40_000, 80_000, 200_000)]
        for options in [*limits, *({"max_size": most} for most in (1, 2, 3))]:
            outcome, _, complete, sets = solve(case, COST, **options)
            check_points(case, sets, crosses)
            n_none += outcome == NONE
            assert outcome != NONE or not found, (seed, options)
            for _, cost, _ in sets.values():
                n_claimed += complete
                n_other += cost > least + 1e-9
                assert not complete or cost == pytest.approx(least), (seed, options)
    assert min(n_claimed, n_other, n_none) > 20


def test_everything_in_a_grown_box_crosses_and_closed_sides_are_closed():
    """Every point of the box, and for each side that could not grow some point that does not cross."""
    n_wide = 0
    for seed in range(400):
        case = random_case(seed)

        def crosses(points, case=case):
            return case.margins(points) < case.limit - 1e-9

        _, _, _, sets = solve(case, ALL)
        # and some point of a larger set, which leaves more to grow
        every = try_everything_once(case, crosses)
        if every is not None:
            sets[tuple(np.flatnonzero(every != case.at).tolist())] = (every, None, None)
        ordered = np.array([f % 2 == 0 for f in range(len(case.n_cells))])
        for features, (row, _, _) in sets.items():
            marks = case.native().grow(
                np.array([case.at], dtype=np.int64), np.concatenate(case.cost)[None], row[None], ordered,
                case.limit - 1e-9, case.limit - 1e-9, 10**9, 10**6, lambda *_: None,
            )[0].astype(bool)  # fmt: skip
            box = [np.flatnonzero(part).tolist() for part in np.split(marks, np.cumsum(case.n_cells)[:-1])]
            points = np.array(np.meshgrid(*box, indexing="ij")).reshape(len(box), -1).T
            assert crosses(points).all(), seed
            n_wide += len(points) > 1
            for feature, cells in enumerate(box):
                assert row[feature] in cells
                if feature not in features:
                    assert cells == [case.at[feature]]
                    continue
                assert set(cells) <= set(case.destinations(feature))
                if ordered[feature]:  # what is shown is the interval from the first to the last
                    between = range(min(cells), max(cells) + 1)
                    assert all(cell in cells for cell in between if cell in case.destinations(feature)), seed
                    assert case.at[feature] not in between, seed
                for cell in set(case.destinations(feature)) - set(cells):
                    if ordered[feature] and not next_to(cell, cells, case, feature):
                        continue
                    slab = points[points[:, feature] == cells[0]].copy()
                    slab[:, feature] = cell
                    assert not crosses(slab).all(), (seed, feature, cell)
    assert n_wide > 40


def try_everything_once(case, crosses):
    """The last of all points that cross, which has moved as many features as can be; None where none crosses."""
    options = [[*case.destinations(f), int(case.at[f])] for f in range(len(case.n_cells))]
    points = np.array(np.meshgrid(*options, indexing="ij")).reshape(len(options), -1).T
    good = points[crosses(points)]
    return good[np.argmax((good != case.at).sum(axis=1))] if len(good) else None


def next_to(cell, cells, case, feature):
    """Whether no other permitted cell, nor the query's own, is between a cell and the box."""
    between = range(cell + 1, min(cells)) if cell < min(cells) else range(max(cells) + 1, cell)
    return not any(c in case.destinations(feature) or c == case.at[feature] for c in between)


def test_wrong_arrays_are_refused():
    case = random_case(3)
    forest, n = case.native(), len(case.n_cells)
    at, cost = np.array([case.at], dtype=np.int64), np.concatenate(case.cost)[None]

    def call(at=at, cost=cost, goal=0, max_sets=1, sure=0.0, limit=0.0, max_size=9, seconds=np.inf):
        return forest.solve(at, cost, sure, limit, goal, max_size, max_sets, 10**6, seconds, lambda *_: None)

    call()
    for wrong in (at.astype(np.int32), at[0], at.tolist(), np.repeat(at, 2, axis=1)[:, ::2], None):
        with pytest.raises(TypeError):
            call(at=wrong)
    for wrong in (cost.astype(np.float32), cost[0], None):
        with pytest.raises(TypeError):
            call(cost=wrong)
    changes = [
        {"at": at + 100}, {"at": at - 100}, {"at": at[:, 1:].copy()}, {"cost": cost[:, 1:].copy()},
        {"cost": -cost - 1.0},
        {"cost": cost * np.nan}, {"goal": 4}, {"goal": -1}, {"max_sets": 0}, {"max_size": -1}, {"sure": 1.0},
        {"at": np.repeat(at, 2, axis=0)}, {"seconds": np.nan},
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(ValueError, match=r"\w+ \w+"):
            call(**change)
    grow = {"points": at, "ordered": np.ones(n, dtype=bool)}
    forest.grow(at, cost, *grow.values(), 0.0, 0.0, 10**6, 100, lambda *_: np.array([True]))
    for change in ({"points": at + 100}, {"ordered": np.ones(n + 1, dtype=bool)}, {"points": at[:, 1:].copy()}):
        with pytest.raises(ValueError, match=r"\w+ \w+"):
            forest.grow(at, cost, *{**grow, **change}.values(), 0.0, 0.0, 10**6, 100, lambda *_: np.array([True]))
    with pytest.raises(TypeError):
        forest.grow(at, cost, at.astype(float), grow["ordered"], 0.0, 0.0, 10**6, 100, lambda *_: None)


@pytest.mark.parametrize("change", [
    {"n_cells": [0]}, {"n_cells": [-1]}, {"column_feature": [1]}, {"column_feature": [-1]}, {"column_feature": []},
    {"column_first": [1]}, {"column_first": [-1]}, {"column_first": []}, {"values": np.zeros(1)}, {"sign": 2.0},
])  # fmt: skip
def test_cells_that_do_not_fit_a_forest_are_refused(change):
    tree = {"left": [1, -1, -1], "right": [2, -1, -1], "column": [0, 0, 0]}
    from sev.backends.trees._forest import Tree, build_forest

    parts = {name: np.array(part) for name, part in tree.items()}
    forest = build_forest([Tree(**parts, threshold=np.zeros(3), value=np.zeros(3))], n_columns=1, base=0.0)
    arguments = {
        "n_cells": [2],
        "column_feature": [0],
        "column_first": [0],
        "values": np.array([-1.0, 1.0]),
        "sign": 1.0,
    }
    arguments |= change
    ints = {name: np.array(value, dtype=np.int64) for name, value in arguments.items() if isinstance(value, list)}
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        _native.CellForest(forest.native, **{**arguments, **ints})


def test_errors_of_the_model_reach_the_caller():
    case = random_case(1)

    def fail(row, points):
        raise KeyError("from the model")

    with pytest.raises(KeyError, match="from the model"):
        solve(case, ALL, sure=-1e9, limit=1e9, ask=fail)
