"""Rules that no values can keep together, and bounds that no rule permits."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sev.actions._bounds import Between, Shifts
from sev.actions._rules import Comparison, Rule


class _Demand(NamedTuple):
    """What one line of the actions demands of numbers."""

    text: str
    comparisons: tuple[Comparison, ...]

    @property
    def names(self) -> set[str]:
        return {name for one in self.comparisons for name in one.weights}


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
    demands = [_Demand(f"rules: {rule.text!r}", rule.comparisons) for rule in rules if rule.comparisons]
    demands = [one for one in demands if not one.names & set(allow_missing)]
    impossible = [one for one in demands if not _can_hold(one.comparisons)]
    for one in impossible:
        yield f"{one.text} holds for no values"
    demands = [one for one in demands if one not in impossible]
    bounds = [
        _Demand(f"within[{name!r}]={one}", tuple(_comparisons_of(name, one)))
        for name, one in within.items()
        if isinstance(one, Between)
    ]
    pairs = [*combinations(demands, 2), *((rule, bound) for rule in demands for bound in bounds)]
    for first, second in pairs:
        if first.names & second.names and not _can_hold((*first.comparisons, *second.comparisons)):
            yield f"{first.text} and {second.text} hold for no values together; correct one of them"


def _comparisons_of(name: str, bounds: Between) -> Iterator[Comparison]:
    if math.isfinite(bounds.low):
        yield Comparison({name: -1.0}, bounds.low, is_strict=False, is_equality=False)
    if math.isfinite(bounds.high):
        yield Comparison({name: 1.0}, -bounds.high, is_strict=False, is_equality=False)


def _can_hold(comparisons: Sequence[Comparison]) -> bool:
    """Whether some numbers satisfy all comparisons: those in which strict ones have the most room."""
    if len(comparisons) == 1 and any(comparisons[0].weights.values()):
        return True
    from scipy.optimize import linprog

    names = sorted({name for one in comparisons for name in one.weights})
    weights = np.array([[one.weights.get(name, 0.0) for name in names] for one in comparisons])
    constants = np.array([one.constant for one in comparisons])
    strict, equal = (np.array([getattr(one, key) for one in comparisons]) for key in ("is_strict", "is_equality"))
    table = np.column_stack([weights, strict.astype(np.float64)])
    room = np.zeros(len(names) + 1)
    room[-1] = -1.0
    found = linprog(
        room,
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
