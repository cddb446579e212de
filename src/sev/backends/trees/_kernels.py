"""The kernels that every search needs; importing this module compiles them, or takes them from the cache.

The kernel here has tables for small sets and narrow cubes. The one in ``_wide.py`` branches over cubes of any width; it
is compiled when a row first needs it, so that nobody waits for both at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._compile import njit
from sev.backends.trees._collapse import margins, mark
from sev.backends.trees._cubic import any_set, least_partners, mark_viable, search_cubic
from sev.backends.trees._forms import ANSWERS, PATTERNS, QUERIES, RULES, TREES, Found
from sev.backends.trees._lookup import add_terms, add_triples, read_codes
from sev.backends.trees._rows import (
    FOUND_SETS,
    NARROW,
    NONE,
    SPENT,
    TOO_LARGE,
    WIDE,
    begin_row,
    end_row,
    prepare,
)
from sev.backends.trees._tables import (
    WIDEST_CUBIC,
    WIDEST_PAIRS,
    WIDEST_TRIPLES,
    arrange,
    clear_triples,
    expand_pairs,
    expand_triples,
    scan_small,
    scan_triples,
)

__all__ = ["FOUND_SETS", "NARROW", "NONE", "SPENT", "TOO_LARGE", "WIDE", "margins", "mark", "search_narrow"]

#: Work that the question whether any set exists may always take.
_PROOF_WORK = 5_000


@njit()
def search_tables(k: int, n: int, start: float, single: Any, pair: Any, triple: Any, met: Any, widest: int, rules: Any,
                  found: Any, work: Any) -> tuple[int, int]:  # fmt: skip
    """Search sizes from ``k`` >= 3 on, up to 3 when some cube is wider than that; gives outcome and proven size."""
    cursor = found.cursor
    work[0] += n * n * n
    partners, room = np.empty((3, n * n)), np.empty((4, n * n))
    least, second, third = partners[0], partners[1], partners[2]
    least_partners(n, triple, met, least, second, third)
    if k == 3 and n >= 3:
        viable, picks = np.empty(n, dtype=np.bool_), np.empty(3, dtype=np.int64)
        mark_viable(n, 3, rules.limit - start, single, pair, least, second, room, viable)
        scan_triples(n, viable, start, single, pair, triple, rules.limit, picks, n - n, room, found)
        if cursor[1] > 0:
            return FOUND_SETS, 2
    k = max(k, 4)
    exists = -1
    while k <= n:
        if k > rules.max_size:
            return TOO_LARGE, rules.max_size
        if widest > 3:
            return WIDE, k - 1
        if k > 4 and exists < 0:
            # as long as this is open, it may take as much as the search has taken so far
            exists = any_set(n, start, single, pair, triple, third, rules.limit, work, 2 * work[0] + _PROOF_WORK)
            if exists == 0:
                return NONE, n
        if not search_cubic(k, n, start, single, pair, triple, partners, rules.limit, found, work):
            return SPENT, k - 1
        if cursor[1] > 0:
            return FOUND_SETS, k - 1
        k += 1
    return NONE, n


@njit((TREES, PATTERNS, QUERIES, RULES, ANSWERS))
def search_narrow(trees: Any, patterns: Any, queries: Any, rules: Any, answers: Any) -> int:
    """Answer rows until all are answered or the room for sets is used up; gives how many were.

    The tables of a row come from the patterns of its trees if there are any, else from walking the trees.
    """
    n_features = queries.active.shape[1]
    looked_up = patterns.first_code.shape[0] > 0
    codes = np.empty(patterns.passed.shape[1], dtype=np.uint64)
    cubes, path, groups, state = prepare(trees, n_features)
    names = groups.feature
    cursor = np.zeros(3, dtype=np.int64)
    cursor[2] = rules.max_sets
    found = Found(answers.masks, answers.values, names, cursor)
    most = min(n_features, WIDEST_PAIRS)
    table = np.empty((most * (most + 1) >> 1) + 1)
    narrow = trees.sizes[2] <= 3
    most = min(n_features, WIDEST_CUBIC if narrow else WIDEST_TRIPLES)
    small = np.empty(most * (most + 1) >> 1)
    small_single, small_pair = small[:most], small[most:]
    triple = np.zeros(most * (most - 1) * (most - 2) // 6)
    met = np.zeros(triple.shape[0] + 2, dtype=np.int64)
    usable = np.ones(n_features, dtype=np.bool_)
    picks, work = np.empty(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    for position in range(queries.todo.shape[0]):
        if cursor[0] + cursor[2] > answers.masks.shape[0]:
            return position
        row = queries.todo[position]
        k = queries.from_size[row]
        cursor[1] = 0
        work[1] = queries.budget[row]
        n = n_features
        n_trees = 0
        constant = 0.0
        if looked_up:
            usable = queries.active[row]
            for f in range(n):
                names[f] = f
            read_codes(patterns, queries.rows[row], codes)
        else:
            n_trees, n, constant = begin_row(trees, queries, rules, row, state, path, cubes, groups)
            if n > WIDEST_PAIRS:
                end_row(row, WIDE, k - 1, work, cursor, answers)
                continue
        single, pair = table[:n], table[n:]
        for e in range(np.uint64(n * (n + 1) >> 1)):
            table[e] = 0.0
        if looked_up:
            start = rules.base + add_terms(patterns, codes, table)
            work[0] = n * n
        else:
            for i in range(n):
                single[i] = groups.linear[i]
            start = rules.base + constant + expand_pairs(cubes, n - n, n_trees, single, pair)
            work[0] = cubes.first[cubes.tree[n_trees]] + n * n
        k = scan_small(k, rules.max_size, n, usable, start, single, pair, rules.limit, picks, found)
        if cursor[1] > 0:
            outcome, proven = FOUND_SETS, k - 2
        elif k > n:
            outcome, proven = NONE, n
        elif k > rules.max_size:
            outcome, proven = TOO_LARGE, rules.max_size
        elif looked_up and not narrow:
            outcome, proven = NARROW, k - 1
        else:
            m = arrange(n, usable, single, pair, names, state, small_single, small_pair)
            outcome, proven = WIDE, k - 1
            if m >= 0:
                widest = 3
                if looked_up:
                    add_triples(patterns, codes, state, triple, met)
                else:
                    widest = expand_triples(cubes, n_trees, state, triple, met)
                outcome, proven = search_tables(
                    k, m, start, small_single, small_pair, triple, met, widest, rules, found, work
                )
                clear_triples(m, triple, met)
        if looked_up and outcome == TOO_LARGE:  # no larger set may exist: only a walk sees which features were met
            outcome = NARROW
        end_row(row, outcome, proven, work, cursor, answers)
    return queries.todo.shape[0]
