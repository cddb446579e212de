"""Descent that finds a small set early, without proof: what is reported when the budget ends before the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sev.typing import BoolArray, IntArray

if TYPE_CHECKING:
    from sev.backends.networks._search import Search

#: One path first, for an answer at once; then wider, each time only for smaller sets than are known.
_WIDTHS = (1, 16, 128)


def beam(search: Search, row: IntArray, deepest: int) -> BoolArray | None:
    """Smallest sets that widening beams meet.

    Parameters
    ----------
    search : Search
        Knows the vertices and the budget.
    row : ndarray of int, shape (1,)
        The row.
    deepest : int
        Largest size to look at.

    Returns
    -------
    ndarray of bool, shape (n_sets, n_active), or None
        Sets of one size that cross; None when none was met within the budget.
    """
    return _Beam(search, row).run(deepest)


class _Beam:
    """Beams for one row, and what they have spent."""

    def __init__(self, search: Search, row: IntArray) -> None:
        self._search = search
        self._row = row
        self._spent = 0

    def run(self, deepest: int) -> BoolArray | None:
        search = self._search
        found: IntArray | None = None
        for wanted in _WIDTHS:
            width = max(1, min(wanted, 4 * search.chunk // search.n_active))  # memory stays that of a few chunks
            better = self._grow_sets(width, deepest if found is None else found.shape[1] - 1)
            if better is not None:
                found = self._thin_out(better)
        if found is None:
            return None
        chosen = np.zeros((len(found), search.n_active), dtype=np.bool_)
        np.put_along_axis(chosen, found, True, axis=1)
        return np.unique(chosen, axis=0)

    def _may_spend(self, n_vertices: int) -> bool:
        if not self._search.budget.allows_beam(n_vertices, self._spent):
            return False
        self._spent += n_vertices
        return True

    def _grow_sets(self, width: int, deepest: int) -> IntArray | None:
        """Change one more feature at a time, keeping the ``width`` sets that are furthest on their way."""
        vertices = self._search.vertices
        frontier = np.zeros((1, 0), dtype=np.int64)
        state = vertices.root(self._row)
        for _ in range(deepest):
            parents, features = _extend_sets(frontier, self._search.n_active)
            if not self._may_spend(len(parents)):
                return None
            sets = np.sort(np.concatenate([frontier[parents], features[:, None]], axis=1), axis=1)
            children = vertices.extend(self._row, state, parents, features)
            across, reached, _ = self._search.decide(self._row, sets, children.copy())
            if across.any():
                return sets[across[0]][:width]
            best = np.argsort(-reached[0], kind="stable")[:width]
            frontier, state = sets[best], children[:, best]
        return None

    def _thin_out(self, sets: IntArray) -> IntArray:
        """Leave out features one at a time as long as some set still crosses."""
        vertices = self._search.vertices
        while sets.shape[1] > 1:
            size = sets.shape[1]
            smaller = np.unique(np.concatenate([np.delete(sets, column, axis=1) for column in range(size)]), axis=0)
            if not self._may_spend(len(smaller)):
                return sets
            state = vertices.root(self._row)
            parents = np.zeros(len(smaller), dtype=np.int64)
            for column in range(size - 1):
                state = vertices.extend(self._row, state, parents, smaller[:, column])
                parents = np.arange(len(smaller))
            across, _, _ = self._search.decide(self._row, smaller, state)
            if not across.any():
                return sets
            sets = smaller[across[0]]
        return sets


def _extend_sets(frontier: IntArray, n_active: int) -> tuple[IntArray, IntArray]:
    """Each set with each feature that it lacks, without making one set twice."""
    free = np.ones((len(frontier), n_active), dtype=np.bool_)
    np.put_along_axis(free, frontier, False, axis=1)
    parents, features = np.nonzero(free)
    sets = np.sort(np.concatenate([frontier[parents], features[:, None]], axis=1), axis=1)
    _, first = np.unique(sets, axis=0, return_index=True)
    first.sort()
    return parents[first], features[first]
