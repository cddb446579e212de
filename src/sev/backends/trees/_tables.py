"""Kernels for small sets: the margin of every set of one, two or three features from one table.

A cube adds its value when all its needed features are in the set and none of the others is. Written as a polynomial in
"feature i is in the set" and cut after degree d, the sum of all cubes is exact for every set of at most d features; and
for every set whatever its size when no cube has more than d features.

Tables hold each pair and each triple once, the highest number first: the pair i < j is at ``j(j-1)/2 + i``, the triple
i < j < k at ``k(k-1)(k-2)/6 + j(j-1)/2 + i``. So the features below k have the front of each table to themselves, and
all pairs that go with k are one stretch of the table of triples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev.backends.trees._room import floats, ints
from sev.kernels.source import njit

#: Up to how many features a table of pairs is worth its room; one of triples; one of triples that says everything.
WIDEST_PAIRS = 256
WIDEST_TRIPLES = 32
WIDEST_CUBIC = 64
#: More than the relative error of one addition.
EPSILON = 2.3e-16


@njit()
def pair_at(one: int, other: int) -> int:
    """Where the table of pairs has two features, whichever is the higher."""
    if one > other:
        return (one * (one - 1) >> 1) + other
    return (other * (other - 1) >> 1) + one


@njit()
def expand_pairs(cubes: Any, begin_tree: int, end_tree: int, single: Any, pair: Any) -> float:
    """Add the cubes of some trees to the tables of degree 1 and 2; give the constant.

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
                pair[pair_at(one, member[b])] += value
    return constant


@njit()
def triple_at(low: int, mid: int, high: int) -> int:
    """Where the table of triples has three features."""
    return high * (high - 1) * (high - 2) // 6 + (mid * (mid - 1) >> 1) + low


@njit()
def add_triple(one: int, two: int, three: int, value: float, triple: Any, met: Any) -> None:
    """Add to an entry of the table of degree 3, and note it.

    There are few, so they are listed: ``met`` has their number, then each, with its three features in eight bits each.
    """
    low, mid, high = one, two, three
    if low > mid:
        low, mid = mid, low
    if mid > high:
        mid, high = high, mid
    if low > mid:
        low, mid = mid, low
    at = triple_at(low, mid, high)
    if triple[at] == 0.0 and met[0] + 1 < met.shape[0]:
        met[0] += 1
        met[met[0]] = low | mid << 8 | high << 16
    triple[at] += value


@njit()
def clear_triples(n: int, triple: Any, met: Any) -> None:
    """Empty the table of degree 3 again, for n features."""
    if met[0] + 1 == met.shape[0]:  # the list was full
        for e in range(np.uint64(n * (n - 1) * (n - 2) // 6)):
            triple[e] = 0.0
    for at in range(1, met[0] + 1):
        low, mid, high = met[at] & 0xFF, (met[at] >> 8) & 0xFF, met[at] >> 16
        triple[triple_at(low, mid, high)] = 0.0
    met[0] = 0


@njit()
def expand_triples(cubes: Any, n_trees: int, place: Any, triple: Any, met: Any) -> int:
    """Add the cubes of all trees to the table of degree 3; give the number of features of the largest cube.

    ``place`` has the number of each feature in the table.
    """
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
            one = place[member[a]]
            for b in range(a + 1, end if required <= 1 else begin + 2):
                two = place[member[b]]
                for c in range(b + 1, end if required <= 2 else begin + 3):
                    add_triple(one, two, place[member[c]], value, triple, met)
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
def count_low(n: Any, here: float, single: Any, pair: Any, front: Any, limit: float) -> int:
    """How many features below n bring the margin down to the limit together with one whose pairs begin at ``front``.

    No branch inside, and numbers without a sign as indices (others might count from the end), so that several entries
    are looked at in one step.
    """
    hits = 0
    for i in range(np.uint64(n)):
        hits += here + (single[i] + pair[np.uint64(front) + i]) <= limit
    return hits


@njit()
def scan_small(k: int, most: int, n: int, usable: Any, start: float, single: Any, pair: Any, limit: float, picks: Any,
               found: Any) -> int:  # fmt: skip
    """Record all sets of the first size from ``k`` on, up to two, that bring the margin down to the limit.

    Gives the size that remains to be looked at, which is one more than that of the sets if there are any.
    """
    if k == 1:
        for i in range(n):
            value = start + single[i]
            if value <= limit and usable[i]:
                picks[0] = i
                record(found, picks, 1, value)
        k = 2
    if found.cursor[1] > 0 or k > 2 or most < 2:
        return k
    for j in range(1, n):
        here = start + single[j]
        front = j * (j - 1) >> 1
        if not usable[j] or count_low(j, here, single, pair, front, limit) == 0:
            continue
        for i in range(j):
            value = here + (single[i] + pair[front + i])
            if value <= limit and usable[i]:
                picks[0] = i
                picks[1] = j
                record(found, picks, 2, value)
    return 3


@njit()
def fold(pick: int, single: Any, pair: Any, triple: Any, to_single: Any, to_pair: Any) -> None:
    """The tables of the features below a pick once it is in the set."""
    front = np.uint64(pick * (pick - 1) >> 1)
    block = np.uint64(pick * (pick - 1) * (pick - 2) // 6)
    for i in range(np.uint64(pick)):
        to_single[i] = single[i] + pair[front + i]
    for e in range(front):
        to_pair[e] = pair[e] + triple[block + e]


@njit()
def scan_triples(n: int, viable: Any, start: float, single: Any, pair: Any, triple: Any, limit: float, picks: Any,
                 depth: int, room: Any, found: Any) -> None:  # fmt: skip
    """Record every triple of the first n features that brings the margin down to the limit, after ``depth`` picks.

    Only features that are ``viable`` can be the highest of such a triple.
    """
    to_single, to_pair = room[0], room[1]
    for k in range(2, n):
        if not viable[k]:
            continue
        fold(k, single, pair, triple, to_single, to_pair)
        for j in range(1, k):
            front = j * (j - 1) >> 1
            here = start + single[k] + to_single[j]
            if count_low(j, here, to_single, to_pair, front, limit) == 0:
                continue
            for i in range(j):
                value = here + (to_single[i] + to_pair[front + i])
                if value <= limit:
                    picks[depth] = i
                    picks[depth + 1] = j
                    picks[depth + 2] = k
                    record(found, picks, depth + 3, value)


@njit()
def arrange(n: int, usable: Any, single: Any, pair: Any, names: Any, place: Any, to_single: Any, to_pair: Any) -> int:
    """Number the usable features anew, those that lower the margin most last, and copy their tables.

    ``names`` (the features behind the numbers) is renewed, ``place`` has the new number of each old one, -1 for those
    that are left out. Gives how many there are, or -1 when they are too many for a table of triples.
    """
    most = to_single.shape[0]
    order, old_names, reach = ints(most), ints(most), floats(most)
    m = 0
    for i in range(n):
        place[i] = -1
        if not usable[i]:
            continue
        if m == most:
            return -1
        effect = single[i]
        for j in range(n):
            if j != i:
                entry = pair[pair_at(i, j)]
                if entry < 0.0:
                    effect += 0.5 * entry
        at = m
        while at > 0 and reach[at - 1] < effect:
            reach[at] = reach[at - 1]
            order[at] = order[at - 1]
            at -= 1
        reach[at] = effect
        order[at] = i
        m += 1
    for b in range(m):
        old = order[b]
        place[old] = b
        old_names[b] = names[old]
        to_single[b] = single[old]
        for a in range(b):
            to_pair[pair_at(b, a)] = pair[pair_at(old, order[a])]
    for b in range(m):
        names[b] = old_names[b]
    return m
