"""Ends of ranges as they are written: inside the range, and no further than needed."""

from itertools import product

import pytest

from sev.text import format_value, round_inward

#: As people give limits: two decimals, which a float mostly stores as a little more or less.
AMOUNTS = [98765.43, 0.29, 1.15, 4.35, 1000.01, 8.41, 123456.78]


@pytest.mark.parametrize(("amount", "sign"), list(product(AMOUNTS, [1, -1])))
def test_a_limit_of_two_decimals_is_written_as_it_was_given(amount, sign):
    assert round_inward(sign * amount, sign * amount, None) == (sign * amount, sign * amount)
    assert format_value(round_inward(-1e9, sign * amount, None)[1], thousands="") == f"{sign * amount:.2f}"


@pytest.mark.parametrize("end", [0.12345, -0.12345, 24.6789, 1e-7 / 3, 1234567.891, -98765.4321])
def test_ends_are_inside_the_range(end):
    low, high = round_inward(end, end + abs(end), None)
    assert end <= low <= high <= end + abs(end)
