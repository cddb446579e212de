"""The better end of all numbers at once, and terms that are known from the last problem."""

import numpy as np
import pytest

from sev.actions import Destinations, NumberDestinations, grid_ends
from sev.backends.free._ends import KnownTerms, better_ends, ends_of_all

N_ROWS = 6


def make(seed):
    rng = np.random.default_rng(seed)
    numbers = []
    for step in (None, 0.5, 2.0, None):
        low = rng.normal(size=N_ROWS) * 3
        numbers.append(
            NumberDestinations(
                old=np.where(rng.random(N_ROWS) < 0.2, np.nan, rng.normal(size=N_ROWS)), low=low,
                high=low + rng.normal(size=N_ROWS) + 0.7, step=step, origin=np.zeros(N_ROWS),
                missing=np.zeros(N_ROWS, dtype=bool), scale=1.0, weight=1.0,
            )
        )  # fmt: skip
    return numbers


@pytest.mark.parametrize("seed", range(20))
def test_ends_are_those_of_each_number(seed):
    numbers = make(seed)
    ends = ends_of_all(Destinations(features=(None, *numbers)).numbers)
    for place, one in enumerate(numbers):
        low, high, exists = grid_ends(one)
        assert np.array_equal(ends.exists[place], exists)
        assert np.array_equal(ends.low[place], low)
        assert np.array_equal(ends.high[place], high)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("seed", range(20))
def test_the_better_end_is_the_one_whose_term_is_furthest(seed, sign):
    numbers = make(seed)
    table = Destinations(features=(None, *numbers)).numbers
    terms = {number: (lambda x, n=number: np.cos(n + x)) for number in table.features.tolist()}
    known = KnownTerms(lambda values, dtypes: {n: terms[n](x) for n, x in values.items()})
    own = np.random.default_rng(seed).normal(size=table.old.shape) / 2
    found = better_ends(table, ends_of_all(table), own, sign, known, [])
    for place, one in enumerate(numbers):
        low, high, exists = grid_ends(one)
        for row in range(N_ROWS):
            ends = [end for end in (low[row], high[row]) if exists[row] and end != one.old[row]]
            gains = [terms[place + 1](end) - own[place, row] for end in ends]
            best = min(gains, key=lambda gain: sign * gain, default=0.0)
            assert found.usable[place, row] == (sign * best < 0)
            if found.usable[place, row]:
                assert found.gain[place, row] == best
                assert found.target[place, row] == ends[gains.index(best)]


def test_terms_are_asked_for_once():
    asked = []

    def find(values, dtypes):
        asked.append({number: one.tolist() for number, one in values.items()})
        return {number: one * 2 for number, one in values.items()}

    known = KnownTerms(find)
    first = known.at({1: np.array([3.0, 1.0, 3.0]), 2: np.array([0.5])}, ["a"])
    assert {number: one.tolist() for number, one in first.items()} == {1: [6.0, 2.0, 6.0], 2: [1.0]}
    assert known.at({1: np.array([1.0, 2.0, 9.0])}, ["a"])[1].tolist() == [2.0, 4.0, 18.0]
    assert known.at({1: np.array([9.0]), 2: np.array([0.5])}, ["a"])[1].tolist() == [18.0]
    assert asked == [{1: [1.0, 3.0], 2: [0.5]}, {1: [2.0, 9.0]}]
    known.at({1: np.array([1.0])}, ["b"])  # columns of other dtypes may be encoded otherwise
    assert asked[-1] == {1: [1.0]}
    many = np.arange(10_000.0)
    assert np.array_equal(known.at({1: many}, ["b"])[1], many * 2)
    known.at({1: np.array([5.0])}, ["b"])  # too many to keep
    assert asked[-1] == {1: [5.0]}
