"""Ranges of features that move as one: as wide as every combination in them is known to do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sev.backends.free._joint_values import Block
from sev.backends.free._problem import Enough
from sev.typing import BoolArray, FloatArray, IntArray


def widest_ranges(
    block: Block, row: int, chosen: BoolArray, targets: FloatArray, works: frozenset[int]
) -> Mapping[int, Enough]:
    """Values around those of a set, by number of the feature, all of whose combinations are among some that work.

    Parameters
    ----------
    block : Block
        The features.
    row : int
        The row.
    chosen, targets : ndarray of shape (n_features,)
        The features of the set, and their values.
    works : frozenset of int
        Combinations that do.
    """
    good = np.zeros(block.shape, dtype=np.bool_)
    good.ravel()[list(works)] = True
    box = [one.own[row : row + 1] for one in block.values]
    moved = [at for at, number in enumerate(block.features) if chosen[number]]
    for at in moved:
        box[at] = _place_of(block, at, float(targets[block.features[at]]))
    if not good[np.ix_(*box)].all():
        return {}
    for at in moved:
        for values in _further(block, row, at, box[at]):
            for value in values:
                added = [np.array([value]) if other == at else one for other, one in enumerate(box)]
                if good[np.ix_(*added)].all():
                    box[at] = np.append(box[at], value)
                elif block.values[at].numbers is not None:
                    break
    return {block.features[at]: one for at in moved if (one := _as_range(block, at, box[at])) is not None}


def _place_of(block: Block, at: int, target: float) -> IntArray:
    numbers = block.values[at].numbers
    if numbers is None:
        return np.array([int(target)])
    return np.flatnonzero(np.isnan(numbers) if np.isnan(target) else numbers == target)


def _further(block: Block, row: int, at: int, box: IntArray) -> list[list[int]]:
    """Other values of a feature, nearest first: of a number those below and above, as far as the row's own."""
    one, place = block.values[at], int(box[0])
    permitted = np.flatnonzero(one.permitted[row])
    if one.numbers is None:
        return [[value for value in permitted.tolist() if value != place]]
    if np.isnan(one.numbers[place]):
        return []
    permitted = permitted[~np.isnan(one.numbers[permitted])]
    own = float(one.numbers[one.own[row]])
    side = permitted[np.isnan(own) | ((one.numbers[permitted] < own) == (one.numbers[place] < own))]
    return [side[side < place][::-1].tolist(), side[side > place].tolist()]


def _as_range(block: Block, at: int, places: IntArray) -> Enough:
    numbers = block.values[at].numbers
    if numbers is None:
        return frozenset(places.tolist())
    low, high = float(numbers[places].min()), float(numbers[places].max())
    return (low, high) if low < high else None
