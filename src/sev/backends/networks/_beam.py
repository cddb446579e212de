"""Descent that finds a small set early, without proof: what is reported when the budget ends before the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sev.typing import BoolArray, IntArray

if TYPE_CHECKING:
    from sev.backends.networks._search import Search

#: One path first, for an answer at once; then wider, each time only for smaller sets than are known.
_WIDTHS = (1, 16, 128)
_ROW = np.zeros(1, dtype=np.int64)


def beam(search: Search, deepest: int) -> BoolArray | None:
    """Smallest sets that widening beams meet, for the only row of a search.

    Returns
    -------
    ndarray of bool, shape (n_sets, n_active), or None
        Sets of one size, larger than 1, that cross; None when none was met within the budget.
    """
    found: IntArray | None = None
    for wanted in _WIDTHS:
        width = max(1, min(wanted, 4 * search.chunk // search.n_active))  # memory stays that of a few chunks
        smaller = deepest if found is None else found.shape[1] - 1
        better = _descend(search, width, smaller)
        if better is not None:
            found = _thin_out(search, better)
        if search.budget.vertices == 0 or (found is not None and found.shape[1] == 2):
            break
    if found is None:
        return None
    chosen = np.zeros((len(found), search.n_active), dtype=np.bool_)
    np.put_along_axis(chosen, found, True, axis=1)
    return np.unique(chosen, axis=0)


def _descend(search: Search, width: int, deepest: int) -> IntArray | None:
    """Change one more feature at a time, keeping the ``width`` sets that are furthest on their way."""
    frontier = np.zeros((1, 0), dtype=np.int64)
    state = search.vertices.root(_ROW)
    for size in range(1, deepest + 1):
        parents, features = _children(frontier, search.n_active)
        granted = search.budget.take(len(parents))
        if granted < len(parents):
            return None
        sets = np.sort(np.concatenate([frontier[parents], features[:, None]], axis=1), axis=1)
        children = search.vertices.extend(_ROW, state, parents, features)
        across, reached, _ = search.decide(_ROW, sets, children.copy())
        if across.any() and size > 1:
            return sets[across[0]][:width]
        best = np.argsort(-reached[0], kind="stable")[:width]
        frontier, state = sets[best], children[:, best]
    return None


def _children(frontier: IntArray, n_active: int) -> tuple[IntArray, IntArray]:
    """Each set with each feature that it lacks, without making one set twice."""
    free = np.ones((len(frontier), n_active), dtype=np.bool_)
    np.put_along_axis(free, frontier, False, axis=1)
    parents, features = np.nonzero(free)
    sets = np.sort(np.concatenate([frontier[parents], features[:, None]], axis=1), axis=1)
    _, first = np.unique(sets, axis=0, return_index=True)
    first.sort()
    return parents[first], features[first]


def _thin_out(search: Search, sets: IntArray) -> IntArray:
    """Leave out features one at a time as long as some set still crosses."""
    while sets.shape[1] > 2:
        size = sets.shape[1]
        smaller = np.unique(np.concatenate([np.delete(sets, column, axis=1) for column in range(size)]), axis=0)
        if search.budget.take(len(smaller)) < len(smaller):
            return sets
        state = search.vertices.root(_ROW)
        parents = np.zeros(len(smaller), dtype=np.int64)
        for column in range(size - 1):
            state = search.vertices.extend(_ROW, state, parents, smaller[:, column])
            parents = np.arange(len(smaller))
        across, _, _ = search.decide(_ROW, smaller, state)
        if not across.any():
            return sets
        sets = smaller[across[0]]
    return sets
