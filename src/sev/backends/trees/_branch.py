"""Kernels for sets of any size over cubes of any width: branch and bound, and the greedy search that bounds from above."""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._compile import njit
from sev.backends.trees._forms import Cubes
from sev.backends.trees._tables import (
    WIDEST_PAIRS,
    clear_pairs,
    expand_pairs,
    expand_singles,
    scan_pairs,
    scan_singles,
)


@njit()
def weigh(cubes: Any, first_tree: int, end_tree: int, delta: Any, rho: Any, weight: Any) -> float:
    """Add to ``weight`` what each feature can lower the margin by, at most; give the trees' sum as it stands.

    For a tree, let d[j] be the effect of j alone. At another leaf than the present one the tree falls short of the sum
    of d over the set by at most some residue, and that is shared out among the features which the leaf needs. Hence the
    margin of any set is at least the present one plus the weights of its features. ``delta`` and ``rho`` are scratch,
    zero before and after.
    """
    total = 0.0
    for t in range(first_tree, end_tree):
        begin, end = cubes.tree[t], cubes.tree[t + 1]
        now = 0.0
        for i in range(begin, end):
            if cubes.need[i] == 0:
                now = cubes.values[i]
        total += now
        positive = 0.0
        for i in range(begin, end):
            if cubes.need[i] == 1:
                effect = cubes.values[i] - now
                delta[cubes.groups[cubes.first[i]]] = effect
                positive += max(0.0, effect)
        for i in range(begin, end):
            need = cubes.need[i]
            if need == 0:
                continue
            first = cubes.first[i]
            residue = cubes.values[i] - now - positive
            for a in range(first, first + need):
                effect = delta[cubes.groups[a]]
                residue -= min(0.0, effect)
            for b in range(first + need, cubes.first[i + 1]):
                residue += max(0.0, delta[cubes.groups[b]])
            if residue < 0.0:
                share = residue / need
                for a in range(first, first + need):
                    rho[cubes.groups[a]] = min(rho[cubes.groups[a]], share)
        for i in range(begin, end):
            for a in range(cubes.first[i], cubes.first[i] + cubes.need[i]):
                group = cubes.groups[a]
                weight[group] += delta[group] + rho[group]
                delta[group] = 0.0
                rho[group] = 0.0
    return total


@njit()
def sort_by_weight(order: Any, begin: int, end: int, weight: Any) -> None:
    """Order features by weight, lowest first; equal weights keep their order."""
    for a in range(begin + 1, end):
        group = order[a]
        b = a
        while b > begin and weight[order[b - 1]] > weight[group]:
            order[b] = order[b - 1]
            b -= 1
        order[b] = group


@njit()
def descend(
    cubes: Any, first_tree: int, end_tree: int, pick: int, out: Any, left: int, linear: Any
) -> tuple[int, float]:
    """Put the cubes as they are after a pick on the stack, behind their own: last tree, and the new constant part.

    Cubes that need a feature which is ``out``, or more than ``left`` further ones, can no longer be reached. Trees of a
    single feature go to ``linear``.
    """
    constant = 0.0
    tree = end_tree
    cube = cubes.tree[end_tree]
    at = cubes.first[cube]
    for t in range(first_tree, end_tree):
        begin = cube
        for i in range(cubes.tree[t], cubes.tree[t + 1]):
            first = cubes.first[i]
            middle = first + cubes.need[i]
            write = at
            alive = True
            for a in range(first, middle):
                group = cubes.groups[a]
                if group != pick:
                    if out[group]:
                        alive = False
                        break
                    cubes.groups[write] = group
                    write += 1
            need = write - at
            if not alive or need > left:
                continue
            for b in range(middle, cubes.first[i + 1]):
                group = cubes.groups[b]
                if group == pick:
                    alive = False
                    break
                if not out[group]:
                    cubes.groups[write] = group
                    write += 1
            if not alive:
                continue
            cubes.need[cube] = need
            cubes.values[cube] = cubes.values[i]
            cube += 1
            at = write
            cubes.first[cube] = at
        if cube == begin + 1:
            constant += cubes.values[begin]
            cube = begin
        elif cube == begin + 2 and at == cubes.first[begin] + 2:
            inside = begin if cubes.need[begin] == 1 else begin + 1
            outside = begin + begin + 1 - inside
            constant += cubes.values[outside]
            linear[cubes.groups[cubes.first[begin]]] += cubes.values[inside] - cubes.values[outside]
            cube = begin
        else:
            tree += 1
            cubes.tree[tree] = cube
        at = cubes.first[cube]
    return tree, constant


@njit()
def make_stack(cubes: Any, n_trees: int, depth: int) -> Any:
    """Copy the collapsed trees to the bottom of a stack with room for ``depth`` picks."""
    n_cubes = cubes.tree[n_trees]
    n_entries = cubes.first[n_cubes]
    stack = Cubes(
        np.empty((depth + 1) * (n_trees + 1) + 1, dtype=np.int64),
        np.empty((depth + 1) * (n_cubes + 1) + 1, dtype=np.int64),
        np.empty((depth + 1) * (n_cubes + 1), dtype=np.int64),
        np.empty((depth + 1) * (n_cubes + 1), dtype=np.float64),
        np.empty((depth + 1) * (n_entries + 1), dtype=np.int32),
    )
    for t in range(n_trees + 1):
        stack.tree[t] = cubes.tree[t]
    for i in range(n_cubes):
        stack.first[i] = cubes.first[i]
        stack.need[i] = cubes.need[i]
        stack.values[i] = cubes.values[i]
    stack.first[n_cubes] = n_entries
    for a in range(n_entries):
        stack.groups[a] = cubes.groups[a]
    return stack


@njit()
def search_cubes(
    size: int, n: int, n_trees: int, cubes: Any, constant: float, linear_root: Any, limit: float, found: Any, work: Any
) -> int:
    """Branch and bound for sets of ``size`` features: records all that bring the margin down to the limit.

    With ``size`` 0 it asks whether any set of any size does, and stops at the first. Gives 1 when such a set exists (or
    sets were recorded), 0 when it is proven that none does, -1 when the budget ended first.
    """
    probing = size == 0
    deepest = n if probing else size - 1
    stack = make_stack(cubes, n_trees, deepest)
    linear = np.zeros((deepest + 1, n))
    weight = np.zeros((deepest + 1, n))
    order = np.empty((deepest + 1, n), dtype=np.int64)
    trees = np.zeros(deepest + 2, dtype=np.int64)  # the trees after d picks: trees[d]:trees[d + 1] ... on the stack
    constants = np.zeros(deepest + 1)
    value = np.zeros(deepest + 1)
    n_left = np.zeros(deepest + 1, dtype=np.int64)
    following = np.zeros(deepest + 1, dtype=np.int64)
    out = np.zeros(n, dtype=np.bool_)
    delta = np.zeros(n)
    rho = np.zeros(n)
    base = min(size - 1, 2 if n <= WIDEST_PAIRS else 1)  # the number of last picks that one table answers at once
    pair = np.zeros((n * (base - 1), n))
    picks = np.empty(max(size, n), dtype=np.int64)

    zero = np.int64(0)  # a literal would be compiled apart
    trees[1] = n_trees
    for i in range(n):
        linear[0, i] = linear_root[i]
        weight[0, i] = linear_root[i]
    constants[0] = constant
    value[0] = constant + weigh(stack, zero, n_trees, delta, rho, weight[0])
    n_left[0] = n
    for i in range(n):
        order[0, i] = i
    sort_by_weight(order[0], zero, n, weight[0])
    depth = 0
    while depth >= 0:
        left = n if probing else size - depth
        at = following[depth]
        bound = value[depth]
        for a in range(at, n_left[depth] if probing else min(at + left, n_left[depth])):
            bound += min(0.0, weight[depth, order[depth, a]]) if probing else weight[depth, order[depth, a]]
        if at >= n_left[depth] or (not probing and at + left > n_left[depth]) or bound > limit:
            for a in range(at):
                out[order[depth, a]] = False
            depth -= 1
            continue
        pick = order[depth, at]
        following[depth] = at + 1
        picks[depth] = pick
        for i in range(n):
            linear[depth + 1, i] = linear[depth, i]
        end, extra = descend(stack, trees[depth], trees[depth + 1], pick, out, left - 1, linear[depth + 1])
        out[pick] = True
        trees[depth + 2] = end
        constants[depth + 1] = constants[depth] + linear[depth, pick] + extra
        rest = n_left[depth] - at - 1
        entries = stack.first[stack.tree[trees[depth + 1]]] - stack.first[stack.tree[trees[depth]]]
        work[0] += 2 * entries + 50
        if not probing and left == base + 1:
            single = linear[depth + 1]
            if base == 2:
                clear_pairs(order[depth], at + 1, n_left[depth], pair)
                start = constants[depth + 1] + expand_pairs(stack, trees[depth + 1], end, single, pair)
                scan_pairs(order[depth], at + 1, n_left[depth], start, single, pair, limit, picks, depth + 1, found)
            else:
                start = constants[depth + 1] + expand_singles(stack, trees[depth + 1], end, single)
                scan_singles(order[depth], at + 1, n_left[depth], start, single, limit, picks, depth + 1, found)
            work[0] += rest * rest
            if found.cursor[1] > found.cursor[2]:
                return 1
        else:
            depth += 1
            for i in range(n):
                weight[depth, i] = linear[depth, i]
            value[depth] = constants[depth] + weigh(stack, trees[depth], end, delta, rho, weight[depth])
            if probing and value[depth] <= limit:
                return 1
            n_left[depth] = rest
            following[depth] = 0
            for a in range(rest):
                order[depth, a] = order[depth - 1, at + 1 + a]
            sort_by_weight(order[depth], zero, rest, weight[depth])
            work[0] += 2 * entries + rest * 4
        if work[0] > work[1]:
            return -1
    return 1 if found.cursor[1] > 0 and not probing else 0


@njit()
def flip_effects(cubes: Any, n_trees: int, linear: Any, chosen: Any, effect: Any) -> float:
    """Effect of moving each feature into or out of a set; gives the margin of the set without its constant part."""
    total = 0.0
    for g in range(effect.shape[0]):
        effect[g] = -linear[g] if chosen[g] else linear[g]
        total += linear[g] if chosen[g] else 0.0
    for i in range(cubes.tree[n_trees]):
        first = cubes.first[i]
        middle = first + cubes.need[i]
        wrong = 0
        last_wrong = -1
        for a in range(first, cubes.first[i + 1]):
            if chosen[cubes.groups[a]] != (a < middle):
                wrong += 1
                last_wrong = cubes.groups[a]
        if wrong == 0:
            total += cubes.values[i]
            for a in range(first, cubes.first[i + 1]):
                effect[cubes.groups[a]] -= cubes.values[i]
        elif wrong == 1:
            effect[last_wrong] += cubes.values[i]
    return total


@njit()
def search_greedy(n: int, n_trees: int, cubes: Any, constant: float, linear: Any, sure: float, chosen: Any) -> float:
    """Add the best feature until the margin is below ``sure``, then drop what is not needed; infinity when it never is."""
    effect = np.empty(n)
    for g in range(n):
        chosen[g] = False
    value = constant + flip_effects(cubes, n_trees, linear, chosen, effect)
    for _ in range(n):
        if value < sure:
            break
        best = -1
        for g in range(n):
            if not chosen[g] and (best < 0 or effect[g] < effect[best]):
                best = g
        chosen[best] = True
        value = constant + flip_effects(cubes, n_trees, linear, chosen, effect)
    if not value < sure:
        return np.inf
    while True:
        best = -1
        for g in range(n):
            if chosen[g] and value + effect[g] < sure and (best < 0 or effect[g] < effect[best]):
                best = g
        if best < 0:
            return value
        chosen[best] = False
        value = constant + flip_effects(cubes, n_trees, linear, chosen, effect)
