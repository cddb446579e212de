"""The kernels that Python calls; importing this module compiles them, or takes them from the cache.

Two kernels search: the narrow one has tables for small sets and narrow cubes, the wide one branches over cubes of any
width. They are apart because a kernel is compiled together with all that it calls, each time anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._compile import njit
from sev.backends.trees._branch import search_cubes, search_greedy, sort_by_weight, weigh
from sev.backends.trees._collapse import collapse, mark_reference, sum_leaves
from sev.backends.trees._cubic import least_partners, search_cubic
from sev.backends.trees._forms import (
    ANSWERS, FLOAT, INTS, MATRIX, QUERIES, RULES, TREES, VECTOR, Cubes, Found, Groups, Path,
)  # fmt: skip
from sev.backends.trees._tables import (
    WIDEST_PAIRS,
    WIDEST_TRIPLES,
    expand_pairs,
    expand_triples,
    record,
    scan_pairs,
    scan_singles,
    scan_triples,
)

#: How the search for one row ended. WIDE: the wide kernel must go on; NARROW: the narrow one, a set is known to exist.
FOUND_SETS, NONE, TOO_LARGE, SPENT, WIDE, NARROW = 0, 1, 2, 3, 4, 5


@njit((TREES, VECTOR, INTS))
def mark(trees: Any, reference: Any, marked: Any) -> None:
    """Copy the nodes with the direction of the reference written in."""
    mark_reference(trees, reference, marked)


@njit((TREES, MATRIX, FLOAT, VECTOR))
def margins(trees: Any, rows: Any, base: float, sums: Any) -> None:
    """Margin of each row."""
    sum_leaves(trees, rows, base, sums)


@njit()
def prepare(trees: Any, n_features: int) -> Any:
    """Room for collapsing rows: cubes, path, groups and the state of each feature."""
    leaves, entries, depth = trees.sizes[0], trees.sizes[1], trees.sizes[2]
    cubes = Cubes(
        np.empty(trees.roots.shape[0] + 2, dtype=np.int64),
        np.empty(leaves + 2, dtype=np.int64),
        np.empty(leaves + 1, dtype=np.int64),
        np.empty(leaves + 1, dtype=np.float64),
        np.empty(entries + 1, dtype=np.int32),
    )
    path = Path(np.empty(depth + 1, np.int64), np.empty(depth + 1, np.int64), np.empty(depth + 1, np.int64))
    groups = Groups(np.empty(n_features, np.int64), np.empty(n_features, np.int64), np.empty(n_features))
    return cubes, path, groups, np.empty(n_features, dtype=np.int64)


@njit()
def begin_row(trees: Any, queries: Any, rules: Any, row: int, state: Any, path: Any, cubes: Any, groups: Any) -> Any:
    """Collapse the trees onto one row."""
    for f in range(state.shape[0]):
        state[f] = 0 if queries.active[row, f] else 3
        groups.number[f] = -1
    return collapse(
        trees, queries.rows[row], queries.feature_of_column, rules.minus, rules.sign, state, path, cubes, groups
    )


@njit()
def end_row(row: int, outcome: int, proven: int, work: Any, found: Any, answers: Any) -> None:
    """Write down how the search for one row ended."""
    answers.outcome[row] = outcome
    answers.proven[row] = proven
    answers.work[row] = work[0]
    answers.first[row] = found.cursor[0]
    answers.count[row] = found.cursor[1]
    found.cursor[0] += min(found.cursor[1], found.cursor[2])


@njit()
def order_groups(n: int, n_trees: int, cubes: Any, constant: float, groups: Any, limit: float) -> int:
    """Number the groups by what they can do at most; gives the fewest that could possibly reach the limit."""
    zero = np.int64(0)
    weight = np.empty(n)
    order = np.empty(n, dtype=np.int64)
    place = np.empty(n, dtype=np.int64)
    feature = np.empty(n, dtype=np.int64)
    linear = np.empty(n)
    for g in range(n):
        weight[g] = groups.linear[g]
        order[g] = g
        feature[g] = groups.feature[g]
        linear[g] = groups.linear[g]
    reach = constant + weigh(cubes, zero, n_trees, np.zeros(n), np.zeros(n), weight)
    sort_by_weight(order, zero, n, weight)
    needed = n + 1
    for a in range(n):
        reach += weight[order[a]]
        if reach <= limit and needed > n:
            needed = a + 1
        place[order[a]] = a
        groups.feature[a] = feature[order[a]]
        groups.linear[a] = linear[order[a]]
    for a in range(cubes.first[cubes.tree[n_trees]]):
        cubes.groups[a] = place[cubes.groups[a]]
    return needed


@njit()
def settle(n: int, n_trees: int, cubes: Any, constant: float, groups: Any, sure: float, found: Any) -> bool:
    """Record one set that surely crosses, in place of all others, if the greedy search finds one."""
    chosen = np.zeros(n, dtype=np.bool_)
    value = search_greedy(n, n_trees, cubes, constant, groups.linear, sure, chosen)
    found.cursor[1] = 0
    if value == np.inf:
        return False
    picks = np.empty(n, dtype=np.int64)
    size = 0
    for g in range(n):
        if chosen[g]:
            picks[size] = g
            size += 1
    record(found, picks, size, value)
    return True


@njit()
def search_tables(
    k: int, n: int, n_trees: int, cubes: Any, constant: float, groups: Any, feasible: int, rules: Any, found: Any, work: Any
) -> tuple[int, int]:
    """Search sizes from ``k`` >= 3 on, up to 3 when some cube is wider than that; gives outcome and proven size."""
    zero = np.int64(0)
    k = max(k, order_groups(n, n_trees, cubes, constant, groups, rules.limit))
    if k > n:
        return NONE, n
    if k > rules.max_size:
        return TOO_LARGE, rules.max_size
    single = np.empty(n)
    for g in range(n):
        single[g] = groups.linear[g]
    pair = np.zeros((n, n))
    triple = np.zeros((n, n, n))
    start = constant + expand_pairs(cubes, zero, n_trees, single, pair)
    widest = expand_triples(cubes, n_trees, triple)
    work[0] += n * n * n + 20 * cubes.tree[n_trees]
    if k == 3:
        scan_triples(zero, n, start, single, pair, triple, rules.limit, np.empty(3, np.int64), zero, found)
        if found.cursor[1] > 0:
            return FOUND_SETS, k - 1
        k = 4
    least = np.empty((n, n))
    second = np.empty((n, n))
    if widest <= 3:
        least_partners(n, triple, least, second)
    while k <= n:
        if k > rules.max_size:
            return TOO_LARGE, rules.max_size
        if widest > 3:
            return WIDE, k - 1
        if k > 4 and feasible == 0:  # is there any set at all?
            feasible = settle(n, n_trees, cubes, constant, groups, rules.sure, found)
            found.cursor[1] = 0
            if feasible == 0:
                return WIDE, k - 1
        if not search_cubic(k, n, start, single, pair, triple, least, second, rules.limit, found, work):
            return SPENT, k - 1
        if found.cursor[1] > 0:
            return FOUND_SETS, k - 1
        k += 1
    return NONE, n


@njit((TREES, QUERIES, RULES, ANSWERS))
def search_narrow(trees: Any, queries: Any, rules: Any, answers: Any) -> int:
    """Answer rows until all are answered or the room for sets is used up; gives how many were."""
    zero = np.int64(0)
    n_features = queries.active.shape[1]
    cubes, path, groups, state = prepare(trees, n_features)
    found = Found(answers.masks, answers.values, groups.feature, np.zeros(3, dtype=np.int64))
    found.cursor[2] = rules.max_sets
    order = np.arange(n_features)
    single = np.empty(n_features)
    pair_room = np.empty(min(n_features, WIDEST_PAIRS) ** 2)
    picks = np.empty(2, dtype=np.int64)
    work = np.zeros(2, dtype=np.int64)
    for position in range(queries.todo.shape[0]):
        if found.cursor[0] + rules.max_sets > answers.masks.shape[0]:
            return position
        row = queries.todo[position]
        n_trees, n, constant = begin_row(trees, queries, rules, row, state, path, cubes, groups)
        constant += rules.base
        found.cursor[1] = 0
        work[0] = cubes.first[cubes.tree[n_trees]] + n * n
        work[1] = queries.budget[row]
        k = queries.from_size[row]
        outcome, proven = NONE, n
        if n > WIDEST_PAIRS:
            end_row(row, WIDE, k - 1, work, found, answers)
            continue
        if k <= 2:
            for g in range(n):
                single[g] = groups.linear[g]
            for a in range(n * n):
                pair_room[a] = 0.0
            pair = pair_room[: n * n].reshape((n, n))
            start = constant + expand_pairs(cubes, zero, n_trees, single, pair)
            if k <= 1:
                scan_singles(order, zero, n, start, single, rules.limit, picks, zero, found)
                k = 2
            if found.cursor[1] == 0 and rules.max_size >= 2:
                scan_pairs(order, zero, n, start, single, pair, rules.limit, picks, zero, found)
                k = 3
        if found.cursor[1] > 0:
            outcome, proven = FOUND_SETS, k - 2
        elif k <= n and k > rules.max_size:
            outcome, proven = TOO_LARGE, rules.max_size
        elif k <= n and n > WIDEST_TRIPLES:
            outcome, proven = WIDE, k - 1
        elif k <= n:
            outcome, proven = search_tables(
                k, n, n_trees, cubes, constant, groups, queries.feasible[row], rules, found, work
            )
        if outcome == SPENT:
            settle(n, n_trees, cubes, constant, groups, rules.sure, found)
        end_row(row, outcome, proven, work, found, answers)
    return queries.todo.shape[0]


@njit()
def search_levels(
    k: int, n: int, n_trees: int, cubes: Any, constant: float, groups: Any, feasible: int, rules: Any, found: Any, work: Any
) -> tuple[int, int]:
    """Search sizes from ``k`` on by branch and bound; gives outcome and proven size."""
    k = max(k, order_groups(n, n_trees, cubes, constant, groups, rules.limit))
    narrow = n <= WIDEST_TRIPLES
    for i in range(cubes.tree[n_trees]):
        narrow = narrow and cubes.first[i + 1] - cubes.first[i] <= 3
    while k <= n:
        if k > rules.max_size:
            return TOO_LARGE, rules.max_size
        if k > 4 and feasible == 0:  # is there any set at all? a quick yes, or else try to prove that there is none
            if settle(n, n_trees, cubes, constant, groups, rules.sure, found):
                feasible = 1
            else:
                share = np.array([0, max(work[0], 100_000)])
                answer = search_cubes(np.int64(0), n, n_trees, cubes, constant, groups.linear, rules.limit, found, share)
                work[0] += share[0]
                if answer == 0:
                    return NONE, n
                feasible = max(0, answer)
            found.cursor[1] = 0
        if narrow:
            return NARROW, k - 1
        if search_cubes(k, n, n_trees, cubes, constant, groups.linear, rules.limit, found, work) < 0:
            return SPENT, k - 1
        if found.cursor[1] > 0:
            return FOUND_SETS, k - 1
        k += 1
    return NONE, n


@njit((TREES, QUERIES, RULES, ANSWERS))
def search_wide(trees: Any, queries: Any, rules: Any, answers: Any) -> int:
    """Answer rows until all are answered or the room for sets is used up; gives how many were."""
    cubes, path, groups, state = prepare(trees, queries.active.shape[1])
    found = Found(answers.masks, answers.values, groups.feature, np.zeros(3, dtype=np.int64))
    found.cursor[2] = rules.max_sets
    work = np.zeros(2, dtype=np.int64)
    for position in range(queries.todo.shape[0]):
        if found.cursor[0] + rules.max_sets > answers.masks.shape[0]:
            return position
        row = queries.todo[position]
        n_trees, n, constant = begin_row(trees, queries, rules, row, state, path, cubes, groups)
        constant += rules.base
        found.cursor[1] = 0
        work[0] = cubes.first[cubes.tree[n_trees]]
        work[1] = queries.budget[row]
        outcome, proven = search_levels(
            queries.from_size[row], n, n_trees, cubes, constant, groups, queries.feasible[row], rules, found, work
        )
        if outcome == SPENT:
            settle(n, n_trees, cubes, constant, groups, rules.sure, found)
        end_row(row, outcome, proven, work, found, answers)
    return queries.todo.shape[0]
