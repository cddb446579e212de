"""Tables for many rows and one reference: what each tree does is then looked up, not walked.

A row meets a small tree only through the directions of its splits: with at most eight splits that is one of 256
*patterns*. For one reference, each pattern of each tree collapses to a fixed polynomial in "feature i is in the set",
worked out once. A row then costs the union of one bit vector a column (which splits its value passes), one look-up a
tree, and a few additions. Terms of three features are kept apart: only rows that need so many pay for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev.backends.trees._forest import AT_REFERENCE
from sev.backends.trees._forms import BOOLS, FLOAT, INT, INTS, SHORTS, TREES, VECTOR
from sev.backends.trees._lookup import FEATURE_BITS
from sev.kernels.source import njit


@njit()
def reached_splits(nodes: Any, root: int, bit: Any, code: int, stack: Any) -> int:
    """Which splits of a tree query or reference, or a mix of them, can come to; the others do not matter."""
    stack[0, 0] = root
    waiting = 1
    reached = 0
    while waiting > 0:
        waiting -= 1
        node = stack[waiting, 0]
        meta = nodes[node]
        left = meta >> 32
        if left != 0:
            place = bit[node - root]
            reached |= 1 << place
            at_query = (code >> place) & 1
            at_reference = (meta // AT_REFERENCE) & 1
            stack[waiting, 0] = left + at_query
            waiting += 1
            if at_query != at_reference:
                stack[waiting, 0] = left + at_reference
                waiting += 1
    return reached


@njit()
def tree_terms(trees: Any, root: int, local: Any, bit: Any, code: int, open_to: int, minus: int, degree: Any,
               terms: Any, stack: Any) -> None:  # fmt: skip
    """Add the terms of one tree for one pattern to a table over all sets of its own features.

    A leaf that needs the features A in the set and B out of it adds its value, with a turned sign for each feature of
    B, to every set between A and A with B. Sets of more than three features are left out.
    """
    nodes, values, _, _, _, _ = trees
    stack[0, 0], stack[0, 1], stack[0, 2] = root, 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node, inside, outside = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        meta = nodes[node]
        left = meta >> 32
        if left == 0:
            part = outside
            while True:
                if degree[inside | part] <= 3:
                    terms[inside | part] += values[node] if degree[part] & 1 == 0 else -values[node]
                if part == 0:
                    break
                part = (part - 1) & outside
            continue
        at_query = (code >> bit[node - root]) & 1
        at_reference = (meta // AT_REFERENCE) & 1
        mark = 1 << local[node - root]
        stay = at_query if minus == 1 else at_reference
        if at_query != at_reference and outside & mark == 0 and open_to & mark != 0:
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = left + 1 - stay, inside | mark, outside
            waiting += 1
            if inside & mark == 0:
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = left + stay, inside, outside | mark
                waiting += 1
        else:
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = left + stay, inside, outside
            waiting += 1


@njit()
def place_of(mask: int, features: Any, p: int) -> int:
    """Where the term of some of a tree's own features belongs."""
    low = middle = high = -1
    place = 0
    while mask != 0:
        if mask & 1:
            feature = features[place]
            if feature > high:
                low, middle, high = middle, high, feature
            elif feature > middle:
                low, middle = middle, feature
            else:
                low = feature
        mask >>= 1
        place += 1
    if middle < 0:
        return high
    if low < 0:
        return p + high * (high - 1) // 2 + middle
    return low | middle << FEATURE_BITS | high << 2 * FEATURE_BITS


@njit(TREES, INTS, BOOLS, INT, FLOAT, INTS, SHORTS, VECTOR)
def build(trees: Any, column_feature: Any, allowed: Any, minus: int, sign: float, first_code: Any, records: Any,
          stream: Any) -> int:  # fmt: skip
    """Work out every pattern of every tree; gives the room that this takes in the stream, or would take.

    The record of a pattern in the stream: the constant, the number of terms of one and two features, and of three,
    then place and value of each term. The place is ``i`` for one of p features, ``p + j * (j - 1) / 2 + i``, i < j, for
    two, and the three features packed into one number for three.
    """
    nodes, roots = trees.nodes, trees.roots
    p = allowed.shape[0]
    terms, stack = np.zeros(256), np.empty((32, 3), dtype=np.int64)
    features = np.empty(8, dtype=np.int64)
    bit, local = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    degree = np.zeros(256, dtype=np.int64)
    for mask in range(1, 256):
        degree[mask] = degree[mask >> 1] + (mask & 1)
    size = 0
    for t in range(roots.shape[0]):
        root = roots[t]
        end = roots[t + 1] if t + 1 < roots.shape[0] else nodes.shape[0]
        n_bits = n_local = open_to = 0
        for node in range(root, end):
            if nodes[node] >> 32 == 0:
                continue
            feature = column_feature[(nodes[node] >> 8) & 0xFFFFFF]
            place = 0
            while place < n_local and features[place] != feature:
                place += 1
            if place == n_local:
                features[n_local] = feature
                open_to |= (1 << n_local) if allowed[feature] else 0
                n_local += 1
            bit[node - root], local[node - root] = n_bits, place
            n_bits += 1
        for code in range(1 << n_bits):
            alike = code & reached_splits(nodes, root, bit, code, stack)
            records[first_code[t] + code] = records[first_code[t] + alike]
            if alike != code:
                continue
            records[first_code[t] + code] = size
            tree_terms(trees, root, local, bit, code, open_to, minus, degree, terms, stack)
            fits = size + 5 + 2 * (1 << n_local) <= stream.shape[0]
            at = size + 3
            if fits:
                stream[size] = sign * terms[0]
                stream[size + 1] = stream[size + 2] = 0.0
            terms[0] = 0.0
            for wanted in range(2):  # terms of three features last
                if wanted == 1 and at == size + 3:  # at least one term: nothing, for a place that nobody reads
                    if fits:
                        stream[size + 1], stream[at], stream[at + 1] = 1.0, p * (p + 1) // 2, 0.0
                    at += 2
                for mask in range(1, 1 << n_local):
                    if terms[mask] == 0.0 or (degree[mask] == 3) != (wanted == 1):
                        continue
                    if fits:
                        stream[size + 1 + wanted] += 1.0
                        stream[at] = place_of(mask, features, p)
                        stream[at + 1] = sign * terms[mask]
                    terms[mask] = 0.0
                    at += 2
            size = at
    return size
