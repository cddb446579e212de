"""Kernels that walk trees: margins of rows, and the collapse of a forest onto one query and one reference.

For one query and one reference each split has only two directions that matter: where the query goes and where the
reference goes. A tree is then a function of the few features on which they part, written as *cubes*: a leaf, the
features that must be in the set for it to be reached, and those that must not be.

Kernels unpack their tuples of arrays first: an array taken from a tuple inside a loop is counted as used each time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev.backends.trees._forest import (
    AT_REFERENCE,
    CATEGORICAL,
    NAN_LEFT,
    OUTSIDE_LEFT,
    SPECIAL,
    ZERO_WIDTH,
)
from sev.backends.trees._forms import FLOAT, INTS, MATRIX, TREES, VECTOR
from sev.kernels.source import njit


@njit()
def goes_right(meta: int, value: float, x: float, category_first: Any, category_words: Any) -> int:
    """Whether a number that is not missing goes to the right child of a special node: 1 or 0."""
    if meta & CATEGORICAL == 0:
        if -ZERO_WIDTH <= x <= ZERO_WIDTH:
            return 1 - (meta & NAN_LEFT)
        return 0 if x <= value else 1
    first = category_first[int(value)]
    inside = False
    if 0.0 <= x < 64.0 * (category_first[int(value) + 1] - first):
        category = np.int64(x)
        inside = (category_words[first + (category >> 6)] >> np.uint64(category & 63)) & np.uint64(1) != 0
    return 1 if inside == (meta & OUTSIDE_LEFT != 0) else 0


@njit(TREES, VECTOR, INTS)
def mark(trees: Any, reference: Any, marked: Any) -> None:
    """Copy the nodes with the direction of the reference written in."""
    nodes, values, _, category_first, category_words, _ = trees
    for node in range(nodes.shape[0]):
        meta = nodes[node]
        marked[node] = meta
        if meta >> 32 != 0:
            x = reference[(meta >> 8) & 0xFFFFFF]
            right = 0 if x <= values[node] else 1
            if x != x:
                right = 1 - (meta & NAN_LEFT)
            elif meta & SPECIAL != 0:
                right = goes_right(meta, values[node], x, category_first, category_words)
            if right == 1:
                marked[node] = meta | AT_REFERENCE


@njit(TREES, MATRIX, FLOAT, VECTOR)
def margins(trees: Any, rows: Any, base: float, sums: Any) -> None:
    """Margin of each row: base first, then trees in order."""
    nodes, values, roots, category_first, category_words, _ = trees
    for i in range(rows.shape[0]):
        total = base
        for t in range(roots.shape[0]):
            node = roots[t]
            meta = nodes[node]
            while meta >> 32 != 0:
                x = rows[i, (meta >> 8) & 0xFFFFFF]
                right = 0 if x <= values[node] else 1
                if x != x:
                    right = 1 - (meta & NAN_LEFT)
                elif meta & SPECIAL != 0:
                    right = goes_right(meta, values[node], x, category_first, category_words)
                node = (meta >> 32) + right
                meta = nodes[node]
            total += values[node]
        sums[i] = total


@njit()
def collapse(trees: Any, row: Any, column_feature: Any, minus: int, sign: float, state: Any, path: Any, cubes: Any,
             groups: Any) -> tuple[int, int, float]:  # fmt: skip
    """Collapse every tree onto one query; the reference is marked in the nodes.

    ``state`` is 0 for features that may be in the set and 3 for those that may not; on the way it is 1 for features
    taken into the set and 2 for those left out, and it is 0 again at the end. Features are numbered in ``groups`` as
    they are met; trees of a single feature go to its ``linear`` part and need no cubes. Gives the number of trees with
    cubes, the number of features met, and the constant part of the sum.
    """
    nodes, values, roots, category_first, category_words, _ = trees
    tree, first, need, leaf, member = cubes
    number, feature_of, linear = groups
    wait_node, wait_depth, step = path
    n_trees = 0
    n_groups = 0
    constant = 0.0
    cube = 0
    tree[0] = 0
    first[0] = 0
    for t in range(roots.shape[0]):
        node = roots[t]
        depth = 0
        waiting = 0
        begin = cube
        while True:
            meta = nodes[node]
            left = meta >> 32
            if left != 0:
                column = (meta >> 8) & 0xFFFFFF
                x = row[column]
                at_query = 0 if x <= values[node] else 1
                if x != x:
                    at_query = 1 - (meta & NAN_LEFT)
                elif meta & SPECIAL != 0:
                    at_query = goes_right(meta, values[node], x, category_first, category_words)
                at_reference = (meta >> 7) & 1
                if at_query == at_reference:
                    node = left + at_query
                    continue
                feature = column_feature[column]
                stay = at_query if minus == 1 else at_reference
                mark = state[feature]
                if mark == 0:
                    if number[feature] < 0:
                        number[feature] = n_groups
                        feature_of[n_groups] = feature
                        linear[n_groups] = 0.0
                        n_groups += 1
                    wait_node[waiting] = left + 1 - stay
                    wait_depth[waiting] = depth
                    waiting += 1
                    step[depth] = feature << 1
                    depth += 1
                    state[feature] = 2
                    node = left + stay
                elif mark == 1:
                    node = left + 1 - stay
                else:
                    node = left + stay
                continue
            if depth == 0:
                constant += sign * values[node]
                break
            front = first[cube]
            back = front + depth
            first[cube + 1] = back
            for d in range(depth):
                if step[d] & 1 != 0:
                    member[front] = number[step[d] >> 1]
                    front += 1
                else:
                    back -= 1
                    member[back] = number[step[d] >> 1]
            need[cube] = front - first[cube]
            leaf[cube] = sign * values[node]
            cube += 1
            if waiting == 0:
                break
            waiting -= 1
            keep = wait_depth[waiting]
            for d in range(keep + 1, depth):
                state[step[d] >> 1] = 0
            step[keep] |= 1
            state[step[keep] >> 1] = 1
            depth = keep + 1
            node = wait_node[waiting]
        for d in range(depth):
            state[step[d] >> 1] = 0
        if cube == begin + 2:  # one feature: out of the set first, in the set second
            constant += leaf[begin]
            linear[member[first[begin]]] += leaf[begin + 1] - leaf[begin]
            cube = begin
        elif cube > begin:
            n_trees += 1
            tree[n_trees] = cube
    return n_trees, n_groups, constant
