"""The kernels that every search needs.

The one here has tables for small sets and narrow cubes. The one in ``_wide.py`` branches over cubes of any width; its
machine code is made when a row first needs it, so that nobody waits for both at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev.backends.trees._collapse import margins, mark
from sev.backends.trees._cubic import any_set, least_partners, mark_viable, search_cubic
from sev.backends.trees._forms import ANSWERS, PATTERNS, QUERIES, RULES, TREES, Found
from sev.backends.trees._lookup import add_terms, add_triples, read_codes
from sev.backends.trees._outcomes import FOUND_SETS, NARROW, NONE, SPENT, TOO_LARGE, WIDE
from sev.backends.trees._room import flags, floats, ints, table
from sev.backends.trees._rows import begin_row, end_row, prepare
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
from sev.kernels.source import njit

__all__ = ["margins", "mark", "search_narrow"]

#: Work that the question whether any set exists may always take.
_PROOF_WORK = 5_000


@njit()
def search_tables(k: int, n: int, start: float, single: Any, pair: Any, triple: Any, met: Any, widest: int, rules: Any,
                  found: Any, work: Any) -> tuple[int, int]:  # fmt: skip
    """Search sizes from ``k`` >= 3 on, up to 3 when some cube is wider than that; gives outcome and proven size."""
    cursor = found.cursor
    work[0] += n * n * n
    partners, room = table(3, n * n), table(4, n * n)
    least, second, third = partners[0], partners[1], partners[2]
    least_partners(n, triple, met, least, second, third)
    if k == 3 and n >= 3:
        viable, picks = flags(n), ints(3)
        mark_viable(n, 3, rules.limit - start, single, pair, least, second, room, viable)
        scan_triples(n, viable, start, single, pair, triple, rules.limit, picks, 0, room, found)
        if cursor[1] > 0:
            return FOUND_SETS, 2
    k = k if k > 4 else 4
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


@njit(TREES, PATTERNS, QUERIES, RULES, ANSWERS)
def search_narrow(trees: Any, patterns: Any, queries: Any, rules: Any, answers: Any) -> int:
    """Answer rows until all are answered or the room for sets is used up; gives how many were.

    The tables of a row come from the patterns of its trees if there are any, else from walking the trees.
    """
    n_features = queries.active.shape[1]
    looked_up = patterns.first_code.shape[0] > 0
    codes = np.empty(patterns.passed.shape[1], dtype=np.uint64)
    cubes, path, groups, state = prepare(trees, n_features)
    names = groups.feature
    cursor = ints(3)
    cursor[2] = rules.max_sets
    found = Found(answers.masks, answers.values, names, cursor)
    most = n_features if n_features < WIDEST_PAIRS else WIDEST_PAIRS
    small_sets = floats((most * (most + 1) >> 1) + 1)
    narrow = trees.sizes[2] <= 3
    most = WIDEST_CUBIC if narrow else WIDEST_TRIPLES
    most = n_features if n_features < most else most
    small_single, small_pair = floats(most), floats(most * (most - 1) >> 1)
    triple = floats(most * (most - 1) * (most - 2) // 6)
    for e in range(triple.shape[0]):
        triple[e] = 0.0
    met = ints(triple.shape[0] + 2)
    usable = flags(n_features)
    for f in range(n_features):
        usable[f] = True
    picks, work = ints(2), ints(2)
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
        single, pair = small_sets[:n], small_sets[n:]
        for e in range(np.uint64(n * (n + 1) >> 1)):
            small_sets[e] = 0.0
        if looked_up:
            start = rules.base + add_terms(patterns, codes, small_sets)
            work[0] = n * n
        else:
            for i in range(n):
                single[i] = groups.linear[i]
            start = rules.base + constant + expand_pairs(cubes, 0, n_trees, single, pair)
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
