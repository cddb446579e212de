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
def expand_singles(cubes: Any, first_tree: int, end_tree: int, single: Any) -> float:
    """Add the cubes of some trees to the table of degree 1; give the constant."""
    constant = 0.0
    for i in range(cubes.tree[first_tree], cubes.tree[end_tree]):
        if cubes.need[i] == 0:
            constant += cubes.values[i]
            for a in range(cubes.first[i], cubes.first[i + 1]):
                single[cubes.groups[a]] -= cubes.values[i]
        elif cubes.need[i] == 1:
            single[cubes.groups[cubes.first[i]]] += cubes.values[i]
    return constant


@njit()
def clear_pairs(order: Any, begin: int, end: int, pair: Any) -> None:
    """Set the entries of all pairs from a list of features to zero."""
    for a in range(begin, end):
        for b in range(a + 1, end):
            pair[min(order[a], order[b]), max(order[a], order[b])] = 0.0


@njit()
def expand_pairs(cubes: Any, first_tree: int, end_tree: int, single: Any, pair: Any) -> float:
    """Add the cubes of some trees to the tables of degree 1 and 2 (``pair[i, j]`` with i < j); give the constant."""
    constant = 0.0
    for i in range(cubes.tree[first_tree], cubes.tree[end_tree]):
        begin, end, need, value = cubes.first[i], cubes.first[i + 1], cubes.need[i], cubes.values[i]
        if need == 0:
            constant += value
            for a in range(begin, end):
                one = cubes.groups[a]
                single[one] -= value
                for b in range(a + 1, end):
                    other = cubes.groups[b]
                    pair[min(one, other), max(one, other)] += value
        elif need == 1:
            one = cubes.groups[begin]
            single[one] += value
            for b in range(begin + 1, end):
                other = cubes.groups[b]
                pair[min(one, other), max(one, other)] -= value
        elif need == 2:
            one, other = cubes.groups[begin], cubes.groups[begin + 1]
            pair[min(one, other), max(one, other)] += value
    return constant


@njit()
def add_triple(triple: Any, i: int, j: int, k: int, value: float) -> None:
    """Add to the entry of three features, whatever their order."""
    low = min(i, min(j, k))
    high = max(i, max(j, k))
    triple[low, i + j + k - low - high, high] += value


@njit()
def expand_triples(cubes: Any, n_trees: int, triple: Any) -> int:
    """Add the cubes of all trees to the table of degree 3; give the number of features of the largest cube."""
    widest = 0
    for i in range(cubes.tree[n_trees]):
        begin, end, need, value = cubes.first[i], cubes.first[i + 1], cubes.need[i], cubes.values[i]
        widest = max(widest, end - begin)
        if need > 3 or end - begin < 3:
            continue
        groups = cubes.groups
        if need == 0:
            for a in range(begin, end):
                for b in range(a + 1, end):
                    for c in range(b + 1, end):
                        add_triple(triple, groups[a], groups[b], groups[c], -value)
        elif need == 1:
            for b in range(begin + 1, end):
                for c in range(b + 1, end):
                    add_triple(triple, groups[begin], groups[b], groups[c], value)
        elif need == 2:
            for c in range(begin + 2, end):
                add_triple(triple, groups[begin], groups[begin + 1], groups[c], -value)
        else:
            add_triple(triple, groups[begin], groups[begin + 1], groups[begin + 2], value)
    return widest


@njit()
def record(found: Any, picks: Any, size: int, value: float) -> None:
    """Keep a set that may cross; once the list is full only count on."""
    count = found.cursor[1]
    found.cursor[1] = count + 1
    if count >= found.cursor[2]:
        return
    at = found.cursor[0] + count
    for w in range(found.masks.shape[1]):
        found.masks[at, w] = 0
    for p in range(size):
        feature = found.feature[picks[p]]
        found.masks[at, feature >> 6] |= np.uint64(1) << np.uint64(feature & 63)
    found.values[at] = value


@njit()
def scan_singles(
    order: Any, begin: int, end: int, start: float, single: Any, limit: float, picks: Any, depth: int, found: Any
) -> None:
    """Record every feature from a list that brings the margin down to the limit, after ``depth`` picks."""
    for a in range(begin, end):
        value = start + single[order[a]]
        if value <= limit:
            picks[depth] = order[a]
            record(found, picks, depth + 1, value)


@njit()
def scan_pairs(
    order: Any, begin: int, end: int, start: float, single: Any, pair: Any, limit: float, picks: Any, depth: int, found: Any
) -> None:
    """Record every pair from a list of features that brings the margin down to the limit, after ``depth`` picks."""
    for a in range(begin, end):
        i = order[a]
        here = start + single[i]
        for b in range(a + 1, end):
            j = order[b]
            value = here + single[j] + pair[min(i, j), max(i, j)]
            if value <= limit:
                picks[depth] = i
                picks[depth + 1] = j
                record(found, picks, depth + 2, value)


@njit()
def scan_triples(
    begin: int, n: int, start: float, single: Any, pair: Any, triple: Any, limit: float, picks: Any, depth: int, found: Any
) -> None:
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
