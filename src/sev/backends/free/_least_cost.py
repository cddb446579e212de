"""The least costly values of given features that together gain enough, where gains add up.

Numbers on a line gain in proportion to their cost. Steps and categories have lists of values. All combinations of the
listed values are tried, each filled up with the numbers, those that gain most for their cost first: exact. Lists that
have too many combinations are not searched in full, and the result is not proven then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sev.actions import (
    ChoiceDestinations,
    FeatureDestinations,
    NumberDestinations,
    first_on_grid,
    grid_ends,
    last_on_grid,
    on_grid,
    permitted_number,
)
from sev.backends.free._curves import TermCurve
from sev.typing import BoolArray, FloatArray, IntArray

#: Combinations of listed values that are tried for one set.
_MOST_COMBINATIONS = 20_000
#: Values of a grid that are listed.
_MOST_LISTED = 2_000
#: How much further than needed a value may go to be a rounder one, as a share of the change.
_ROUNDER = 0.01


class Listed(NamedTuple):
    """A feature that takes one of some values."""

    targets: FloatArray
    gains: FloatArray
    costs: FloatArray
    complete: bool


class Line(NamedTuple):
    """A number that gains in proportion to what it moves: from ``near`` to ``far``."""

    old: float
    near: float
    far: float
    most: float  # gain at ``far``
    slope: float
    price: float  # cost of a change of 1
    fixed: float  # cost at ``near``

    def gain_at(self, value: float) -> float:
        """What a value gains."""
        return self.most + self.slope * (value - self.far)

    def cost_at(self, value: float) -> float:
        """What a value costs."""
        return self.fixed + self.price * abs(value - self.near)


class LeastCost(NamedTuple):
    """Values of least cost."""

    targets: FloatArray
    cost: float
    proven: bool


@dataclass(frozen=True, eq=False)
class FeatureTerms:
    """What the values of one feature gain, for all rows.

    Parameters
    ----------
    destinations : FeatureDestinations
        What is permitted.
    best, gain : ndarray of shape (n_rows,)
        The best permitted value, and what it gains.
    slope : float or None
        Gain for a change of 1 where the gain is a line; None where it is not.
    choice_gains : ndarray of shape (n_rows, n_choices) or None
        Gain of each choice.
    seen, seen_gains : ndarray of shape (n_seen,) and (n_rows, n_seen)
        Some values of a number whose gain is not a line, and their gains.
    seen_all : bool
        Whether these are all that any row may take.
    own : ndarray of shape (n_rows,)
        The term of each row as it is.
    sign : float
        A value gains this times what it adds to the term.
    terms_at : callable or None
        The term of a number at some values.
    curve : TermCurve or None
        The same in pieces, where they are known and the gain is not a line.
    """

    destinations: FeatureDestinations
    best: FloatArray
    gain: FloatArray
    slope: float | None
    choice_gains: FloatArray | None
    seen: FloatArray
    seen_gains: FloatArray
    seen_all: bool = False
    own: FloatArray = field(default_factory=lambda: np.zeros(0))
    sign: float = 1.0
    terms_at: Callable[[FloatArray], FloatArray] | None = None
    curve: TermCurve | None = None

    def cost(self, row: int, target: float) -> float:
        """Cost of one value of one row."""
        one = self.destinations
        if isinstance(one, NumberDestinations):
            return float(one.cost(row, np.array([target]))[0])
        assert one is not None
        return float(one.costs(np.array([row]))[0, int(target)])

    def of_row(self, row: int) -> Listed | Line:
        """The values of one row that may be of least cost."""
        one = self.destinations
        if isinstance(one, ChoiceDestinations):
            assert self.choice_gains is not None
            places = np.flatnonzero(one.allowed[row] & (self.choice_gains[row] > 0))
            gains = self.choice_gains[row, places]
            return Listed(places.astype(np.float64), gains, one.costs(np.array([row]))[0, places], True)
        assert isinstance(one, NumberDestinations)
        best, old = float(self.best[row]), float(one.old[row])
        if math.isnan(old):  # every value costs the same
            return Listed(self.best[[row]], self.gain[[row]], one.cost(row, self.best[[row]]), True)
        if self.slope is None or self.slope == 0:
            return self._with_missing(one, row, self._seen_values(one, row, best))
        if one.step is not None:
            return self._with_missing(one, row, self._on_grid(one, row, best))
        if math.isnan(best):
            return self._seen_values(one, row, best)
        near = min(max(old, float(one.low[row])), float(one.high[row]))
        price = one.weight / one.scale
        line = Line(old, near, best, float(self.gain[row]), self.slope, price, price * abs(near - old))
        if one.missing[row]:
            gained = float(self.gains_at(row, np.array([np.nan]))[0])
            reached = line.far + (gained - line.most) / line.slope if gained > line.gain_at(near) else near
            if gained > 0 and line.cost_at(reached) > one.weight:  # a number that gains as much costs more
                return self._with_missing(one, row, self._seen_values(one, row, best))
        return line

    def alone(self, rows: IntArray, need: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """As :func:`least_cost` for this feature alone in many rows: targets, costs, and whether they are known so."""
        one = self.destinations
        if isinstance(one, ChoiceDestinations):
            assert self.choice_gains is not None
            works = one.allowed[rows] & (self.choice_gains[rows] >= need[:, None])
            prices = np.where(works, one.costs(rows), np.inf)
            if not prices.shape[1]:
                return np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows), dtype=np.bool_)
            chosen = np.argmin(prices, axis=1)
            some: BoolArray = np.any(works, axis=1)
            return chosen.astype(np.float64), prices[np.arange(len(rows)), chosen], some
        if not isinstance(one, NumberDestinations) or one.step is None or not self.slope:
            return np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows), dtype=np.bool_)
        least, greatest, any_value = grid_ends(one)
        low, high, exists = least[rows], greatest[rows], any_value[rows]
        old, best, gain, origin = one.old[rows], self.best[rows], self.gain[rows], one.origin[rows]
        with np.errstate(invalid="ignore"):
            exact = best + (need - gain) / self.slope
            places = first_on_grid(exact, one.step, origin) if self.slope > 0 else last_on_grid(exact, one.step, origin)
            values = on_grid(places, one.step, origin)
            short = gain + self.slope * (values - best) < need  # by rounding
            values = np.where(short, on_grid(places + np.sign(self.slope), one.step, origin), values)
            values = np.clip(values, low, np.maximum(low, high))
            works = exists & (gain + self.slope * (values - best) >= need) & ~one.missing[rows] & (values != old)
        costs = one.weight * np.abs(values - old) / one.scale
        return values, costs, works & np.isfinite(costs)

    def _seen_values(self, one: NumberDestinations, row: int, best: float) -> Listed:
        """The best value and others whose gain is known; where the gain is not a line that is not all."""
        near = permitted_number(one, row, 1, wanted=self.seen)
        same = np.isin(self.seen, np.zeros(0) if near is None else near) & (self.seen_gains[row] > 0)
        values = np.concatenate([[best], self.seen[same]])
        gains = np.concatenate([self.gain[[row]], self.seen_gains[row, same]])
        return Listed(values, gains, one.cost(row, values), self.seen_all or self.slope == 0)

    def _with_missing(self, one: NumberDestinations, row: int, listed: Listed) -> Listed:
        """The same with a missing value, if that is permitted and gains something."""
        if not one.missing[row] or np.isnan(listed.targets).any():
            return listed
        gained = self.gains_at(row, np.array([np.nan]))
        if not gained[0] > 0:
            return listed
        return Listed(
            np.append(listed.targets, np.nan),
            np.append(listed.gains, gained),
            np.append(listed.costs, one.weight),
            listed.complete,
        )

    def _on_grid(self, one: NumberDestinations, row: int, best: float) -> Listed:
        assert self.slope is not None
        values = permitted_number(one, row, _MOST_LISTED)
        complete = values is not None
        if values is None:
            far = best if not math.isnan(best) else float((one.high if self.slope > 0 else one.low)[row])
            reach = np.linspace(float(one.old[row]), far, _MOST_LISTED)
            near = permitted_number(one, row, _MOST_LISTED, wanted=reach)
            values = np.array([best]) if near is None else near
        # a missing value may be the best
        at, gained = (one.old[row], 0.0) if math.isnan(best) else (best, self.gain[row])
        gains = gained + self.slope * (values - at)
        useful = gains > 0
        return Listed(values[useful], gains[useful], one.cost(row, values[useful]), complete)

    def gains_at(self, row: int, values: FloatArray) -> FloatArray:
        """What some values of a number gain in one row, by the model's own term."""
        assert self.terms_at is not None
        return self.sign * (self.terms_at(values) - self.own[row])

    def gain_at(self, row: int, target: float) -> float:
        """What one value of one row gains."""
        if self.choice_gains is not None:
            return float(self.choice_gains[row, int(target)])
        if math.isnan(target):
            return float(self.gain[row]) if math.isnan(self.best[row]) else -math.inf
        if self.slope is not None:
            return float(self.gain[row] + self.slope * (target - self.best[row]))
        return float(self.gains_at(row, np.array([target]))[0])


def least_cost(features: list[Listed | Line], need: float) -> LeastCost | None:
    """Values of all features that together gain as much as is needed; None where the best do not, surely.

    Parameters
    ----------
    features : list of Listed or Line
        What each may take.
    need : float
        The least gain.
    """
    listed = [(place, one) for place, one in enumerate(features) if isinstance(one, Listed)]
    lines = [(place, one) for place, one in enumerate(features) if isinstance(one, Line)]
    if any(not len(one.targets) for _, one in listed):
        return None
    cut = [(place, _drop_dominated(one, _share_of_work(len(listed)))) for place, one in listed]
    proven = all(one.complete for _, one in cut)
    gains, costs = np.zeros(1), np.zeros(1)
    for _, one in cut:
        gains = (gains[:, None] + one.gains[None, :]).ravel()
        costs = (costs[:, None] + one.costs[None, :]).ravel()
    # every number of the set moves: as far as its nearest permitted value at least
    for _, line in lines:
        gains, costs = gains + line.gain_at(line.near), costs + line.fixed
    lines.sort(key=lambda one: -_gain_per_cost(one[1]))
    missing = np.maximum(need - gains, 0.0)
    taken = []
    for _, line in lines:
        capacity = line.gain_at(line.far) - line.gain_at(line.near)
        step = np.minimum(missing, capacity)
        taken.append(step)
        missing = missing - step
        costs = costs + step / abs(line.slope) * line.price
    costs = np.where(missing <= 0.0, costs, np.inf)
    place = int(np.argmin(costs))
    if not np.isfinite(costs[place]):
        return None
    targets = np.zeros(len(features))
    places = np.unravel_index(place, tuple(len(one.targets) for _, one in cut)) if cut else ()
    for (number, one), at in zip(cut, places, strict=True):
        targets[number] = one.targets[at]
    for (number, line), step in zip(lines, taken, strict=True):
        value = line.near + float(step[place]) / line.slope
        ends = (np.array([one]) for one in (line.near, line.far, line.old, value))
        targets[number] = round_values(*ends)[0]
    return LeastCost(targets, float(costs[place]), proven)


def _share_of_work(n_lists: int) -> int:
    """Values that each of some lists may have."""
    return int(_MOST_COMBINATIONS ** (1 / max(n_lists, 1)))


def _drop_dominated(one: Listed, most: int) -> Listed:
    """The values that are not both costlier and weaker than another, at most so many."""
    order = np.lexsort((-one.gains, one.costs))
    strongest = np.maximum.accumulate(one.gains[order])
    kept = order[np.concatenate([[True], strongest[1:] > strongest[:-1]])]
    if len(kept) > most:
        chosen = kept[np.unique(np.linspace(0, len(kept) - 1, most).round().astype(np.int64))]
        return Listed(one.targets[chosen], one.gains[chosen], one.costs[chosen], False)
    return Listed(one.targets[kept], one.gains[kept], one.costs[kept], one.complete)


def _gain_per_cost(line: Line) -> float:
    return abs(line.slope) / line.price if line.price > 0 else math.inf


def round_values(near: FloatArray, far: FloatArray, old: FloatArray, values: FloatArray) -> FloatArray:
    """Values with few digits that lie a little further on the same way, or the values themselves."""
    moved = values - old
    limit = values + _ROUNDER * moved
    limit = np.where(moved > 0, np.minimum(limit, np.maximum(far, values)), np.maximum(limit, np.minimum(far, values)))
    low, high = np.minimum(values, limit), np.maximum(values, limit)
    rounded = np.clip(values, np.minimum(near, far), np.maximum(near, far))
    waiting = low < high
    for digits in range(-12, 16):
        if not waiting.any():
            break
        candidate = np.round(np.ceil(low * 10.0**digits) / 10.0**digits, max(digits, 0))
        good = waiting & (low <= candidate) & (candidate <= high)
        rounded = np.where(good, candidate, rounded)
        waiting &= ~good
    return rounded
