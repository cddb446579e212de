"""Kernels for all sets of one size when each tree knows few features: a table of terms for every degree.

Collapsed, a tree of a few features is a polynomial in "feature i is in the set", and sets of k features see only its
terms of up to k features. The terms of one degree lie in one table, in the order in which sets are counted when the
highest number matters most. Sets with the highest number p are then one stretch of it, as long as the front that
belongs to the features below p: a pick adds a stretch of each table to the table of one degree less, and what is left
to pick from is the front of every table. All sets of k features cost a few additions each, however many the trees are.

Rounding is not watched in the tables: what they say may cross, up to the slack, is added up once more cube by cube.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev.backends.trees._room import flags, floats, ints, unset
from sev.backends.trees._tables import EPSILON, count_low, record
from sev.kernels.source import njit

#: Features of one tree up to which its polynomial is written down.
WIDEST_TREE = 12
#: Features of a row up to which sets fit into one word.
_MOST_FEATURES = 60
#: Entries of the tables up to which they are made.
_MOST_ENTRIES = 1_000_000
#: In place of the work that tables would take, where they cannot be made.
NEVER = 1 << 60


@njit()
def count_sets(n: int, size: int) -> int:
    """How many sets of a size n features have."""
    count = 1
    for i in range(size):
        count = count * (n - i) // (i + 1)
    return count


@njit()
def count_bits(word: int) -> int:
    """How many bits are set."""
    count = 0
    while word != 0:
        word &= word - 1
        count += 1
    return count


@njit()
def features_of_trees(n: int, n_trees: int, cubes: Any) -> Any:
    """The features of each tree, as bits, and as the last entry the most that one tree has; -1 if these are too many.

    Too many features in all do not fit into a word, and too many in one tree have too long a polynomial.
    """
    tree, first, _, _, member = cubes
    features = ints(n_trees + 1)
    if n > _MOST_FEATURES:
        features[n_trees] = -1
        return features
    widest = 0
    for t in range(n_trees):
        for a in range(first[tree[t]], first[tree[t + 1]]):
            features[t] |= 1 << member[a]
        widest = max(widest, count_bits(features[t]))
    features[n_trees] = widest if widest <= WIDEST_TREE else -1
    return features


@njit()
def level_work(k: int, n: int, n_trees: int, features: Any) -> int:
    """Work that the tables for sets of ``k`` features take, in the units of branch and bound."""
    widest = features[n_trees]
    if widest < 0 or k < 3:
        return NEVER
    entries = 0
    for d in range(1, max(2, min(k, widest)) + 1):
        entries += count_sets(n, d)
        if entries > _MOST_ENTRIES:
            return NEVER
    work = entries + k * count_sets(n, k)
    for t in range(n_trees):
        work += 5 << count_bits(features[t])
    return work


@njit()
def count_all(n: int, depth: int) -> Any:
    """How many sets of each size the first features have: for p features and size d at ``p * (depth + 1) + d``."""
    counts = ints((n + 1) * (depth + 1))
    for p in range(n + 1):
        counts[p * (depth + 1)] = 1
        for d in range(1, depth + 1):
            if p > 0:
                before = (p - 1) * (depth + 1) + d
                counts[p * (depth + 1) + d] = counts[before] + counts[before - 1]
    return counts


@njit()
def write_tree(t: int, cubes: Any, present: int, degree: Any, counts: Any, depth: int, offset: Any, local: Any,
               rank: Any, own: Any, bit: Any, terms: Any) -> float:  # fmt: skip
    """Add the terms of one tree to the tables; gives the sum of the sizes of all numbers that went into them.

    ``present`` are its features, as bits. ``local`` has an entry for each set of them, zero before and after; the
    constant stays in the first. The other arrays before ``terms`` are scratch.
    """
    tree, first, need, leaf, member = cubes
    m = 0
    g = 0
    total = 0.0
    while present >> g != 0:
        if (present >> g) & 1 != 0:
            bit[g] = 1 << m
            own[m] = g  # the features of the tree, in order
            m += 1
        g += 1
    for i in range(tree[t], tree[t + 1]):
        inside = 0
        outside = 0
        for a in range(first[i], first[i] + need[i]):
            inside |= bit[member[a]]
        for a in range(first[i] + need[i], first[i + 1]):
            outside |= bit[member[a]]
        some = outside
        size = abs(leaf[i])
        while True:
            local[inside | some] += -leaf[i] if degree[some] & 1 != 0 else leaf[i]
            total += size
            if some == 0:
                break
            some = (some - 1) & outside
    rank[0] = 0
    for b in range(m):
        begin = own[b] * (depth + 1)
        for low in range(1 << b):
            mask = low + (1 << b)
            d = degree[mask]
            if d <= depth:
                rank[mask] = rank[low] + counts[begin + d]
                terms[offset[d] + rank[mask]] += local[mask]
            local[mask] = 0.0
    return total


@njit()
def fold_levels(pick: int, highest: int, left: int, depth: int, counts: Any, terms: Any, offset: Any,
                to_offset: Any) -> None:  # fmt: skip
    """The tables of the features below ``pick`` once it is in the set; only degrees up to ``left`` matter."""
    row = pick * (depth + 1)
    for d in range(1, min(left, highest) + 1):
        # Numbers without a sign as indices, so that several entries are added in one step.
        at, to_at, length = np.uint64(offset[d]), np.uint64(to_offset[d]), np.uint64(counts[row + d])
        if d < highest:
            beside = np.uint64(offset[d + 1] + counts[row + d + 1])
            for e in range(length):
                terms[to_at + e] = terms[at + e] + terms[beside + e]
        else:
            for e in range(length):
                terms[to_at + e] = terms[at + e]


@njit()
def margin_of(n_trees: int, cubes: Any, constant: float, linear: Any, picks: Any, size: int, chosen: Any) -> float:
    """The margin of a set, added up cube by cube; ``chosen`` is False everywhere before and after."""
    tree, first, need, leaf, member = cubes
    total = constant
    for i in range(size):
        chosen[picks[i]] = True
        total += linear[picks[i]]
    for t in range(n_trees):
        for i in range(tree[t], tree[t + 1]):
            middle = first[i] + need[i]
            end = first[i + 1]
            at = first[i]
            while at < end and chosen[member[at]] == (at < middle):
                at += 1
            if at == end:
                total += leaf[i]
                break
    for i in range(size):
        chosen[picks[i]] = False
    return total


@njit()
def lay_out(size: int, n: int, highest: int, counts: Any) -> Any:
    """Where each table begins: after j picks, of degree d, at ``j * (size + 2) + d``; the end of all comes last.

    After j picks at most n - j features are left, and at most ``size`` - j degrees matter.
    """
    offsets = ints((size + 1) * (size + 2))
    end = 0
    for j in range(size - 1):
        for d in range(1, min(size - j, highest) + 1):
            offsets[j * (size + 2) + d] = end
            end += counts[(n - j) * (size + 1) + d]
    offsets[offsets.shape[0] - 1] = end
    return offsets


@njit()
def write_levels(size: int, n: int, n_trees: int, cubes: Any, features: Any, constant: float, linear: Any, counts: Any,
                 offsets: Any, terms: Any) -> tuple[float, float]:  # fmt: skip
    """Write the terms of all trees; gives the margin of no set, and a bound on what rounding has done to any other."""
    widest = features[n_trees]
    degree, rank, local = ints(1 << widest), unset(1 << widest), floats(1 << widest)
    local[0] = 0.0
    for mask in range(1, 1 << widest):
        degree[mask] = degree[mask >> 1] + (mask & 1)
        local[mask] = 0.0
    total = abs(constant)
    for g in range(n):
        terms[g] = linear[g]
        total += abs(linear[g])
    for e in range(n, offsets[size + 3]):  # up to the first table after one pick
        terms[e] = 0.0
    own, bit = ints(n), ints(n)
    for t in range(n_trees):
        total += write_tree(t, cubes, features[t], degree, counts, size, offsets, local, rank, own, bit, terms)
    return constant + local[0], EPSILON * total * (cubes.tree[n_trees] + 2 * n + 2)


@njit()
def search_level(size: int, n: int, n_trees: int, cubes: Any, features: Any, constant: float, linear: Any, limit: float,
                 found: Any) -> None:  # fmt: skip
    """Record all sets of ``size`` >= 3 features that bring the margin down to the limit."""
    highest = max(2, min(size, features[n_trees]))
    counts = count_all(n, size)
    offsets = lay_out(size, n, highest, counts)
    terms = floats(offsets[offsets.shape[0] - 1])
    values, picks, top, chosen = floats(size), ints(size), ints(size), flags(n)
    values[0], slack = write_levels(size, n, n_trees, cubes, features, constant, linear, counts, offsets, terms)
    top[0] = n
    depth = 0
    while depth >= 0:
        left = size - depth
        offset, to_offset = offsets[depth * (size + 2) :], offsets[(depth + 1) * (size + 2) :]
        pick = top[depth] - 1  # the highest that is left
        if left > 2 and pick >= left - 1:
            top[depth] = pick
            picks[depth] = pick
            values[depth + 1] = values[depth] + terms[offset[1] + pick]
            fold_levels(pick, min(left, highest), left - 1, size, counts, terms, offset, to_offset)
            depth += 1
            top[depth] = pick
            continue
        for j in range(1, top[depth] if left == 2 else 0):
            single, pair, front = terms[offset[1] :], terms[offset[2] :], j * (j - 1) >> 1
            here = values[depth] + single[j]
            if count_low(j, here, single, pair, front, limit + slack) == 0:
                continue
            picks[depth] = j
            for i in range(j):
                if here + (single[i] + pair[front + i]) <= limit + slack:
                    picks[depth + 1] = i
                    value = margin_of(n_trees, cubes, constant, linear, picks, size, chosen)
                    if value <= limit:
                        record(found, picks, size, value)
            if found.cursor[1] > found.cursor[2]:
                return
        depth -= 1
