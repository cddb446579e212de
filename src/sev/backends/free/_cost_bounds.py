"""What the values of sets cost at least, where gains add up: every feature as if it gained in proportion to its cost.

A feature of a set moves, so it costs at least as much as its cheapest value. What it gains beyond that value is at most
the cost beyond it times the most that any value gains for its cost. So the least cost of numbers on lines with these
slopes, which is known at once, is no more than that of the values themselves.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sev.actions import ChoiceDestinations, NumberDestinations, first_on_grid, last_on_grid, on_grid
from sev.backends.free._least_cost import FeatureTerms
from sev.backends.free._tables import LineTable
from sev.typing import BoolArray, FloatArray, IntArray


def cost_bounds(
    terms: list[FeatureTerms], lines: LineTable, rows: IntArray, sets: BoolArray, need: FloatArray
) -> FloatArray:
    """A lower bound of what each set costs, but for rounding.

    Parameters
    ----------
    terms : list of FeatureTerms
        What the values of each feature gain.
    lines : LineTable
        The numbers whose gains are lines.
    rows : ndarray of int64
        The row of each set.
    sets : ndarray of bool, shape (n_sets, n_features)
        Features of each set.
    need : ndarray of shape (n_rows,)
        What has to be gained.
    """
    relaxed = _relax_terms(terms, lines, np.any(sets, axis=0))
    bounds, sizes = np.zeros(len(rows)), sets.sum(axis=1)
    for size in np.unique(sizes).tolist():
        some = np.flatnonzero(sizes == size)
        members = np.nonzero(sets[some])[1].reshape(len(some), size)
        bounds[some] = relaxed.fill(rows[some], members, need[rows[some]])[1]
    return bounds


def _relax_terms(terms: list[FeatureTerms], lines: LineTable, used: BoolArray) -> LineTable:
    """A line for each feature that gains no less than any of its values for the same cost."""
    table = replace(
        lines, **{name: getattr(lines, name).copy() for name in ("near", "far", "most", "slope", "price", "fixed")}
    )
    for number in np.flatnonzero(used).tolist():
        one, mine = terms[number], terms[number].destinations
        others = ~lines.is_line[:, number]
        if not others.any():
            continue
        # whatever is not known better: all at once, for nothing
        near, far, slope, price, fixed = (np.full(len(others), value) for value in (0.0, 0.0, 1.0, 1.0, 0.0))
        if isinstance(mine, ChoiceDestinations) and len(mine.choices):
            far, slope, price, fixed = _relax_choices(one, mine)
        elif isinstance(mine, NumberDestinations) and mine.step is not None and one.slope:
            near, far, slope, price, fixed = _relax_grid(one, mine, mine.step, one.slope)
        for array, values in (
            (table.near, near), (table.far, far), (table.most, one.gain), (table.slope, slope), (table.price, price),
            (table.fixed, fixed),
        ):  # fmt: skip
            array[others, number] = values[others]
    return table


def _relax_choices(
    one: FeatureTerms, mine: ChoiceDestinations
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Far end, slope, price and fixed cost of choices: a line from 0, which gains as the best of the cheapest."""
    assert one.choice_gains is not None
    n_rows = len(one.gain)
    costs = np.where(mine.allowed & (one.choice_gains > 0), mine.costs(np.arange(n_rows)), np.inf)
    least = costs.min(axis=1)
    cheapest: FloatArray = np.where(costs == least[:, None], one.choice_gains, -np.inf).max(axis=1)
    some = np.isfinite(least) & (cheapest < one.gain)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = np.where(
            (costs > least[:, None]) & np.isfinite(costs),
            (one.choice_gains - cheapest[:, None]) / (costs - least[:, None]), 0.0,
        )  # fmt: skip
    rate = rates.max(axis=1)
    some &= rate > 0
    slope = np.where(some, one.gain - cheapest, 1.0)
    price = np.where(some, slope / np.where(some, rate, 1.0), 1.0)
    return some.astype(np.float64), slope, price, np.where(np.isfinite(least), least, 0.0)


def _relax_grid(
    one: FeatureTerms, mine: NumberDestinations, step: float, gain: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Near and far end, slope, price and fixed cost of numbers on a grid: the line itself, from the first value on."""
    known = np.isfinite(mine.old) & np.isfinite(one.best) & ~mine.missing & (mine.low <= mine.high)
    old, best = np.where(known, mine.old, 0.0), np.where(known, one.best, 0.0)
    inside = np.clip(old, np.where(known, mine.low, 0.0), np.where(known, mine.high, 0.0))
    towards = np.sign(gain)
    place = first_on_grid(inside, step, mine.origin) if gain > 0 else last_on_grid(inside, step, mine.origin)
    near = on_grid(place, step, mine.origin)
    near = np.where(near == old, on_grid(place + towards, step, mine.origin), near)
    # a value that rounding puts on the other side: the old one, which every line begins at
    near = np.where(towards * (near - old) > 0, near, old)
    near = np.where(towards * (best - near) > 0, near, best)
    price = mine.weight / mine.scale
    ones = np.ones(len(old))
    return (
        near, best, np.where(known, gain, 1.0), price * ones, np.where(known, price * np.abs(near - old), 0.0),
    )  # fmt: skip
