"""Features that only some rows may change."""

import numpy as np

from sev.actions import ChoiceDestinations, Destinations, NumberDestinations


def test_nothing_is_permitted_of_features_that_a_row_may_not_change():
    number = NumberDestinations(
        old=np.array([1.0, 2.0]), low=np.zeros(2), high=np.full(2, 9.0), step=None, origin=np.zeros(2),
        missing=np.ones(2, dtype=bool), scale=1.0, weight=1.0,
    )  # fmt: skip
    choice = ChoiceDestinations(
        choices=(("x",), ("y",)), old=np.array([0, 1]), allowed=np.array([[False, True], [True, False]]), weight=1.0
    )
    both = Destinations(features=(number, choice, None))
    usable = np.array([[True, False, False], [False, True, True]])
    some, other, none = both.only(usable).features
    assert none is None
    assert (some.low <= some.high).tolist() == [True, False]
    assert some.missing.tolist() == [True, False]
    assert (some.low[0], some.high[0]) == (0.0, 9.0)
    assert other.allowed.tolist() == [[False, False], [True, False]]
    assert number.missing.all()  # what was passed stays as it was
