"""The least cost at which some features gain enough, against an integer program."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from sev.backends.free import _knapsack
from sev.backends.free._knapsack import least_cost_of_any
from sev.backends.free._least_cost import Line, Listed, least_cost


def random_features(rng, n):
    """Features with lists of values, and numbers whose gain is a line, some of which must jump at first."""
    features = []
    for _ in range(n):
        if rng.random() < 0.6:
            k = int(rng.integers(1, 6))
            gains, costs = rng.random(k) + 0.05, rng.random(k) + 0.05
            features.append(Listed(np.arange(k, dtype=float), gains, costs, True))
        else:
            slope, length = float(rng.random() + 0.2), float(rng.random() + 0.1)
            price, jump = float(rng.random() + 0.1), float(rng.choice([0.0, 0.3]))
            # from 0 to ``jump`` nothing is permitted
            features.append(Line(0.0, jump, jump + length, slope * (jump + length), slope, price, price * jump))
    return features


def program(features, need, *, all_move):
    """The same as an integer program; its least cost, infinite where it has no solution."""
    costs, gains, integral, rows, limits = [], [], [], [], []
    for one in features:
        if isinstance(one, Listed):
            places = range(len(costs), len(costs) + len(one.targets))
            costs += one.costs.tolist()
            gains += one.gains.tolist()
            integral += [1] * len(one.targets)
            rows.append(dict.fromkeys(places, 1.0))
            limits.append((1.0 if all_move else 0.0, 1.0))
        else:  # whether it moves, and how far beyond where it must go then
            place = len(costs)
            costs += [one.fixed, one.price]
            gains += [one.slope * one.near, one.slope]
            integral += [1, 0]
            rows += [{place: 1.0}, {place + 1: 1.0, place: -(one.far - one.near)}]
            limits += [(1.0 if all_move else 0.0, 1.0), (-np.inf, 0.0)]
    matrix = np.zeros((len(rows) + 1, len(costs)))
    for line, entries in enumerate(rows):
        for place, value in entries.items():
            matrix[line, place] = value
    matrix[-1] = gains
    low = [*(one for one, _ in limits), need]
    high = [*(one for _, one in limits), np.inf]
    found = milp(costs, constraints=LinearConstraint(matrix, low, high), integrality=integral, bounds=Bounds(0, np.inf))
    return found.fun if found.status == 0 else np.inf


def gain_of(one, target):
    if isinstance(one, Line):
        return one.gain_at(target)
    return float(one.gains[int(target)])


def test_any_of_the_features():
    n_none = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        features = random_features(rng, int(rng.integers(1, 8)))
        need = float(rng.uniform(0.1, 0.6 * len(features)))
        expected = program(features, need, all_move=False)
        found = least_cost_of_any(features, need)
        if found is None:
            n_none += 1
            assert not np.isfinite(expected), seed
            continue
        assert found.proven
        assert found.cost == pytest.approx(expected, abs=1e-6), seed
        moved = [place for place, is_moved in enumerate(found.moved) if is_moved]
        gained = sum(gain_of(features[place], found.targets[place]) for place in moved)
        assert gained >= need - 1e-9, seed
    assert n_none > 5


def test_all_of_the_features():
    n_none = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        features = random_features(rng, int(rng.integers(1, 5)))
        need = float(rng.uniform(0.1, 1.2 * len(features)))
        expected = program(features, need, all_move=True)
        found = least_cost(features, need)
        if found is None:
            n_none += 1
            assert not np.isfinite(expected), seed
            continue
        assert found.proven
        assert found.cost == pytest.approx(expected, abs=1e-6), seed
        gained = sum(gain_of(one, target) for one, target in zip(features, found.targets, strict=True))
        assert gained >= need - 1e-9, seed
    assert n_none > 5


def test_a_search_that_is_cut_claims_no_proof(monkeypatch):
    monkeypatch.setattr(_knapsack, "_MOST_NODES", 4)
    n_cut = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        features = [one for one in random_features(rng, 12) if isinstance(one, Listed)]
        need = 0.3 * len(features)
        expected = program(features, need, all_move=False)
        found = least_cost_of_any(features, need)
        if found is not None:
            n_cut += not found.proven
            assert found.cost >= expected - 1e-9
            assert not found.proven or found.cost == pytest.approx(expected, abs=1e-6)
    assert n_cut > 10


def test_a_list_that_is_cut_claims_no_proof():
    rng = np.random.default_rng(0)
    features = [Listed(np.arange(300.0), np.sort(rng.random(300)), np.sort(rng.random(300)), True) for _ in range(3)]
    found = least_cost(features, 1.5)
    assert found is not None
    assert not found.proven
    assert found.cost >= program(features, 1.5, all_move=True) - 1e-9
