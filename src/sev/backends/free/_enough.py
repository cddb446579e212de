"""Ranges that are enough in a sum of terms: every value in them, with the others anywhere in theirs, crosses.

What the chosen values gain beyond what is needed is divided evenly; each feature may then take every value that gains
no less than its own part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from sev.actions import ChoiceDestinations, NumberDestinations, first_on_grid, last_on_grid, on_grid, permitted_number
from sev.backends.free._least_cost import FeatureTerms
from sev.backends.free._problem import Enough
from sev.typing import FloatArray

#: Permitted values of a number that are looked at one by one.
_MOST_LISTED = 2_000


def find_ranges(terms: Mapping[int, FeatureTerms], row: int, targets: FloatArray, need: float) -> dict[int, Enough]:
    """The values of the features of one set that do, by number of the feature; nothing where the set is too near.

    Parameters
    ----------
    terms : mapping of int to FeatureTerms
        The features of the set.
    row : int
        The row.
    targets : ndarray of shape (n_features,)
        The values that were chosen.
    need : float
        What surely is enough to gain.
    """
    gains = {number: one.gain_at(row, float(targets[number])) for number, one in terms.items()}
    spare = math.fsum(gains.values()) - need
    if not spare >= 0.0:
        return {}
    part = spare / len(terms)
    return {
        number: _values_that_gain(one, row, float(targets[number]), gains[number] - part)
        for number, one in terms.items()
    }


def _values_that_gain(terms: FeatureTerms, row: int, target: float, level: float) -> Enough:
    """The permitted values around one that gain so much; None where that is not known."""
    one = terms.destinations
    if isinstance(one, ChoiceDestinations):
        assert terms.choice_gains is not None
        return frozenset(np.flatnonzero(one.allowed[row] & (terms.choice_gains[row] >= level)).tolist())
    if not isinstance(one, NumberDestinations) or math.isnan(target):
        return None
    if terms.slope is not None:
        if terms.slope == 0:
            return None
        ends = (target, float(one.high[row])) if terms.slope > 0 else (float(one.low[row]), target)
        return min(ends), max(ends)
    every = permitted_number(one, row, _MOST_LISTED)
    if every is not None and len(every):
        return _run_around(every, terms.gains_at(row, every) >= level, target, float(one.old[row]))
    if terms.curve is None:
        return None
    low, high = one.ends(row)
    sign = terms.sign
    found = terms.curve.around(target, level + sign * float(terms.own[row]), sign, low, high)
    if found is None or one.step is None:
        return found
    origin = one.origin[row : row + 1]
    first = on_grid(first_on_grid(np.array(found[:1]), one.step, origin), one.step, origin)
    last = on_grid(last_on_grid(np.array(found[1:]), one.step, origin), one.step, origin)
    return float(first[0]), float(last[0])


def _run_around(values: FloatArray, good: np.ndarray, target: float, own: float) -> Enough:
    """The ends of the longest run of good values around one of them, on its side of the row's own value."""
    [same] = np.nonzero(values == target)
    if not same.size or not good[same[0]]:
        return None
    bad = np.flatnonzero(~good | ((values < own) != (target < own)))
    first = bad[bad < same[0]].max(initial=-1) + 1
    last = bad[bad > same[0]].min(initial=len(values)) - 1
    return float(values[first]), float(values[last])
