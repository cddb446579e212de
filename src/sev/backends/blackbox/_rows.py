"""Where the search for one row stands: its budget, and the best sets seen so far."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sev.typing import BoolArray, FloatArray, IntArray


class BestSets:
    """The sets furthest across, no more than are wanted, and the number of all that were seen.

    Sets come in the order of the features. A stable sort keeps that order among equal scores, so that what is kept
    does not depend on how the sets were cut into calls of the model.

    Parameters
    ----------
    most : int
        How many sets to keep.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.sets: BoolArray | None = None
        self._across: FloatArray = np.zeros(0)
        self.n_seen = 0

    def add(self, sets: BoolArray, across: FloatArray) -> None:
        """Add sets that cross; ``across`` grows with how far they are beyond the decision."""
        self.n_seen += len(sets)
        if self.sets is not None:
            sets, across = np.concatenate([self.sets, sets]), np.concatenate([self._across, across])
        best = np.argsort(-across, kind="stable")[: self._most]
        self.sets, self._across = sets[best], across[best]


@dataclass(eq=False)
class RowSearch:
    """The search for one row.

    Parameters
    ----------
    number : int
        The row in the problem.
    features : ndarray of int
        Its active features.
    left : int
        Vertices that may still be scored for it.
    found : BestSets
        The sets of the current level that cross.
    """

    number: int
    features: IntArray
    left: int
    found: BestSets
    descended: bool = False
    chosen: list[int] = field(default_factory=list)  # what the descent has changed so far
    reached: float = -np.inf  # how far the best single feature takes the score
    best: tuple[int, ...] | None = None  # smallest set of the greedy descent
    done: bool = False
    cut: bool = False  # a limit ended the level in its middle

    def take_budget(self, sets: BoolArray) -> BoolArray:
        """The sets that the budget still allows, the first ones; the row is cut where some are left out."""
        allowed = sets[: self.left]
        self.cut = self.cut or len(allowed) < len(sets)
        self.left -= len(allowed)
        return allowed
