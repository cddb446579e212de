"""Ranges without values that break a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np
import pandas as pd

from sev.actions import BoundActions, ChoiceDestinations, Destinations, NumberDestinations, Rule, column_of, on_grid
from sev.backends.free import move_rows

#: Values that are enough: the two ends of a number, or the choices of anything else.
Range: TypeAlias = tuple[float, float] | frozenset[int]
#: Corners of ranges at which a rule is looked at.
_MOST_CORNERS = 1_024
#: How often the part of a range that may keep a rule is halved.
_HALVINGS = 20


def keep_rules_in_ranges(
    enough: Mapping[int, Range | None],
    rules: Iterable[Rule],
    bound: BoundActions,
    destinations: Destinations,
    number: int,
    row: pd.DataFrame,
) -> dict[int, Range]:
    """The ranges of one set, as far as no value in them breaks a rule, with the others anywhere in theirs.

    Parameters
    ----------
    enough : mapping of int to range
        By number of the feature.
    rules : iterable of Rule
        Those that the query keeps.
    bound : BoundActions
        What the names in rules stand for.
    destinations : Destinations
        What the choices of a feature are.
    number : int
        Place of the row among the destinations.
    row : DataFrame
        The changed row of the set: features without a range stay as they are in it.
    """
    kept = {feature: one for feature, one in enough.items() if one is not None}
    features = bound.space.features
    for rule in rules:
        columns = {column_of(bound.space, name) for name in rule.names}
        named = [feature for feature in kept if columns & set(features[feature].columns)]
        box = _Box(rule, bound, destinations, number, row)
        mine = {feature: kept[feature] for feature in named}
        if named and not box.holds(mine):
            kept = {feature: one for feature, one in kept.items() if feature not in mine} | box.narrowed(mine)
    return kept


@dataclass(frozen=True, eq=False)
class _Box:
    """One rule, with some features of a row anywhere in their ranges."""

    rule: Rule
    bound: BoundActions
    destinations: Destinations
    number: int
    row: pd.DataFrame

    def holds(self, ranges: Mapping[int, Range]) -> bool:
        """Whether the rule surely holds with every feature anywhere in its range."""
        corners = [sorted(one) if isinstance(one, frozenset) else sorted(set(one)) for one in ranges.values()]
        if not self.rule.is_decided_by_corners or prod(map(len, corners)) > _MOST_CORNERS:
            return False
        places = np.array(list(product(*corners)), dtype=np.float64)
        sets = np.zeros((len(places), len(self.bound.space)), dtype=np.bool_)
        targets = np.zeros(sets.shape)
        sets[:, list(ranges)], targets[:, list(ranges)] = True, places
        features = tuple(one if isinstance(one, ChoiceDestinations) else None for one in self.destinations.features)
        rows = np.zeros(len(places), dtype=np.int64)
        frame = move_rows(self.row, self.bound.space, Destinations(features=features), rows, sets, targets)
        return not self.rule.broken(self.bound.cells(self.rule, frame)).any()

    def narrowed(self, ranges: Mapping[int, Range]) -> dict[int, Range]:
        """Parts of ranges around the values of the row in which the rule holds, one feature after the other."""
        found: dict[int, Range] = {}
        for feature, one in ranges.items():
            point = self._shrink_to_point(feature, one)
            if point is None:
                return {}
            found[feature] = point
        if not self.holds(found):
            return {}
        for feature, one in ranges.items():
            choices = found[feature]
            if isinstance(one, frozenset) and isinstance(choices, frozenset):
                for choice in sorted(one - choices):
                    wider = {**found, feature: choices | {choice}}
                    if self.holds(wider):
                        found, choices = wider, choices | {choice}
                continue
            for side, end in enumerate(one):
                found[feature] = self._with_end(
                    found, feature, side, self._find_furthest(found, feature, side, float(end))
                )
        return {feature: one for feature, one in found.items() if isinstance(one, frozenset) or one[0] < one[1]}

    def _shrink_to_point(self, feature: int, one: Range) -> Range | None:
        """A range of the value of the row alone; None where that is not in the range."""
        columns = list(self.bound.space.features[feature].columns)
        if isinstance(one, frozenset):
            mine = self.destinations.features[feature]
            assert isinstance(mine, ChoiceDestinations)
            choice = int(self.bound.places(feature, self.row, mine.choices)[0])
            return frozenset([choice]) if choice in one else None
        value = float(self.row[columns[0]].iloc[0])
        return (value, value) if one[0] <= value <= one[1] else None

    @staticmethod
    def _with_end(ranges: Mapping[int, Range], feature: int, side: int, value: float) -> tuple[float, float]:
        """The range of a number with another end."""
        low, high = ranges[feature]
        return (value, high) if side == 0 else (low, value)

    def _find_furthest(self, ranges: Mapping[int, Range], feature: int, side: int, end: float) -> float:
        """How far one end of a range can be moved towards another value while the rule holds."""

        def holds(value: float) -> bool:
            return self.holds({**ranges, feature: self._with_end(ranges, feature, side, value)})

        low, high = ranges[feature]
        start = float(high if side else low)
        if start == end or holds(end):
            return end
        mine = self.destinations.features[feature]
        if isinstance(mine, NumberDestinations) and mine.step is not None:
            return _furthest_on_grid(start, end, mine.step, float(mine.origin[self.number]), holds)
        good, bad = start, end
        for _ in range(_HALVINGS):
            middle = good + (bad - good) / 2
            good, bad = (middle, bad) if holds(middle) else (good, middle)
        digits = int(np.clip(5 - np.floor(np.log10(abs(bad - start) or 1.0)), 0, 300))
        rounded = round(bad, digits)
        return rounded if min(good, end) <= rounded <= max(good, end) and holds(rounded) else good


def _furthest_on_grid(start: float, end: float, step: float, origin: float, holds: Callable[[float], bool]) -> float:
    """The value of a grid furthest from a start, where the rule holds, on the way to an end, where it does not."""
    first, last = (round((value - origin) / step) for value in (start, end))
    values = on_grid(np.arange(first, last, 1 if last > first else -1, dtype=np.float64), step, origin)
    near, far = 0, len(values)
    while far - near > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if holds(float(values[middle])) else (near, middle)
    return float(values[near]) if near else start
