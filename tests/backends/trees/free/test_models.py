"""Fitted models of every library against trying everything through their own predictions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sev.actions import ChoiceDestinations
from sev.backends import model_scores, read_model
from sev.backends.free import move_rows
from sev.backends.trees.free import CellProblem, FreeTrees, Goal, find_ranges, solve_free
from sev.backends.trees.free.columns import as_column
from sev.backends.trees.free.values import choose_values
from sev.core import Status, unpack
from sev.space import FeatureSpace, TableForm

from .cases import MODELS, Fitted, fit, make_problem, permitted_values, random_destinations, try_everything

N_SEEDS = {"catboost": 5, "pipeline": 6}


def sets_of(solution, moves, row, n_features):
    begin, end = solution.offsets[row : row + 2]
    masks = unpack(solution.masks[begin:end], n_features)
    return {tuple(np.flatnonzero(mask).tolist()): at for mask, at in zip(masks, range(begin, end), strict=True)}


def check_targets(fitted, problem, moves, features, at, row):
    """The reported values are permitted, and the model agrees."""
    for feature in features:
        mine, target = problem.destinations.features[feature], moves.targets[at, feature]
        if isinstance(mine, ChoiceDestinations):
            assert mine.allowed[row, int(target)]
        elif np.isnan(target):
            assert mine.missing[row]
        else:
            assert mine.low[row] <= target <= mine.high[row]
            assert target != mine.old[row]
            if mine.step is not None:
                steps = (target - mine.origin[row]) / mine.step
                assert steps == pytest.approx(round(steps), abs=1e-9)
    mask = np.zeros((1, len(fitted.space)), dtype=bool)
    mask[0, list(features)] = True
    moved = move_rows(problem.queries, fitted.space, problem.destinations, np.array([row]), mask, moves.targets[[at]])
    assert problem.crosses(moved).all()


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_trying_everything(name):
    sizes = []
    for seed in range(N_SEEDS.get(name, 10)):
        fitted = fit(name, seed)
        for goal in (Goal.ALL, Goal.CHEAPEST, Goal.COST):
            problem = make_problem(fitted, seed, goal)
            if problem is None:
                continue
            solution, moves = solve_free(fitted.trees, problem)
            assert solution.reasons == {}
            for row in range(len(problem.queries)):
                found = try_everything(fitted, problem, row)
                where = (name, seed, goal, row)
                status = Status.from_code(solution.status[row])
                assert status == (Status.OPTIMAL if found else Status.UNEXPLAINABLE), where
                sets = sets_of(solution, moves, row, len(fitted.space))
                size = min(map(len, found), default=0)
                sizes.append(size)
                if goal != Goal.COST and found:
                    assert solution.lower_bound[row] == size, where
                smallest = {features: cost for features, cost in found.items() if len(features) == size}
                costs = {features: moves.cost[at] for features, at in sets.items()}
                for features, at in sets.items():
                    check_targets(fitted, problem, moves, features, at, row)
                if goal == Goal.ALL:
                    assert costs == pytest.approx(smallest, abs=1e-5), where
                    assert solution.complete[row]
                elif found:
                    least = min(smallest.values()) if goal == Goal.CHEAPEST else min(found.values())
                    assert list(costs.values()) == [pytest.approx(least, abs=1e-5)], where
    assert {0, 1, 2} <= set(sizes)


def values_in_range(fitted, problem, ranges, at, feature, row, rng):
    """Permitted values of a range: its ends, some between, and those beside every threshold in it."""
    mine = problem.destinations.features[feature]
    if isinstance(mine, ChoiceDestinations):
        return [mine.choices[choice] for choice in ranges.choices[at][feature]]
    low, high = ranges.low[at, feature], ranges.high[at, feature]
    some = permitted_values(fitted, problem, feature, row)
    values = [
        value for value, _ in some if low <= value[0] <= high or (np.isnan(value[0]) and ranges.missing[at, feature])
    ]
    if not np.isnan(low):
        values += [(float(low),), (float(high),)]
        if mine.step is None:
            values += [(float(value),) for value in rng.uniform(low, high, 5)]
    return values


@pytest.mark.parametrize("name", MODELS)
def test_every_point_of_a_range_crosses(name):
    n_points, n_wide = 0, 0
    rng = np.random.default_rng(0)
    for seed in range(3):
        fitted = fit(name, seed)
        problem = make_problem(fitted, seed, Goal.ALL, n_queries=8)
        if problem is None:
            continue
        solution, moves = solve_free(fitted.trees, problem)
        rows = np.repeat(np.arange(len(problem.queries)), np.diff(solution.offsets))
        sets = unpack(solution.masks, len(fitted.space))
        ranges = find_ranges(fitted.trees, problem, rows, sets, moves.targets)
        for at, features in enumerate(map(np.flatnonzero, sets)):
            row = int(rows[at])
            frame = problem.queries.iloc[np.full(60, row)].reset_index(drop=True)
            for feature in features.tolist():
                target = moves.targets[at, feature]
                values = values_in_range(fitted, problem, ranges, at, feature, row, rng)
                n_wide += len(values) > 2
                if isinstance(problem.destinations.features[feature], ChoiceDestinations):
                    assert int(target) in ranges.choices[at][feature]
                elif np.isnan(target):
                    assert ranges.missing[at, feature]
                else:
                    assert ranges.low[at, feature] <= target <= ranges.high[at, feature]
                chosen = [values[place] for place in rng.integers(len(values), size=60)]
                for place, column in enumerate(fitted.space.features[feature].columns):
                    frame[column] = as_column([value[place] for value in chosen], frame[column].dtype)
            assert problem.crosses(frame).all(), (name, seed, at)
            n_points += len(frame)
    assert n_points > 500
    assert n_wide > 5


def test_ties_are_decided_by_the_model():
    """Every point of one tree with leaves of exactly one half is a tie, which this model calls positive."""
    frame = pd.DataFrame({"a": np.tile([0.0, 1.0, 2.0, 3.0], 10), "b": np.tile([0.0, 1.0], 20)})
    labels = np.where(frame["a"] >= 2, np.arange(40) // 4 % 2, (frame["a"] >= 1) | (frame["b"] > 0)).astype(int)
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(frame, labels)
    assert (model.predict_proba(frame)[:, 1] == 0.5).any()
    form, space = TableForm.of(frame), FeatureSpace.of(frame)
    reading = read_model(model, model_scores(model, frame, labels), form, space, frame)
    trees = FreeTrees(reading.backend, reading.encoding, space)
    fitted = Fitted(model, frame, space, form, reading, trees)
    asked = []

    def crosses(rows):
        asked.append(len(rows))
        return ~fitted.positive(rows)

    queries = frame[fitted.positive(frame)].drop_duplicates().reset_index(drop=True)
    rng = np.random.default_rng(0)
    low, high = reading.band(0.5)
    for _ in range(20):
        destinations = random_destinations(rng, fitted, queries, missing=False)
        problem = CellProblem(
            direction=-1, low=low, high=high, queries=queries, destinations=destinations, crosses=crosses
        )
        solution, moves = solve_free(trees, problem)
        for row in range(len(queries)):
            found = try_everything(fitted, problem, row)
            size = min(map(len, found), default=0)
            smallest = {features for features in found if len(features) == size}
            assert set(sets_of(solution, moves, row, 2)) == smallest
    assert len(asked) > 100


def test_a_model_that_raises_or_disagrees_stops_its_own_rows_only():
    fitted = fit("gradient_boosting", 1)
    problem = make_problem(fitted, 5, Goal.ALL, n_queries=8)
    expected, _ = solve_free(fitted.trees, problem)
    own = np.flatnonzero(expected.has_set)
    assert own.size >= 2

    def fails(frame):
        if (frame["x0"].to_numpy() == bad["x0"]).all() and (frame["x1"].to_numpy() == bad["x1"]).all():
            raise ValueError("not this row")
        if len(frame) > 1:
            raise ValueError("not all at once")
        return problem.crosses(frame)

    bad = problem.queries.iloc[own[0]]
    for crosses, reason in ((fails, "not"), (lambda frame: np.zeros(len(frame), dtype=bool), "confirm")):
        solution, moves = solve_free(fitted.trees, replace(problem, crosses=crosses))
        assert all(reason in text for text in solution.reasons.values())
        assert len(moves.cost) == len(solution.masks)
        for row in solution.reasons:
            assert Status.from_code(solution.status[row]) == Status.ERROR
            assert not solution.has_set[row]
        untouched = ~np.isin(np.arange(8), list(solution.reasons))
        assert (solution.status[untouched] == expected.status[untouched]).all()


def test_numbers_whose_encoding_turns_take_observed_values_and_say_so():
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)).round(1), columns=["a", "b"])
    labels = (np.abs(frame["a"]) + frame["b"] > 0.8).astype(int)
    model = make_pipeline(FunctionTransformer(_absolute_a), GradientBoostingClassifier(n_estimators=10, random_state=0))
    model.fit(frame, labels)
    form, space = TableForm.of(frame), FeatureSpace.of(frame)
    reading = read_model(model, model_scores(model, frame, labels), form, space, frame)
    fitted = Fitted(model, frame, space, form, reading, FreeTrees(reading.backend, reading.encoding, space))
    for seed in range(5):
        problem = make_problem(fitted, seed, Goal.CHEAPEST)
        solution, moves = solve_free(fitted.trees, problem)
        assert solution.reasons == {}
        for row in range(len(problem.queries)):
            for features, at in sets_of(solution, moves, row, 2).items():
                check_targets(fitted, problem, moves, features, at, row)
                if 0 in features:
                    assert moves.targets[at, 0] in problem.observed[0]
    moved = [at for at, mine in enumerate(problem.destinations.features) if mine is not None]
    assert fitted.trees.values_searched(np.array(moved)) == ["observed" if at == 0 else "any" for at in moved]


def _absolute_a(frame):
    return frame.assign(a=frame["a"].abs())


@pytest.mark.parametrize(
    ("low", "high", "near", "observed", "expected"),
    [
        (26.4999, 60.0, 26.4999, [], 27.0),
        (26.4999, 60.0, 26.4999, [27.5, 40.0], 27.5),
        (26.4999, 60.0, 26.4999, [40.0], 27.0),
        (-3.0, 0.123456, 0.123456, [], 0.0),
        (0.123456, 0.123457, 0.123457, [], 0.123457),
        (5.0, 5.0, 5.0, [], 5.0),
        (1234.5, np.inf, 1234.5, [], 1300.0),
    ],
)
def test_a_reported_value_is_round_and_inside(low, high, near, observed, expected):
    chosen = choose_values(
        *(np.array([one], dtype=float) for one in (low, high, near)), np.array(observed, dtype=float)
    )
    assert chosen.tolist() == [expected]
