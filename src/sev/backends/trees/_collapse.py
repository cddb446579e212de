"""Kernels that walk trees: margins of rows, and the collapse of a forest onto one query and one reference.

For one query and one reference each split has only two directions that matter: where the query goes and where the
reference goes. A tree is then a function of the few features on which they part, written as *cubes*: a leaf, the
features that must be in the set for it to be reached, and those that must not be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._compile import njit
from sev.backends.trees._forest import (
    AT_REFERENCE,
    CATEGORICAL,
    NAN_LEFT,
    OUTSIDE_LEFT,
    SPECIAL,
    ZERO_MISSING,
    ZERO_WIDTH,
)


@njit()
def goes_right(trees: Any, node: int, meta: int, x: float) -> int:
    """Whether a number goes to the right child: 1 or 0."""
    if meta & SPECIAL == 0:
        return 0 if x <= trees.values[node] else 1
    if np.isnan(x) or (meta & ZERO_MISSING != 0 and abs(x) <= ZERO_WIDTH):
        return 0 if meta & NAN_LEFT != 0 else 1
    if meta & CATEGORICAL == 0:
        return 0 if x <= trees.values[node] else 1
    number = int(trees.values[node])
    first = trees.category_first[number]
    inside = False
    if 0.0 <= x < 64.0 * (trees.category_first[number + 1] - first):
        category = np.int64(x)
        inside = (trees.category_words[first + (category >> 6)] >> np.uint64(category & 63)) & np.uint64(1) != 0
    return 1 if inside == (meta & OUTSIDE_LEFT != 0) else 0


@njit()
def mark_reference(trees: Any, reference: Any, marked: Any) -> None:
    """Copy the nodes with the direction of the reference written in."""
    for node in range(trees.nodes.shape[0]):
        meta = trees.nodes[node]
        marked[node] = meta
        if meta >> 32 != 0 and goes_right(trees, node, meta, reference[(meta >> 8) & 0xFFFFFF]) != 0:
            marked[node] = meta | AT_REFERENCE


@njit()
def sum_leaves(trees: Any, rows: Any, base: float, sums: Any) -> None:
    """Sum of the leaves of each row, base first and trees in order."""
    for i in range(rows.shape[0]):
        total = base
        for t in range(trees.roots.shape[0]):
            node = trees.roots[t]
            meta = trees.nodes[node]
            while meta >> 32 != 0:
                node = (meta >> 32) + goes_right(trees, node, meta, rows[i, (meta >> 8) & 0xFFFFFF])
                meta = trees.nodes[node]
            total += trees.values[node]
        sums[i] = total


@njit()
def collapse(
    trees: Any, row: Any, feature_of_column: Any, minus: int, sign: float, state: Any, path: Any, cubes: Any, groups: Any
) -> tuple[int, int, float]:
    """Collapse every tree onto one query; the reference is marked in the nodes.

    ``state`` is 0 for features that may be in the set and 3 for those that may not; on the way it is 1 for features
    taken into the set and 2 for those left out, and it is 0 again at the end. ``groups`` holds ``number`` (the number
    that each feature gets when it is first met, -1 before), ``feature`` (the reverse) and ``linear`` (the effect of
    trees of a single feature, which need no cubes). Gives the number of trees kept, the number of features met, and
    the constant part of the sum.
    """
    n_trees = 0
    n_groups = 0
    constant = 0.0
    cube = 0
    cubes.tree[0] = 0
    cubes.first[0] = 0
    for t in range(trees.roots.shape[0]):
        node = trees.roots[t]
        depth = 0
        waiting = 0
        begin = cube
        while True:
            meta = trees.nodes[node]
            left = meta >> 32
            if left != 0:
                column = (meta >> 8) & 0xFFFFFF
                at_query = goes_right(trees, node, meta, row[column])
                at_reference = (meta >> 7) & 1
                if at_query == at_reference:
                    node = left + at_query
                    continue
                feature = feature_of_column[column]
                stay = at_query if minus == 1 else at_reference
                mark = state[feature]
                if mark == 0:
                    if groups.number[feature] < 0:
                        groups.number[feature] = n_groups
                        groups.feature[n_groups] = feature
                        groups.linear[n_groups] = 0.0
                        n_groups += 1
                    path.node[waiting] = left + 1 - stay
                    path.depth[waiting] = depth
                    waiting += 1
                    path.step[depth] = feature << 1
                    depth += 1
                    state[feature] = 2
                    node = left + stay
                elif mark == 1:
                    node = left + 1 - stay
                else:
                    node = left + stay
                continue
            value = sign * trees.values[node]
            if depth == 0:
                constant += value
                break
            front = cubes.first[cube]
            end = front + depth
            back = end
            for d in range(depth):
                number = groups.number[path.step[d] >> 1]
                if path.step[d] & 1 != 0:
                    cubes.groups[front] = number
                    front += 1
                else:
                    back -= 1
                    cubes.groups[back] = number
            cubes.need[cube] = front - cubes.first[cube]
            cubes.values[cube] = value
            cube += 1
            cubes.first[cube] = end
            if waiting == 0:
                break
            waiting -= 1
            keep = path.depth[waiting]
            for d in range(keep + 1, depth):
                state[path.step[d] >> 1] = 0
            path.step[keep] |= 1
            state[path.step[keep] >> 1] = 1
            depth = keep + 1
            node = path.node[waiting]
        for d in range(depth):
            state[path.step[d] >> 1] = 0
        if cube == begin + 2:  # one feature: out of the set first, in the set second
            constant += cubes.values[begin]
            groups.linear[cubes.groups[cubes.first[begin]]] += cubes.values[begin + 1] - cubes.values[begin]
            cube = begin
        elif cube > begin:
            n_trees += 1
            cubes.tree[n_trees] = cube
    return n_trees, n_groups, constant
