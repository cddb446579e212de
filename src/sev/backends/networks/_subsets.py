"""All sets of one size, in chunks, each built from its prefix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sev.backends.networks._vertices import State, Vertices
from sev.typing import IntArray


def subsets(
    vertices: Vertices, rows: IntArray, n_active: int, size: int, limit: int, room: int = 0
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
    room : int
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
    for prefixes, state in subsets(vertices, rows, n_active, size - 1, limit, room + 1):
        first = prefixes[:, -1] + 1 if size > 1 else np.zeros(1, dtype=np.int64)
        ends = np.cumsum(n_active - room - first)
        begin = 0
        while begin < len(prefixes):
            before = ends[begin - 1] if begin else 0
            stop = max(begin + 1, int(np.searchsorted(ends, before + limit, side="right")))
            counts = np.diff(ends[begin:stop], prepend=before)
            parents = np.repeat(np.arange(begin, stop), counts)
            within = np.arange(len(parents)) - np.repeat(ends[begin:stop] - counts - before, counts)
            features = first[parents] + within
            children = np.concatenate([prefixes[parents], features[:, None]], axis=1)
            yield children, vertices.extend(rows, state, parents, features)
            begin = stop
