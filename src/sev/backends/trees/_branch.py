"""Kernels for sets of any size over cubes of any width: branch and bound, and a greedy search for a first set."""

from __future__ import annotations

from typing import Any

import numpy as np

from sev.backends.trees._forms import Cubes
from sev.backends.trees._room import flags, floats, ints, table, unset
from sev.backends.trees._tables import WIDEST_PAIRS, expand_pairs, pair_at, record
from sev.kernels.source import njit


@njit()
def weigh(cubes: Any, first_tree: int, end_tree: int, delta: Any, rho: Any, weight: Any) -> float:
    """Add to ``weight`` what each feature can lower the margin by, at most; give the trees' sum as it stands.

    For a tree, let d[j] be the effect of j alone. At another leaf than the present one the tree falls short of the sum
    of d over the set by at most some residue, and that is shared out among the features which the leaf needs. Hence the
    margin of any set is at least the present one plus the weights of its features. ``delta`` and ``rho`` are scratch,
    zero before and after.
    """
    tree, first, need, leaf, member = cubes
    total = 0.0
    for t in range(first_tree, end_tree):
        now = 0.0
        for i in range(tree[t], tree[t + 1]):
            if need[i] == 0:
                now = leaf[i]
                break
        total += now
        positive = 0.0
        for i in range(tree[t], tree[t + 1]):
            if need[i] == 1:
                effect = leaf[i] - now
                delta[member[first[i]]] = effect
                if effect > 0.0:
                    positive += effect
        for i in range(tree[t], tree[t + 1]):
            if need[i] == 0:
                continue
            middle = first[i] + need[i]
            residue = leaf[i] - now - positive
            for a in range(first[i], first[i + 1]):
                effect = delta[member[a]]
                if a < middle and effect < 0.0:
                    residue -= effect
                elif a >= middle and effect > 0.0:
                    residue += effect
            if residue < 0.0:
                share = residue / need[i]
                for a in range(first[i], middle):
                    if share < rho[member[a]]:
                        rho[member[a]] = share
        for i in range(tree[t], tree[t + 1]):
            for a in range(first[i], first[i] + need[i]):
                group = member[a]
                weight[group] += delta[group] + rho[group]
                delta[group] = 0.0
                rho[group] = 0.0
    return total


@njit()
def sort_by_weight(order: Any, n: int, weight: Any) -> None:
    """Order features by weight, lowest first; equal weights keep their order."""
    for a in range(1, n):
        group = order[a]
        b = a
        while b > 0 and weight[order[b - 1]] > weight[group]:
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
    tree, first, need, leaf, member = cubes
    constant = 0.0
    last = end_tree
    cube = tree[end_tree]
    for t in range(first_tree, end_tree):
        begin = cube
        for i in range(tree[t], tree[t + 1]):
            middle = first[i] + need[i]
            write = first[cube]
            required = 0
            alive = True
            for a in range(first[i], first[i + 1]):
                group = member[a]
                if group == pick:
                    alive = a < middle
                elif not out[group]:
                    member[write] = group
                    write += 1
                    if a < middle:
                        required += 1
                else:
                    alive = a >= middle
                if not alive:
                    break
            if not alive or required > left:
                continue
            need[cube] = required
            leaf[cube] = leaf[i]
            cube += 1
            first[cube] = write
        if cube == begin + 1:
            constant += leaf[begin]
            cube = begin
        elif cube == begin + 2 and first[cube] == first[begin] + 2:
            inside = begin if need[begin] == 1 else begin + 1
            outside = begin + begin + 1 - inside
            constant += leaf[outside]
            linear[member[first[begin]]] += leaf[inside] - leaf[outside]
            cube = begin
        else:
            last += 1
            tree[last] = cube
    return last, constant


@njit()
def make_stack(cubes: Any, n_trees: int, depth: int) -> Any:
    """Copy the collapsed trees to the bottom of a stack with room for ``depth`` picks."""
    n_cubes = cubes.tree[n_trees]
    n_entries = cubes.first[n_cubes]
    room = (depth + 1) * (n_cubes + 1) + 1
    stack = Cubes(
        unset((depth + 1) * (n_trees + 1) + 1),
        unset(room),
        unset(room),
        floats(room),
        unset((depth + 1) * (n_entries + 1)),
    )
    tree, first, need, leaf, member = cubes
    to_tree, to_first, to_need, to_leaf, to_member = stack
    for t in range(n_trees + 1):
        to_tree[t] = tree[t]
    for i in range(n_cubes):
        to_first[i] = first[i]
        to_need[i] = need[i]
        to_leaf[i] = leaf[i]
    to_first[n_cubes] = n_entries
    for a in range(n_entries):
        to_member[a] = member[a]
    return stack


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
            value = here + single[j] + pair[pair_at(i, j)]
            if value <= limit:
                picks[depth] = i
                picks[depth + 1] = j
                record(found, picks, depth + 2, value)


@njit()
def search_cubes(size: int, n: int, n_trees: int, cubes: Any, constant: float, linear_root: Any, limit: float,
                 found: Any, work: Any) -> int:  # fmt: skip
    """Branch and bound for sets of ``size`` features: records all that bring the margin down to the limit.

    With ``size`` 0 it asks whether any set of any size does, and stops at the first. Gives 1 when such a set exists (or
    sets were recorded), 0 when it is proven that none does, -1 when the budget ended first.
    """
    probing = size == 0
    deepest = n if probing else size - 1
    base = 2 if n <= WIDEST_PAIRS and size > 2 else 1  # the number of last picks that one table answers at once
    stack = make_stack(cubes, n_trees, deepest)
    tree, first = stack.tree, stack.first
    cursor = found.cursor
    # After d picks: the trees trees[d]:trees[d + 1] of the stack, linear and constant parts, the margin as it stands.
    trees = ints(deepest + 2)
    linear = table(deepest + 1, n)
    constants, value = floats(deepest + 1), floats(deepest + 1)
    # The features to pick from, by weight; how many there are; which one is next.
    weight = table(deepest + 1, n)
    order = np.empty((deepest + 1, n), dtype=np.int64)
    n_left, following = ints(deepest + 1), ints(deepest + 1)
    out = flags(n)
    scratch = table(2, n)
    pair = floats((base - 1) * (n * (n - 1) >> 1))
    picks = ints(n)

    trees[1] = n_trees
    n_left[0] = n
    for i in range(n):
        order[0, i] = i
        linear[0, i] = linear_root[i]
        weight[0, i] = linear_root[i]
        scratch[0, i] = 0.0
        scratch[1, i] = 0.0
    for e in range(pair.shape[0]):
        pair[e] = 0.0
    constants[0] = constant
    depth = 0
    if size == 1:
        start = constant + expand_pairs(stack, trees[0], n_trees, linear[0], pair)
        scan_singles(order[0], depth, n, start, linear[0], limit, picks, depth, found)
        return 1 if cursor[1] > 0 else 0
    value[0] = constant + weigh(stack, trees[0], n_trees, scratch[0], scratch[1], weight[0])
    sort_by_weight(order[0], n, weight[0])
    while depth >= 0:
        left = n if probing else size - depth
        at = following[depth]
        rest = n_left[depth] - at - 1
        bound = value[depth]
        for a in range(at, n_left[depth] if probing or rest < left else at + left):
            effect = weight[depth, order[depth, a]]
            if effect < 0.0 or not probing:
                bound += effect
        if rest < 0 or (rest < left - 1 and not probing) or bound > limit:
            for a in range(at):
                out[order[depth, a]] = False
            depth -= 1
            continue
        pick = order[depth, at]
        following[depth] = at + 1
        picks[depth] = pick
        single = linear[depth + 1]
        for i in range(n):
            single[i] = linear[depth, i]
        end, extra = descend(stack, trees[depth], trees[depth + 1], pick, out, left - 1, single)
        out[pick] = True
        trees[depth + 2] = end
        constants[depth + 1] = constants[depth] + linear[depth, pick] + extra
        work[0] += 4 * (first[tree[trees[depth + 1]]] - first[tree[trees[depth]]]) + rest * 4 + 50
        if not probing and left == base + 1:
            work[0] += rest * rest
            if base == 2:
                for a in range(at + 1, n_left[depth]):
                    one = order[depth, a]
                    for b in range(at + 1, a):
                        pair[pair_at(one, order[depth, b])] = 0.0
            start = constants[depth + 1] + expand_pairs(stack, trees[depth + 1], end, single, pair)
            if base == 2:
                scan_pairs(order[depth], at + 1, n_left[depth], start, single, pair, limit, picks, depth + 1, found)
            else:
                scan_singles(order[depth], at + 1, n_left[depth], start, single, limit, picks, depth + 1, found)
            if cursor[1] > cursor[2]:
                return 1
        else:
            depth += 1
            for i in range(n):
                weight[depth, i] = single[i]
            value[depth] = constants[depth] + weigh(stack, trees[depth], end, scratch[0], scratch[1], weight[depth])
            if probing and value[depth] <= limit:
                return 1
            n_left[depth] = rest
            following[depth] = 0
            for a in range(rest):
                order[depth, a] = order[depth - 1, at + 1 + a]
            sort_by_weight(order[depth], rest, weight[depth])
        if work[0] > work[1]:
            return -1
    return 1 if cursor[1] > 0 else 0


@njit()
def flip_effects(n: int, cubes: Any, n_trees: int, linear: Any, chosen: Any, effect: Any) -> float:
    """Effect of moving each feature into or out of a set; gives the margin of the set without its constant part."""
    tree, first, need, leaf, member = cubes
    total = 0.0
    for g in range(n):
        effect[g] = linear[g]
        if chosen[g]:
            effect[g] = -linear[g]
            total += linear[g]
    for i in range(tree[n_trees]):
        middle = first[i] + need[i]
        wrong = 0
        last_wrong = 0
        for a in range(first[i], first[i + 1]):
            if chosen[member[a]] != (a < middle):
                wrong += 1
                last_wrong = member[a]
        if wrong == 0:
            total += leaf[i]
            for a in range(first[i], first[i + 1]):
                effect[member[a]] -= leaf[i]
        elif wrong == 1:
            effect[last_wrong] += leaf[i]
    return total


@njit()
def search_greedy(n: int, n_trees: int, cubes: Any, constant: float, linear: Any, sure: float, found: Any) -> bool:
    """Record one set that surely crosses, in place of all others, if greed finds one.

    The best feature is added until the margin is below ``sure``; then what is not needed is dropped again.
    """
    effect, chosen, picks = floats(n), flags(n), ints(n)
    adding = True
    value = 0.0
    for _ in range(2 * n + 1):
        value = constant + flip_effects(n, cubes, n_trees, linear, chosen, effect)
        adding = adding and not value < sure
        best = -1
        for g in range(n):
            useful = not chosen[g] if adding else chosen[g] and value + effect[g] < sure
            if useful and (best < 0 or effect[g] < effect[best]):
                best = g
        if best < 0:
            break
        chosen[best] = adding
    found.cursor[1] = 0
    if adding:
        return False
    size = 0
    for g in range(n):
        if chosen[g]:
            picks[size] = g
            size += 1
    record(found, picks, size, value)
    return True
