"""All sets of one size, in chunks, each built from its prefix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, combinations
from math import comb
from typing import TypeAlias

import numpy as np

from sev.backends.networks._vertices import State, Vertices
from sev.typing import IntArray

#: Sets that are kept as numbers for the next row, when a whole level is no larger.
_REMEMBERED = 20_000

#: Sets, and the place of each one's prefix.
_Piece: TypeAlias = tuple[IntArray, IntArray]


def subsets(
    vertices: Vertices, rows: IntArray, n_active: int, size: int, limit: int, n_left: int = 0
) -> Iterator[tuple[IntArray, State]]:
    """Yield every set of ``size`` active features in lexicographic order, with its state for each of ``rows``.

    One chunk of each smaller size is alive at a time, so memory does not grow with the number of sets.

    Parameters
    ----------
    vertices : Vertices
        Builds the states.
    rows : ndarray of int
        Rows to build them for, together.
    n_active : int
        Number of features to choose from.
    size : int
        Number of features to choose.
    limit : int
        About how many sets to yield at once.
    n_left : int
        How many features will still be added after these: so many are left free at the end.

    Yields
    ------
    sets : ndarray of int, shape (n_sets, size)
        Numbers of the chosen features, ascending.
    state : ndarray
        See :mod:`sev.backends.networks._vertices`.
    """
    if size == 0:
        yield np.zeros((1, 0), dtype=np.int64), vertices.root(rows)
        return
    for prefixes, state in subsets(vertices, rows, n_active, size - 1, limit, n_left + 1):
        for children, parents in _extend_prefixes(prefixes, n_active, n_left, limit):
            yield children, vertices.extend(rows, state, parents, children[:, -1])


def _extend_prefixes(prefixes: IntArray, n_active: int, n_left: int, limit: int) -> Iterable[_Piece]:
    """Each prefix with each feature that may follow it, a piece at a time."""
    size = prefixes.shape[1] + 1
    if len(prefixes) == comb(n_active - n_left - 1, size - 1) and comb(n_active - n_left, size) <= _REMEMBERED:
        return _all_children(n_active, size, n_left, limit)
    return _expand_prefixes(prefixes, n_active, n_left, limit)


@lru_cache(maxsize=64)
def _all_children(n_active: int, size: int, n_left: int, limit: int) -> tuple[_Piece, ...]:
    """The same for all prefixes at once: each row needs these."""
    flat = chain.from_iterable(combinations(range(n_active - n_left - 1), size - 1))
    prefixes = np.fromiter(flat, dtype=np.int64).reshape(comb(n_active - n_left - 1, size - 1), size - 1)
    pieces = tuple(_expand_prefixes(prefixes, n_active, n_left, limit))
    for piece in pieces:
        for array in piece:
            array.setflags(write=False)
    return pieces


def _expand_prefixes(prefixes: IntArray, n_active: int, n_left: int, limit: int) -> Iterator[_Piece]:
    first = prefixes[:, -1] + 1 if prefixes.shape[1] else np.zeros(1, dtype=np.int64)
    ends = np.cumsum(n_active - n_left - first)
    begin = 0
    while begin < len(prefixes):
        before = ends[begin - 1] if begin else 0
        stop = max(begin + 1, int(np.searchsorted(ends, before + limit, side="right")))
        counts = np.diff(ends[begin:stop], prepend=before)
        parents = np.repeat(np.arange(begin, stop), counts)
        within = np.arange(len(parents)) - np.repeat(ends[begin:stop] - counts - before, counts)
        features = first[parents] + within
        yield np.concatenate([prefixes[parents], features[:, None]], axis=1), parents
        begin = stop
