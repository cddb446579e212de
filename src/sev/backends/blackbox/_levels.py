"""Subsets of one size, in bounded chunks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, islice
from math import comb

import numpy as np

from sev.typing import IntArray

_CACHED = 20_000


def subsets(n: int, size: int, chunk: int) -> Iterator[IntArray]:
    """All subsets of ``range(n)`` of a size, in lexicographic order, at most ``chunk`` at a time; (n_subsets, size)."""
    if comb(n, size) <= _CACHED:
        everything = _all_subsets(n, size)
        for first in range(0, len(everything), chunk):
            yield everything[first : first + chunk]
        return
    source = combinations(range(n), size)
    while True:
        some = np.fromiter((place for subset in islice(source, chunk) for place in subset), dtype=np.int64)
        if not some.size:
            return
        yield some.reshape(-1, size)


@lru_cache(maxsize=64)
def _all_subsets(n: int, size: int) -> IntArray:
    flat = np.fromiter((place for subset in combinations(range(n), size) for place in subset), dtype=np.int64)
    array = flat.reshape(-1, size)
    array.setflags(write=False)
    return array
