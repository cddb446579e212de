"""Some set that crosses, without a proof: the best few single changes again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sev.typing import BoolArray, FloatArray

#: Rows that are kept of those that one more change leads to.
_WIDTH = 4


@dataclass(frozen=True, eq=False)
class Candidates:
    """Values of one feature of one row, the least costly first."""

    targets: FloatArray
    costs: FloatArray
    complete: bool


class Found(NamedTuple):
    """A set that crosses, with its values and what they cost."""

    chosen: BoolArray
    targets: FloatArray
    cost: float


#: Takes chosen features and their values; returns how far each row is from crossing, and which cross.
Evaluate = Callable[[BoolArray, FloatArray], tuple[FloatArray, BoolArray]]


def find_some(
    evaluate: Evaluate, candidates: Sequence[Candidates], features: Sequence[int], most: int, budget: int
) -> Found | None:
    """A set that crosses, found by a beam search over candidate values; None where it finds none within a budget.

    Parameters
    ----------
    evaluate : callable
        The model.
    candidates : sequence of Candidates
        The values of each feature.
    features : sequence of int
        Those that may move.
    most : int
        The largest set.
    budget : int
        Rows that may be scored.
    """
    n = len(candidates)
    beam = [Found(np.zeros(n, dtype=np.bool_), np.zeros(n), 0.0)]
    for _ in range(min(most, len(features))):
        further = [more for one in beam for more in _extend_sets(one, candidates, features)][:budget]
        if not further:
            return None
        budget -= len(further)
        distance, crosses = evaluate(
            np.array([one.chosen for one in further]), np.array([one.targets for one in further])
        )
        if crosses.any():
            return min((further[place] for place in np.flatnonzero(crosses).tolist()), key=lambda one: one.cost)
        order = np.argsort(np.where(np.isnan(distance), np.inf, distance), kind="stable")
        beam = [further[place] for place in order[:_WIDTH].tolist()]
    return None


def _extend_sets(one: Found, candidates: Sequence[Candidates], features: Sequence[int]) -> list[Found]:
    """A set with one more feature, at each of its values."""
    further = []
    for number in features:
        if one.chosen[number]:
            continue
        chosen = one.chosen.copy()
        chosen[number] = True
        for target, cost in zip(candidates[number].targets, candidates[number].costs, strict=True):
            targets = one.targets.copy()
            targets[number] = target
            further.append(Found(chosen, targets, one.cost + float(cost)))
    return further
