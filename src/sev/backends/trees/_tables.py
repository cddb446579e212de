"""Kernels for small sets: the margin of every set of one, two or three features from one table.

A cube adds its value when all its needed features are in the set and none of the others is. Written as a polynomial in
"feature i is in the set" and cut after degree d, the sum of all cubes is exact for every set of at most d features; and
for every set whatever its size when no cube has more than d features.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._compile import njit

#: Up to how many features a table of pairs, and one of triples, is worth its room.
WIDEST_PAIRS = 256
WIDEST_TRIPLES = 32


@njit()
def expand_pairs(cubes: Any, begin_tree: int, end_tree: int, single: Any, pair: Any) -> float:
    """Add the cubes of some trees to the tables of degree 1 and 2 (``pair[i, j]`` with i < j); give the constant.

    A table of pairs without entries is left alone.
    """
    tree, first, need, leaf, member = cubes
    paired = pair.shape[0] > 0
    constant = 0.0
    for i in range(tree[begin_tree], tree[end_tree]):
        begin = first[i]
        end = first[i + 1]
        value = leaf[i]
        if need[i] == 0:
            constant += value
            for a in range(begin, end):
                single[member[a]] -= value
        elif need[i] == 1:
            single[member[begin]] += value
            value = -value
        if need[i] > 2 or not paired:
            continue
        # Pairs to write: all of the cube (none needed), the needed one with each other, or the two needed ones.
        for a in range(begin, end if need[i] == 0 else begin + 1):
            one = member[a]
            for b in range(a + 1, end if need[i] < 2 else begin + 2):
                other = member[b]
                if one < other:
                    pair[one, other] += value
                else:
                    pair[other, one] += value
    return constant


@njit()
def expand_triples(cubes: Any, n_trees: int, triple: Any) -> int:
    """Add the cubes of all trees to the table of degree 3; give the number of features of the largest cube."""
    tree, first, need, leaf, member = cubes
    widest = 0
    for i in range(tree[n_trees]):
        begin = first[i]
        end = first[i + 1]
        required = need[i]
        if end - begin > widest:
            widest = end - begin
        if required > 3 or end - begin < 3:
            continue
        # All needed features are in the triple; the sign turns with each of the others.
        value = leaf[i] if required & 1 == 1 else -leaf[i]
        for a in range(begin, end if required == 0 else begin + 1):
            for b in range(a + 1, end if required <= 1 else begin + 2):
                low = member[a]
                mid = member[b]
                if low > mid:
                    low, mid = mid, low
                for c in range(b + 1, end if required <= 2 else begin + 3):
                    other = member[c]
                    if other > mid:
                        triple[low, mid, other] += value
                    elif other > low:
                        triple[low, other, mid] += value
                    else:
                        triple[other, low, mid] += value
    return widest


@njit()
def record(found: Any, picks: Any, size: int, value: float) -> None:
    """Keep a set that may cross; once the list is full only count on."""
    masks, values, feature_of, cursor = found
    at = cursor[0] + cursor[1]
    cursor[1] += 1
    if cursor[1] > cursor[2]:
        return
    for w in range(masks.shape[1]):
        masks[at, w] = 0
    for p in range(size):
        feature = feature_of[picks[p]]
        masks[at, feature >> 6] |= np.uint64(1) << np.uint64(feature & 63)
    values[at] = value


@njit()
def scan_singles(order: Any, begin: int, end: int, start: float, single: Any, limit: float, picks: Any, depth: int,
                 found: Any) -> None:  # fmt: skip
    """Record every feature from a list that brings the margin down to the limit, after ``depth`` picks."""
    for a in range(begin, end):
        value = start + single[order[a]]
        if value <= limit:
            picks[depth] = order[a]
            record(found, picks, depth + 1, value)


@njit()
def scan_pairs(order: Any, begin: int, end: int, start: float, single: Any, pair: Any, limit: float, picks: Any,
               depth: int, found: Any) -> None:  # fmt: skip
    """Record every pair from a list of features that brings the margin down to the limit, after ``depth`` picks."""
    for a in range(begin, end):
        i = order[a]
        here = start + single[i]
        for b in range(a + 1, end):
            j = order[b]
            value = here + single[j] + (pair[i, j] if i < j else pair[j, i])
            if value <= limit:
                picks[depth] = i
                picks[depth + 1] = j
                record(found, picks, depth + 2, value)


@njit()
def scan_triples(begin: int, n: int, start: float, single: Any, pair: Any, triple: Any, limit: float, picks: Any,
                 depth: int, found: Any) -> None:  # fmt: skip
    """Record every triple of the features from ``begin`` on that brings the margin down to the limit."""
    for i in range(begin, n - 2):
        for j in range(i + 1, n - 1):
            here = start + single[i] + single[j] + pair[i, j]
            hits = 0
            for k in range(j + 1, n):  # no branch inside, so that several entries are looked at in one step
                hits += here + (single[k] + pair[i, k] + pair[j, k] + triple[i, j, k]) <= limit
            if hits == 0:
                continue
            for k in range(j + 1, n):
                value = here + (single[k] + pair[i, k] + pair[j, k] + triple[i, j, k])
                if value <= limit:
                    picks[depth] = i
                    picks[depth + 1] = j
                    picks[depth + 2] = k
                    record(found, picks, depth + 3, value)
