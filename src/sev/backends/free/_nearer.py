"""Values of sets brought nearer to the row's own, as long as the sets cross and keep the rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sev.actions import NumberDestinations, first_on_grid, last_on_grid, on_grid
from sev.backends.free._problem import FreeProblem
from sev.backends.free._rows import move_rows
from sev.typing import BoolArray, FloatArray, IntArray

#: How often the way from a value to the row's own is halved.
_HALVINGS = 20


def bring_nearer(
    problem: FreeProblem, rows: IntArray, sets: BoolArray, targets: FloatArray, numbers: Sequence[int]
) -> FloatArray:
    """Other values of some numbers, one after the other, that cost no more; what crosses at them is seen by the model.

    Parameters
    ----------
    problem : FreeProblem
        The rows.
    rows : ndarray of int
        The row of each set.
    sets, targets : ndarray of shape (n_sets, n_features)
        Features that cross, and their values.
    numbers : sequence of int
        The numbers whose values may be others.
    """
    targets = targets.copy()
    for number in numbers:
        one = problem.destinations.features[number]
        assert isinstance(one, NumberDestinations)
        old = one.old[rows]
        moved = np.flatnonzero(sets[:, number] & ~np.isnan(targets[:, number]) & ~np.isnan(old))
        if moved.size:
            _halve_distances(problem, rows[moved], sets[moved], targets, moved, number, one)
    return targets


def _halve_distances(
    problem: FreeProblem,
    rows: IntArray,
    sets: BoolArray,
    targets: FloatArray,
    moved: IntArray,
    number: int,
    one: NumberDestinations,
) -> None:
    """Halve the way between the value of each set and the nearest that is permitted."""
    start, nearest = targets[moved, number].copy(), _find_nearest(one, rows, targets[moved, number])

    def works(values: FloatArray) -> BoolArray:
        trial = targets[moved].copy()
        trial[:, number] = values
        frame = move_rows(problem.queries, problem.space, problem.destinations, rows, sets, trial)
        crosses = problem.crosses(frame)
        return crosses if problem.keeps_rules is None else crosses & problem.keeps_rules(rows, frame)

    good, bad = start, np.where(works(nearest), start, nearest)
    good = np.where(bad == start, nearest, start)
    for _ in range(_HALVINGS):
        middle = good + (bad - good) / 2
        if one.step is not None:
            middle = on_grid(np.round((middle - one.origin[rows]) / one.step), one.step, one.origin[rows])
        tried = (middle != good) & (middle != bad) & (bad != start)
        if not tried.any():
            break
        does = works(np.where(tried, middle, good))
        good, bad = np.where(tried & does, middle, good), np.where(tried & ~does, middle, bad)
    targets[moved, number] = good


def _find_nearest(one: NumberDestinations, rows: IntArray, values: FloatArray) -> FloatArray:
    """The permitted value nearest to the row's own on the side of a value; without a grid the end of that side."""
    old, low, high = one.old[rows], one.low[rows], one.high[rows]
    near = np.clip(old, low, high)
    if one.step is None:
        return near
    origin, rises = one.origin[rows], values > old
    place = np.where(rises, first_on_grid(near, one.step, origin), last_on_grid(near, one.step, origin))
    same = on_grid(place, one.step, origin) == old
    return on_grid(np.where(same, place + np.where(rises, 1, -1), place), one.step, origin)
