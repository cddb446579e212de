"""The kernels that Python calls; importing this module compiles them, or takes them from the cache.

Two kernels search: the narrow one has tables for small sets and narrow cubes, the wide one branches over cubes of any
width. They are apart because a kernel is compiled together with all that it calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._compile import njit
from sev.backends.trees._branch import search_cubes, search_greedy, sort_by_weight, weigh
from sev.backends.trees._collapse import collapse, margins, mark
from sev.backends.trees._cubic import least_partners, search_cubic
from sev.backends.trees._forms import ANSWERS, QUERIES, RULES, TREES, Cubes, Found, Groups, Path
from sev.backends.trees._tables import (
    WIDEST_PAIRS,
    WIDEST_TRIPLES,
    expand_pairs,
    expand_triples,
    scan_pairs,
    scan_singles,
    scan_triples,
)

__all__ = ["margins", "mark", "search_narrow", "search_wide"]

#: How the search for one row ended. WIDE: the wide kernel must go on; NARROW: the narrow one, a set is known to exist.
FOUND_SETS, NONE, TOO_LARGE, SPENT, WIDE, NARROW = 0, 1, 2, 3, 4, 5


@njit()
def prepare(trees: Any, n_features: int) -> Any:
    """Room for collapsing rows: cubes, path, groups and the state of each feature."""
    leaves, entries, depth = trees.sizes[0], trees.sizes[1], trees.sizes[2]
    cubes = Cubes(
        np.empty(trees.roots.shape[0] + 2, dtype=np.int64),
        np.empty(leaves + 2, dtype=np.int64),
        np.empty(leaves + 1, dtype=np.int64),
        np.empty(leaves + 1),
        np.empty(entries + 1, dtype=np.int64),
    )
    path = Path(
        np.empty(depth + 1, dtype=np.int64), np.empty(depth + 1, dtype=np.int64), np.empty(depth + 1, dtype=np.int64)
    )
    groups = Groups(np.empty(n_features, dtype=np.int64), np.empty(n_features, dtype=np.int64), np.empty(n_features))
    return cubes, path, groups, np.empty(n_features, dtype=np.int64)


@njit()
def begin_row(trees: Any, queries: Any, rules: Any, row: int, state: Any, path: Any, cubes: Any, groups: Any) -> Any:
    """Collapse the trees onto one row."""
    number, active = groups.number, queries.active
    for f in range(state.shape[0]):
        state[f] = 0 if active[row, f] else 3
        number[f] = -1
    return collapse(
        trees, queries.rows[row], queries.column_feature, rules.minus, rules.sign, state, path, cubes, groups
    )


@njit()
def end_row(row: int, outcome: int, proven: int, work: Any, cursor: Any, answers: Any) -> None:
    """Write down how the search for one row ended."""
    answers.outcome[row] = outcome
    answers.proven[row] = proven
    answers.work[row] = work[0]
    answers.first[row] = cursor[0]
    answers.count[row] = cursor[1]
    cursor[0] += cursor[1] if cursor[1] < cursor[2] else cursor[2]


@njit()
def order_groups(n: int, n_trees: int, cubes: Any, constant: float, groups: Any, limit: float) -> int:
    """Number the groups by what they can do at most; gives the fewest that could possibly reach the limit."""
    feature_of, linear = groups.feature, groups.linear
    member = cubes.groups
    numbers = np.zeros((4, n))
    weight, old_linear = numbers[2], numbers[3]
    places = np.empty((3, n), dtype=np.int64)
    order, place, old_feature = places[0], places[1], places[2]
    for g in range(n):
        order[g] = g
        weight[g] = linear[g]
        old_linear[g] = linear[g]
        old_feature[g] = feature_of[g]
    reach = constant + weigh(cubes, n - n, n_trees, numbers[0], numbers[1], weight)
    sort_by_weight(order, n, weight)
    needed = n + 1
    for a in range(n):
        reach += weight[order[a]]
        if reach <= limit and needed > n:
            needed = a + 1
        place[order[a]] = a
        feature_of[a] = old_feature[order[a]]
        linear[a] = old_linear[order[a]]
    for a in range(cubes.first[cubes.tree[n_trees]]):
        member[a] = place[member[a]]
    return needed


@njit()
def search_tables(k: int, n: int, n_trees: int, cubes: Any, constant: float, groups: Any, feasible: int, rules: Any,
                  found: Any, work: Any) -> tuple[int, int]:  # fmt: skip
    """Search sizes from ``k`` >= 3 on, up to 3 when some cube is wider than that; gives outcome and proven size."""
    needed = order_groups(n, n_trees, cubes, constant, groups, rules.limit)
    if needed > k:
        k = needed
    if k > n:
        return NONE, n
    if k > rules.max_size:
        return TOO_LARGE, rules.max_size
    linear, cursor = groups.linear, found.cursor
    table = np.zeros((n + 1, n))
    triple = np.zeros((n, n, n))
    single = table[n]
    for g in range(n):
        single[g] = linear[g]
    start = constant + expand_pairs(cubes, n - n, n_trees, single, table)
    widest = expand_triples(cubes, n_trees, triple)
    work[0] += n * n * n + 20 * cubes.tree[n_trees]
    if k == 3:
        scan_triples(n - n, n, start, single, table, triple, rules.limit, np.empty(3, dtype=np.int64), n - n, found)
        if cursor[1] > 0:
            return FOUND_SETS, 2
        k = 4
    partners = np.empty((2, n, n))
    if widest <= 3:
        least_partners(n, triple, partners[0], partners[1])
    while k <= n:
        if k > rules.max_size:
            return TOO_LARGE, rules.max_size
        if widest > 3 or (k > 4 and feasible == 0):  # beyond these tables; or first see whether any set crosses at all
            return WIDE, k - 1
        if not search_cubic(k, n, start, table, triple, partners[0], partners[1], rules.limit, found, work):
            return SPENT, k - 1
        if cursor[1] > 0:
            return FOUND_SETS, k - 1
        k += 1
    return NONE, n


@njit((TREES, QUERIES, RULES, ANSWERS))
def search_narrow(trees: Any, queries: Any, rules: Any, answers: Any) -> int:
    """Answer rows until all are answered or the room for sets is used up; gives how many were."""
    n_features = queries.active.shape[1]
    cubes, path, groups, state = prepare(trees, n_features)
    cursor = np.zeros(3, dtype=np.int64)
    found = Found(answers.masks, answers.values, groups.feature, cursor)
    cursor[2] = rules.max_sets
    order = np.empty(n_features, dtype=np.int64)
    for f in range(n_features):
        order[f] = f
    single = np.empty(n_features)
    dims = n_features if n_features < WIDEST_PAIRS else WIDEST_PAIRS
    pair = np.empty((dims, dims))
    picks = np.empty(2, dtype=np.int64)
    work = np.zeros(2, dtype=np.int64)
    for position in range(queries.todo.shape[0]):
        if cursor[0] + cursor[2] > answers.masks.shape[0]:
            return position
        row = queries.todo[position]
        n_trees, n, constant = begin_row(trees, queries, rules, row, state, path, cubes, groups)
        constant += rules.base
        cursor[1] = 0
        work[0] = cubes.first[cubes.tree[n_trees]] + n * n
        work[1] = queries.budget[row]
        k = queries.from_size[row]
        outcome, proven = WIDE, k - 1
        if n <= WIDEST_PAIRS and k <= 2:
            for i in range(n):
                single[i] = groups.linear[i]
                for j in range(i + 1, n):
                    pair[i, j] = 0.0
            start = constant + expand_pairs(cubes, n - n, n_trees, single, pair)
            if k <= 1:
                scan_singles(order, n - n, n, start, single, rules.limit, picks, n - n, found)
                k = 2
            if cursor[1] == 0 and rules.max_size >= 2:
                scan_pairs(order, n - n, n, start, single, pair, rules.limit, picks, n - n, found)
                k = 3
            if cursor[1] > 0:
                outcome, proven = FOUND_SETS, k - 2
        if cursor[1] == 0:
            if k > n:
                outcome, proven = NONE, n
            elif k > rules.max_size:
                outcome, proven = TOO_LARGE, rules.max_size
            elif n <= WIDEST_TRIPLES:
                outcome, proven = search_tables(
                    k, n, n_trees, cubes, constant, groups, queries.feasible[row], rules, found, work
                )
            else:
                proven = k - 1
        end_row(row, outcome, proven, work, cursor, answers)
    return queries.todo.shape[0]


@njit()
def search_levels(k: int, n: int, n_trees: int, cubes: Any, constant: float, groups: Any, feasible: int, rules: Any,
                  found: Any, work: Any) -> tuple[int, int]:  # fmt: skip
    """Search sizes from ``k`` on by branch and bound; gives outcome and proven size."""
    needed = order_groups(n, n_trees, cubes, constant, groups, rules.limit)
    if needed > k:
        k = needed
    narrow = n <= WIDEST_TRIPLES
    for i in range(cubes.tree[n_trees]):
        narrow = narrow and cubes.first[i + 1] - cubes.first[i] <= 3
    share = np.empty(2, dtype=np.int64)
    probing = 0  # the size to search next; 0: ask first whether any set crosses at all
    while k <= n:
        if k > rules.max_size:
            return TOO_LARGE, rules.max_size
        probing = k
        if k > 4 and feasible == 0:
            if search_greedy(n, n_trees, cubes, constant, groups.linear, rules.sure, found):
                feasible = 1
                found.cursor[1] = 0
            else:
                probing = 0
        if probing > 0 and narrow:
            return NARROW, k - 1
        share[0] = 0
        share[1] = work[1] - work[0]
        if probing == 0 and share[1] > work[0] + 100_000:
            share[1] = work[0] + 100_000
        answer = search_cubes(probing, n, n_trees, cubes, constant, groups.linear, rules.limit, found, share)
        work[0] += share[0]
        if probing == 0:
            if answer == 0:
                return NONE, n
            feasible = 1  # known, or not worth asking again: the levels below will tell
            continue
        if answer < 0:
            return SPENT, k - 1
        if answer > 0:
            return FOUND_SETS, k - 1
        k += 1
    return NONE, n


@njit((TREES, QUERIES, RULES, ANSWERS))
def search_wide(trees: Any, queries: Any, rules: Any, answers: Any) -> int:
    """Answer rows until all are answered or the room for sets is used up; gives how many were."""
    cubes, path, groups, state = prepare(trees, queries.active.shape[1])
    cursor = np.zeros(3, dtype=np.int64)
    found = Found(answers.masks, answers.values, groups.feature, cursor)
    cursor[2] = rules.max_sets
    work = np.zeros(2, dtype=np.int64)
    for position in range(queries.todo.shape[0]):
        if cursor[0] + cursor[2] > answers.masks.shape[0]:
            return position
        row = queries.todo[position]
        n_trees, n, constant = begin_row(trees, queries, rules, row, state, path, cubes, groups)
        constant += rules.base
        cursor[1] = 0
        work[0] = cubes.first[cubes.tree[n_trees]]
        work[1] = queries.budget[row]
        outcome, proven = search_levels(
            queries.from_size[row], n, n_trees, cubes, constant, groups, queries.feasible[row], rules, found, work
        )
        if outcome == SPENT:
            search_greedy(n, n_trees, cubes, constant, groups.linear, rules.sure, found)
        end_row(row, outcome, proven, work, cursor, answers)
    return queries.todo.shape[0]
