"""The least costly set of each row, without the values of sets that surely cost more."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sev.actions import ChoiceDestinations, NumberDestinations
from sev.backends.free import _set_values
from sev.backends.free._cost_bounds import cost_bounds
from sev.backends.free._least_cost import FeatureTerms
from sev.backends.free._set_values import SetValues
from sev.backends.free._tables import LineTable
from sev.core import ragged_least

N_ROWS = 12


def draw_number(random, step):
    old = random.integers(0, 8, N_ROWS) + (0.0 if random.random() < 0.5 else 0.3)
    low, high = np.zeros(N_ROWS), np.full(N_ROWS, random.integers(9, 400) + 0.0)
    if random.random() < 0.3:
        low = old + 1.5  # the value itself is not permitted
    slope = random.uniform(0.05, 1.0)
    best = np.floor(high) if step else high
    mine = NumberDestinations(
        old=old, low=low, high=high, step=step, origin=np.zeros(N_ROWS), scale=float(random.uniform(0.5, 3)),
        missing=np.zeros(N_ROWS, dtype=bool), weight=float(random.integers(1, 4)),
    )  # fmt: skip
    return FeatureTerms(
        destinations=mine, best=best, gain=slope * (best - old), slope=slope, choice_gains=None, seen=np.zeros(0),
        seen_gains=np.zeros((N_ROWS, 0)),
    )  # fmt: skip


def draw_choices(random):
    n = int(random.integers(2, 6))
    gains, old = random.uniform(-2, 6, (N_ROWS, n)), random.integers(0, n, N_ROWS)
    gains[:, 0] = np.abs(gains[:, 0]) + 0.1
    allowed = np.ones((N_ROWS, n), dtype=bool)
    distances = random.integers(1, 5, (N_ROWS, n)) / 2 if random.random() < 0.7 else None
    mine = ChoiceDestinations(
        choices=tuple((place,) for place in range(n)), old=old, allowed=allowed, weight=1.5, distances=distances
    )
    best = gains.argmax(axis=1)
    return FeatureTerms(
        destinations=mine, best=best.astype(float), gain=gains.max(axis=1), slope=None, choice_gains=gains,
        seen=np.zeros(0), seen_gains=np.zeros((N_ROWS, 0)),
    )  # fmt: skip


def draw(seed):
    """Terms of five features, and all sets of a size in each row, whose best values gain enough."""
    random = np.random.default_rng(seed)
    kinds = (lambda: draw_number(random, None), lambda: draw_number(random, 1.0), lambda: draw_choices(random))
    terms = [kinds[random.integers(3)]() for _ in range(5)]
    gains = np.column_stack([one.gain for one in terms])
    size = int(random.integers(1, 4))
    need = np.sort(gains, axis=1)[:, :size].sum(axis=1) * random.uniform(0.2, 0.95, N_ROWS)
    every = [np.isin(np.arange(5), some) for some in combinations(range(5), size)]
    rows, sets = np.repeat(np.arange(N_ROWS), len(every)), np.tile(np.array(every), (N_ROWS, 1))
    return terms, np.column_stack([one.best for one in terms]), need, rows, sets


@pytest.mark.parametrize("seed", range(40))
def test_the_least_costly_set_is_the_first_of_all(seed):
    problem = draw(seed)
    everything, first_only = SetValues(*problem), SetValues(*problem)
    everything.find(np.arange(len(everything.rows)))
    first = first_only.find_first()
    assert np.array_equal(first, ragged_least(everything.costs, everything.rows))
    assert np.array_equal(first_only.costs[first], everything.costs[first])
    assert np.array_equal(first_only.values[first], everything.values[first])
    assert np.array_equal(first_only.proven[first], everything.proven[first])


@pytest.mark.parametrize("seed", range(40))
def test_no_set_costs_less_than_its_bound(seed):
    terms, targets, need, rows, sets = draw(seed)
    everything = SetValues(terms, targets, need, rows, sets)
    everything.find(np.arange(len(rows)))
    bounds = cost_bounds(terms, LineTable.of(terms, N_ROWS), rows, sets, need)
    assert (bounds <= everything.costs * (1 + 1e-9)).all()
    assert (bounds > 0).all()


def test_sets_that_cost_more_are_not_worked_out(monkeypatch):
    looked_at = []

    def count(lines, lists, rows, sets, need, least_costs=_set_values.least_costs):
        looked_at.append(len(rows))
        return least_costs(lines, lists, rows, sets, need)

    monkeypatch.setattr(_set_values, "least_costs", count)
    problems = [draw(seed) for seed in range(40)]
    for problem in problems:
        SetValues(*problem).find(np.arange(len(problem[3])))
    n_all = sum(looked_at)
    looked_at.clear()
    for problem in problems:
        SetValues(*problem).find_first()
    assert sum(looked_at) < n_all / 2


def test_the_least_of_each_owner_is_the_first_of_equals():
    values, owners = np.array([3.0, 1.0, 1.0, np.inf, 2.0, 2.0]), np.array([0, 0, 0, 4, 7, 7])
    assert ragged_least(values, owners).tolist() == [1, 3, 4]
    assert ragged_least(np.zeros(0), np.zeros(0, dtype=np.int64)).tolist() == []
