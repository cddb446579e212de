"""The least cost of many sets at once, against that of one set after the other."""

import itertools

import numpy as np
import pytest

from sev.actions import ChoiceDestinations, NumberDestinations
from sev.backends.free import _tables
from sev.backends.free._least_cost import FeatureTerms, least_cost
from sev.backends.free._tables import LineTable, ListTable, least_costs

N_ROWS = 5


def numbers(rng, step):
    """A number whose gain is a line, of which some rows may move up only from far away."""
    old = np.round(rng.uniform(-3, 3, N_ROWS))
    low, high = old + rng.choice([-4.0, 0.0, 2.0], N_ROWS), old + rng.choice([3.0, 5.0], N_ROWS)
    slope = float(rng.choice([-1, 1]) * rng.uniform(0.2, 1))
    one = NumberDestinations(
        old=old, low=low, high=high, step=step, origin=np.zeros(N_ROWS), missing=rng.random(N_ROWS) < 0.1,
        scale=float(rng.uniform(0.5, 2)), weight=float(rng.uniform(0.5, 2)),
    )  # fmt: skip
    best = high if slope > 0 else low
    return FeatureTerms(one, best, slope * (best - old), slope, None, np.zeros(0), np.zeros((N_ROWS, 0)))


def choices(rng):
    """A category, or the listed values of a number, of which some rows may take none."""
    n_choices = int(rng.integers(1, 5))
    gains, allowed = rng.uniform(-1, 3, (N_ROWS, n_choices)), rng.random((N_ROWS, n_choices)) < 0.8
    distances = rng.uniform(0.1, 3, (N_ROWS, n_choices)) if rng.random() < 0.5 else None
    one = ChoiceDestinations(
        choices=tuple((str(place),) for place in range(n_choices)), old=np.full(N_ROWS, -1), allowed=allowed,
        weight=float(rng.uniform(0.5, 2)), distances=distances,
    )  # fmt: skip
    none = np.zeros(N_ROWS)
    return FeatureTerms(one, none, none, None, gains, np.zeros(0), np.zeros((N_ROWS, 0)))


@pytest.mark.parametrize("together", [_tables._MOST_TOGETHER, 7])
def test_many_sets_have_the_least_cost_of_each(monkeypatch, together):
    monkeypatch.setattr(_tables, "_MOST_TOGETHER", together)
    rng, n_compared = np.random.default_rng(3), 0
    for _ in range(60):
        terms = [numbers(rng, None), numbers(rng, 0.5), choices(rng), choices(rng), numbers(rng, 1.0)]
        masks = [m for size in (1, 2, 3) for m in itertools.combinations(range(5), size)]
        sets = np.array([[place in mask for place in range(5)] for mask in masks] * N_ROWS)
        rows = np.repeat(np.arange(N_ROWS), len(masks))
        need = rng.uniform(0.5, 6, len(rows))
        lists = ListTable.of(terms, rows, sets)
        targets, costs, works = least_costs(LineTable.of(terms, N_ROWS), lists, rows, sets, need)
        for place, row in enumerate(rows.tolist()):
            members = np.flatnonzero(sets[place]).tolist()
            if any(terms[number].destinations.missing[row] for number in members if number in (0, 1, 4)):
                assert not works[place]
                continue
            if members == [0]:  # nothing but lines
                continue
            alone = least_cost([terms[number].of_row(row) for number in members], float(need[place]))
            assert works[place] == (alone is not None)
            if alone is None:
                continue
            n_compared += 1
            assert alone.proven
            assert costs[place] == pytest.approx(alone.cost, rel=1e-12)
            gained = sum(terms[number].gain_at(row, targets[place, number]) for number in members)
            assert gained >= need[place] - 1e-9
    assert n_compared > 2000
