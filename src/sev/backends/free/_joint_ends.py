"""Numbers with many values in rules: the few values that decide whether a set crosses and keeps the rules.

A rule that compares numbers once, by an order, holds somewhere in a box of numbers if it does at a corner. So the ends
of the intervals that the model does not tell apart suffice; where the margin is a line, those of what is permitted, and
the values at which the comparison turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sev.actions import Comparison, Destinations, NumberDestinations, first_on_grid, grid_ends, last_on_grid, on_grid
from sev.backends.free._joint_values import FeatureRule
from sev.typing import FloatArray

#: Units of two grids are multiples up to this share.
_ROUNDING = 1e-9


def find_ends(
    wide: Sequence[int],
    rules: Sequence[FeatureRule],
    destinations: Destinations,
    ends: Mapping[int, FloatArray],
    listed: Mapping[int, FloatArray],
) -> dict[int, FloatArray] | None:
    """For some numbers of a block the values that decide; None where that is not known.

    Parameters
    ----------
    wide : sequence of int
        The numbers; all values of other features are listed.
    rules : sequence of FeatureRule
        The rules of the block.
    destinations : Destinations
        What is permitted.
    ends : mapping of int to ndarray
        As :meth:`ExactSearch.ends`.
    listed : mapping of int to ndarray
        All values of the other numbers that the rules compare.
    """
    if not set(wide) <= set(ends):
        return None
    found = {number: _own_ends(_number(destinations, number)) for number in wide}
    compared: set[int] = set()
    for rule in rules:
        touching = [one for one in rule.rule.comparisons if set(wide) & set(_weights_of(rule, one))]
        if not touching:
            continue
        weights = _weights_of(rule, touching[0])
        mine = [number for number in wide if number in weights]
        # a corner that is good for one comparison need not be for the other
        if len(touching) > 1 or not touching[0].is_ordered or compared & set(mine):
            return None
        compared |= set(mine)
        is_line = any(not len(ends[number]) for number in mine)
        if is_line and not _add_turns(touching[0], mine, weights, destinations, found, listed):
            return None
    return {
        number: np.unique(np.concatenate([found[number], _snap(_number(destinations, number), ends[number])]))
        for number in wide
    }


def _number(destinations: Destinations, number: int) -> NumberDestinations:
    one = destinations.features[number]
    assert isinstance(one, NumberDestinations)
    return one


def _own_ends(one: NumberDestinations) -> FloatArray:
    """The ends of what is permitted in each row, on both sides of its own value."""
    low, high, exists = grid_ends(one)
    values = [low[exists], high[exists]]
    if one.step is not None:
        own = one.old[exists & ~np.isnan(one.old)]
        origin = float(one.origin[0])
        below, above = last_on_grid(own, one.step, origin), first_on_grid(own, one.step, origin)
        values += [on_grid(np.concatenate([below - 1, below, above, above + 1]), one.step, origin)]
    return np.unique(np.concatenate(values))


def _snap(one: NumberDestinations, values: FloatArray) -> FloatArray:
    """The values of the grid next to some values, as far as any row may take them."""
    low, high, exists = grid_ends(one)
    if not exists.any():
        return np.zeros(0)
    values = np.clip(values, low[exists].min(), high[exists].max())
    if one.step is None:
        return values
    origin = float(one.origin[0])
    places = np.concatenate([first_on_grid(values, one.step, origin), last_on_grid(values, one.step, origin)])
    inside = on_grid(places, one.step, origin)
    return inside[(inside >= low[exists].min()) & (inside <= high[exists].max())]


def _weights_of(rule: FeatureRule, comparison: Comparison) -> dict[int, float]:
    """The weights of the features that a rule compares."""
    found: dict[int, float] = {}
    for name, weight in comparison.weights.items():
        if name:
            found[rule.owners[name]] = found.get(rule.owners[name], 0.0) + weight
    return {number: weight for number, weight in found.items() if weight}


def _add_turns(
    comparison: Comparison,
    mine: Sequence[int],
    weights: Mapping[int, float],
    destinations: Destinations,
    found: dict[int, FloatArray],
    listed: Mapping[int, FloatArray],
) -> bool:
    """Add the values at which a comparison turns; False where the best values need not be among them."""
    numbers = [_number(destinations, number) for number in mine]
    if any(one.step is None for one in numbers) and not comparison.is_closed:  # the best values need not exist
        return False
    if len(mine) == 1:
        others = [number for number in weights if number not in mine]
        if len(others) > 1:
            return False
        known = {number: listed[number] for number in others}
        order = [(mine[0], others)]
    elif len(mine) == 2 and len(weights) == 2 and _are_multiples(numbers, [weights[number] for number in mine]):
        known = found
        units = [abs(weights[number]) * (one.step or 0.0) for number, one in zip(mine, numbers, strict=True)]
        fine, coarse = mine if units[0] <= units[1] else mine[::-1]
        # where the finer one is at an end the other is beside the turn; for each of those the finer one turns exactly
        order = [(coarse, [fine]), (fine, [coarse])]
    else:
        return False
    for number, others in order:
        total = np.full(1, comparison.weights.get("", 0.0))
        for other in others:
            total = total + weights[other] * known[other]
        one, exact = _number(destinations, number), -total[~np.isnan(total)] / weights[number]
        step = one.step or 0.0
        beside = _snap(one, np.concatenate([exact - step, exact, exact + step]))
        found[number] = np.unique(np.concatenate([found[number], beside]))
    return True


def _are_multiples(numbers: Sequence[NumberDestinations], weights: Sequence[float]) -> bool:
    """Whether in a comparison the grid of one of two numbers is as fine as that of the other, or finer everywhere."""
    fine, coarse = sorted(abs(weight) * (one.step or 0.0) for one, weight in zip(numbers, weights, strict=True))
    return fine == 0 or abs(coarse / fine - round(coarse / fine)) <= _ROUNDING
