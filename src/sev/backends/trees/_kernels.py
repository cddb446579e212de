"""The kernels that every search needs; importing this module compiles them, or takes them from the cache.

The kernel here has tables for small sets and narrow cubes. The one in ``_wide.py`` branches over cubes of any width; it
is compiled when a row first needs it, so that nobody waits for both at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._compile import njit
from sev.backends.trees._branch import search_greedy
from sev.backends.trees._collapse import margins, mark
from sev.backends.trees._cubic import least_partners, search_cubic
from sev.backends.trees._forms import ANSWERS, QUERIES, RULES, TREES, Found
from sev.backends.trees._rows import (
    FOUND_SETS,
    NARROW,
    NONE,
    SPENT,
    TOO_LARGE,
    WIDE,
    begin_row,
    end_row,
    order_groups,
    prepare,
)
from sev.backends.trees._tables import (
    WIDEST_PAIRS,
    WIDEST_TRIPLES,
    expand_pairs,
    expand_triples,
    scan_pairs,
    scan_singles,
    scan_triples,
)

__all__ = ["FOUND_SETS", "NARROW", "NONE", "SPENT", "TOO_LARGE", "WIDE", "margins", "mark", "search_narrow"]


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
        if widest > 3:
            return WIDE, k - 1
        if k > 4 and feasible == 0:  # a quick look for any set at all; without one the other kernel looks for a proof
            if not search_greedy(n, n_trees, cubes, constant, linear, rules.sure, found):
                return WIDE, k - 1
            feasible = 1
            cursor[1] = 0
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
