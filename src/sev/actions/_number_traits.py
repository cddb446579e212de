"""Numbers that actions have met: the values that each of them may take, all numbers of a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sev.actions._bounds import Between, Shifts
from sev.actions._cells import CellTable
from sev.actions._destinations import NumberDestinations
from sev.actions._ground import NumberGround
from sev.typing import ColumnLabel, IntArray, Values


class NumberTraits(NamedTuple):
    """What actions and background say about one number, whatever the row."""

    number: int
    column: ColumnLabel
    ground: NumberGround
    limits: Between | Shifts | None
    rises: bool
    falls: bool
    may_be_missing: bool
    step: float | None
    weight: float


def number_destinations(
    numbers: Sequence[NumberTraits], cells: CellTable, assigned: IntArray, values: Values
) -> list[NumberDestinations]:
    """Destinations of numbers, all at once; tables of shape (n_numbers, n_rows)."""
    if not numbers:
        return []
    old = cells.numbers([one.column for one in numbers])
    low, high = np.full_like(old, -np.inf), np.full_like(old, np.inf)
    if values == "any":
        low[:] = np.array([one.ground.low for one in numbers])[:, None]
        high[:] = np.array([one.ground.high for one in numbers])[:, None]
    elif values == "typical":
        low, high = (np.array([one.ground.band[assigned, end] for one in numbers]) for end in (0, 1))
    for place, one in enumerate(numbers):
        if one.limits is not None:
            at_least, at_most = one.limits.limits(old[place])
            low[place], high[place] = np.maximum(low[place], at_least), np.minimum(high[place], at_most)
        if one.rises:
            low[place] = np.maximum(low[place], old[place])
        if one.falls:
            high[place] = np.minimum(high[place], old[place])
    # a change from a missing value, or within a band that is not known, has no limits: nothing is permitted
    unknown = np.isnan(low) | np.isnan(high)
    low[unknown], high[unknown] = np.inf, -np.inf
    missing = np.array([one.may_be_missing for one in numbers])[:, None] & ~np.isnan(old)
    origin = np.zeros(old.shape[1])
    return [
        NumberDestinations(
            old=old[place],
            low=low[place],
            high=high[place],
            step=one.step,
            origin=origin,
            missing=missing[place],
            scale=one.ground.scale,
            weight=one.weight,
        )
        for place, one in enumerate(numbers)
    ]
