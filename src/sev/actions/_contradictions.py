"""Rules that no values can keep together, and bounds that no rule permits."""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sev.actions._bounds import Between, Shifts
from sev.actions._rules import Comparison, Rule


class _Bound(NamedTuple):
    """A weighted sum of features and a constant that is at most zero, below zero, or zero."""

    weights: Mapping[str, float]
    constant: float
    is_strict: bool = False
    is_equality: bool = False

    @classmethod
    def of(cls, one: Comparison) -> _Bound:
        """The same as a rule has it."""
        sign = -1.0 if one.operator in (ast.Gt, ast.GtE) else 1.0
        return cls(
            {name: sign * weight for name, weight in one.weights.items() if name},
            sign * one.weights.get("", 0.0),
            is_strict=one.operator in (ast.Lt, ast.Gt),
            is_equality=one.operator is ast.Eq,
        )


class _Demand(NamedTuple):
    """What one line of the actions demands of numbers."""

    text: str
    bounds: tuple[_Bound, ...]

    @property
    def names(self) -> set[str]:
        return {name for one in self.bounds for name in one.weights}


def contradictions_of(
    rules: Sequence[Rule], within: Mapping[str, Between | Shifts], allow_missing: Collection[str]
) -> Iterator[str]:
    """Say which lines exclude each other: rules that compare numbers, and absolute bounds.

    Rules with categories, ``or``, ``not`` or an implication are left out, as are features that may become missing: a
    missing value breaks no rule.

    Parameters
    ----------
    rules : sequence of Rule
        The rules.
    within : mapping of str to Between or Shifts
        Limits of features.
    allow_missing : collection of str
        Features that may become missing.

    Yields
    ------
    str
        One for each pair, with both lines.
    """
    compared = [rule for rule in rules if rule.only_compares]
    demands = [_Demand(f"rules: {one.text!r}", tuple(map(_Bound.of, one.comparisons))) for one in compared]
    demands = [one for one in demands if not one.names & set(allow_missing)]
    impossible = [one for one in demands if not _can_hold(one.bounds)]
    for one in impossible:
        yield f"{one.text} holds for no values; correct it or leave it out"
    demands = [one for one in demands if one not in impossible]
    limits = [
        _Demand(f"within[{name!r}]={one}", tuple(_bounds_of(name, one)))
        for name, one in within.items()
        if isinstance(one, Between)
    ]
    pairs = [*combinations(demands, 2), *((rule, bound) for rule in demands for bound in limits)]
    for first, second in pairs:
        if first.names & second.names and not _can_hold((*first.bounds, *second.bounds)):
            yield f"{first.text} and {second.text} hold for no values together; correct one of them"


def _bounds_of(name: str, between: Between) -> Iterator[_Bound]:
    if math.isfinite(between.low):
        yield _Bound({name: -1.0}, between.low)
    if math.isfinite(between.high):
        yield _Bound({name: 1.0}, -between.high)


def _can_hold(bounds: Sequence[_Bound]) -> bool:
    """Whether some numbers satisfy all bounds: those that leave the strict ones the most slack."""
    if len(bounds) == 1 and any(bounds[0].weights.values()):
        return True
    from scipy.optimize import linprog

    names = sorted({name for one in bounds for name in one.weights})
    weights = np.array([[one.weights.get(name, 0.0) for name in names] for one in bounds])
    constants = np.array([one.constant for one in bounds])
    strict, equal = (np.array([getattr(one, key) for one in bounds]) for key in ("is_strict", "is_equality"))
    table = np.column_stack([weights, strict.astype(np.float64)])
    objective = np.zeros(len(names) + 1)
    objective[-1] = -1.0  # the most slack
    found = linprog(
        objective,
        A_ub=table[~equal] if (~equal).any() else None,
        b_ub=-constants[~equal] if (~equal).any() else None,
        A_eq=table[equal] if equal.any() else None,
        b_eq=-constants[equal] if equal.any() else None,
        bounds=[(None, None)] * len(names) + [(0.0, 1.0)],
    )
    if found.status == 2:
        return False
    # where it is not known, nothing is refused
    return found.status != 0 or not strict.any() or bool(found.x[-1] > 0.0)
