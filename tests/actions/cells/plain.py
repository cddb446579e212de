"""Permitted changes by the letter of the documentation, over every cell of a small table. Knows numpy and nothing else.

A feature has a short list of values; a row is one place in each list. All scores stand in one array with an axis for
each feature, so that "every combination of values of these features" is a block of it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

COMPARE = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


@dataclass(frozen=True)
class PlainFeature:
    """One feature: every value that it has anywhere, and what is permitted."""

    name: str
    values: tuple[Any, ...]
    #: Smallest and largest number of the background; None for categories.
    ends: tuple[float, float] | None
    #: Categories of the background.
    held: frozenset[Any]
    #: Standard deviation of the numbers of the background.
    scale: float
    step: float | None
    is_ordered: bool = False
    frozen: bool = False
    direction: int = 0
    #: ("percent" | "change" | "between", low, high)
    within: tuple[str, float, float] | None = None
    allowed: Any = None
    allow_missing: bool = False
    cost: float = 1.0

    @property
    def is_number(self) -> bool:
        return self.ends is not None

    def permits(self, old: Any, new: Any, band: tuple[Any, Any] | None = None, *, anywhere: bool = False) -> bool:
        """Whether the value may move from one to another.

        ``band`` replaces the range of the background: two numbers and the reference's value, or the reference's
        category alone. ``anywhere``: the range of the background does not matter.
        """
        if self.frozen or _same(old, new):
            return False
        if is_missing(new):
            only_reference = band is not None and (not self.is_number or self.allowed is not None)
            return self.allow_missing and (not only_reference or is_missing(band[-1]))
        if self.allowed is not None:
            listed = self.allowed
            if isinstance(listed, dict):
                listed = next((to for key, to in listed.items() if _same(key, old)), [])
            if not any(_same(one, new) for one in listed):
                return False
        if not self.is_number:
            if new not in self.held or (band is not None and new != band[0]):
                return False
            if self.direction:
                return not is_missing(old) and self.direction * (self.values.index(new) - self.values.index(old)) > 0
            return True
        if self.allowed is None and not anywhere:
            low, high = self.ends if band is None else band[:2]
            if not low - 1e-9 <= new <= high + 1e-9:
                return False
        elif self.allowed is not None and band is not None and new != band[2]:
            return False
        if self.direction and (is_missing(old) or self.direction * (new - old) < 0):
            return False
        if self.within is not None:
            kind, low, high = self.within
            if kind != "between":
                if is_missing(old):
                    return False
                share = abs(old) / 100 if kind == "percent" else 1.0
                low, high = old + low * share, old + high * share
            if not low - 1e-9 <= new <= high + 1e-9:
                return False
        if self.step is None or self.allowed is not None:
            return True
        return abs(new / self.step - round(new / self.step)) < 1e-9

    def price(self, old: Any, new: Any) -> float:
        """What the move costs."""
        if _same(old, new):
            return 0.0
        if not self.is_number or is_missing(old) or is_missing(new):
            return self.cost
        return self.cost * abs(new - old) / self.scale


def _same(one: Any, other: Any) -> bool:
    return (is_missing(one) and is_missing(other)) or one == other


@dataclass(frozen=True)
class Comparison:
    """A weighted sum of numbers compared with a constant; unknown where one is missing."""

    weights: dict[str, float]
    sign: str
    limit: float

    def __str__(self) -> str:
        return " + ".join(f"{weight} * {name}" for name, weight in self.weights.items()) + f" {self.sign} {self.limit}"

    def truth(self, cells: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        total = sum(weight * cells[name].astype(float) for name, weight in self.weights.items())
        known = ~np.isnan(total)
        holds = COMPARE[self.sign](total, self.limit)
        return known & holds, known & ~holds


@dataclass(frozen=True)
class OneOf:
    """A category that is one of some."""

    name: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} in {list(self.values)}"

    def truth(self, cells: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        known = np.vectorize(lambda one: not is_missing(one), otypes=[bool])(cells[self.name])
        found = np.vectorize(lambda one: one in self.values, otypes=[bool])(cells[self.name])
        return known & found, known & ~found


@dataclass(frozen=True)
class Implies:
    """If one then the other."""

    premise: Comparison | OneOf
    conclusion: Comparison | OneOf

    def __str__(self) -> str:
        return f"{self.premise} -> {self.conclusion}"

    def truth(self, cells: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        first, then = self.premise.truth(cells), self.conclusion.truth(cells)
        return first[1] | then[0], first[0] & then[1]


PlainRule = Comparison | OneOf | Implies


@dataclass
class Cells:
    """Every row that can be made of the values of some features, and what the model decides about each."""

    features: list[PlainFeature]
    scores: np.ndarray
    threshold: float
    rules: list[PlainRule]
    broken: list[np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        shape = self.scores.shape
        columns = {}
        for axis, one in enumerate(self.features):
            side = [1] * len(shape)
            side[axis] = -1
            columns[one.name] = np.array(one.values, dtype=float if one.is_number else object).reshape(side)
        self.broken = [np.broadcast_to(rule.truth(columns)[1], shape) for rule in self.rules]

    def row(self, query: tuple[int, ...], bands: list[Any] | None = None) -> PlainRow:
        """What can become of one row."""
        return PlainRow(self, query, bands)


class PlainRow:
    """One row: permitted values, their prices, and which combinations undo the decision."""

    def __init__(self, cells: Cells, query: tuple[int, ...], bands: list[Any] | None) -> None:
        self.features = cells.features
        self.query = query
        self.is_explained = bool(cells.scores[query] >= cells.threshold)
        self.good = cells.scores < cells.threshold
        for broken in cells.broken:
            if not broken[query]:
                self.good = self.good & ~broken
        self.permitted, self.prices = [], []
        for number, (one, place) in enumerate(zip(cells.features, query, strict=True)):
            old, band = one.values[place], None if bands is None else bands[number]
            self.permitted.append(np.array([one.permits(old, new, band) for new in one.values]))
            self.prices.append(np.array([one.price(old, new) for new in one.values]))

    def block(self, masks: dict[int, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Which combinations of these values of some features undo the decision, and what each costs."""
        places = [
            np.flatnonzero(masks[axis]) if axis in masks else np.array([self.query[axis]])
            for axis in range(len(self.query))
        ]
        costs = np.zeros([len(one) for one in places])
        for axis, mine in enumerate(places):
            side = [1] * len(places)
            side[axis] = -1
            costs = costs + self.prices[axis][mine].reshape(side)
        return self.good[np.ix_(*places)], costs

    def least(self, chosen: tuple[int, ...]) -> float | None:
        """The least cost at which these features, all of them changed, undo the decision; None if they cannot."""
        good, costs = self.block({axis: self.permitted[axis] for axis in chosen})
        return float(costs[good].min()) if good.any() else None

    def sets(self) -> Iterator[tuple[frozenset[int], float]]:
        """Every set of features that undoes the decision, the smallest first, with its least cost."""
        usable = [axis for axis, mask in enumerate(self.permitted) if mask.any()]
        for size in range(1, len(usable) + 1):
            for chosen in combinations(usable, size):
                least = self.least(chosen)
                if least is not None:
                    yield frozenset(chosen), least

    def smallest(self) -> dict[frozenset[int], float]:
        """All sets of the smallest size, with their least costs."""
        found = list(self.sets())
        size = min((len(names) for names, _ in found), default=0)
        return {names: cost for names, cost in found if len(names) == size}

    def least_cost(self) -> float | None:
        """The least cost of all."""
        return min((cost for _, cost in self.sets()), default=None)
