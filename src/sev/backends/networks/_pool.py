"""Sets that cross, as they are found: the best of them, and how many there were."""

from __future__ import annotations

import numpy as np

from sev.typing import BoolArray, FloatArray, IntArray


class Pool:
    """Collects sets of one size of one row without keeping more than a few times ``max_sets``.

    Parameters
    ----------
    max_sets : int
        How many will be listed in the end.
    """

    def __init__(self, max_sets: int) -> None:
        self._max_sets = max_sets
        self._sets: list[IntArray] = []
        self._reached: list[FloatArray] = []
        self._kept = 0
        self._slack = 0.0
        self.total = 0

    def add(self, sets: IntArray, reached: FloatArray, slack: float) -> None:
        """Add sets (n, size) with how far across each is, known to within ``slack``."""
        self._sets.append(sets)
        self._reached.append(reached)
        self._kept += len(sets)
        self._slack = max(self._slack, slack)
        self.total += len(sets)
        if self._kept > 4 * self._max_sets + 4096:
            kept = self._select_best(self._max_sets)
            self._sets, self._reached, self._kept = [kept[0]], [kept[1]], len(kept[0])

    def candidates(self) -> IntArray:
        """Sets that may be among the best ``max_sets``, in the order in which they came."""
        return self._select_best(self._max_sets)[0]

    def _select_best(self, n: int) -> tuple[IntArray, FloatArray]:
        sets, reached = np.concatenate(self._sets), np.concatenate(self._reached)
        if len(sets) <= n:
            return sets, reached
        last = np.partition(reached, len(reached) - n)[len(reached) - n]
        near = np.flatnonzero(reached >= last - 2 * self._slack)
        if len(near) > 4 * n + 2048:  # a crowd of ties: those that came first
            sure = reached[near] > last + 2 * self._slack
            near = np.sort(np.concatenate([near[sure], near[~sure][: 2 * n]]))
        return sets[near], reached[near]


def furthest_first(sets: BoolArray, reached: FloatArray, max_sets: int) -> BoolArray:
    """Order sets by how far across they are, then by their features, and cut.

    Differences in the last bits are no differences: they change with the size of a batch.
    """
    keys = [~sets[:, feature] for feature in reversed(range(sets.shape[1]))]
    order = np.lexsort([*keys, -np.round(reached, 9)])
    return sets[order[:max_sets]]
