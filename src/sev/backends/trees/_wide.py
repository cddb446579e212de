"""The kernel for rows that need more than tables: sizes from three on over cubes of any width."""

from __future__ import annotations

from typing import Any

from sev.backends.trees._branch import search_cubes, search_greedy
from sev.backends.trees._forms import ANSWERS, QUERIES, RULES, TREES, Found
from sev.backends.trees._levels import NEVER, features_of_trees, level_work, search_level
from sev.backends.trees._outcomes import FOUND_SETS, NONE, SPENT, TOO_LARGE
from sev.backends.trees._room import ints
from sev.backends.trees._rows import begin_row, end_row, order_groups, prepare
from sev.kernels.source import njit


@njit()
def search_levels(k: int, n: int, n_trees: int, cubes: Any, constant: float, groups: Any, rules: Any, found: Any,
                  work: Any) -> tuple[int, int]:  # fmt: skip
    """Search sizes from ``k`` on, each by tables or branch and bound, or first one and then the other.

    Gives outcome and proven size.
    """
    needed = order_groups(n, n_trees, cubes, constant, groups, rules.limit)
    if needed > k:
        k = needed
    if work[0] > work[1]:
        return SPENT, k - 1
    share = ints(2)
    features = features_of_trees(n, n_trees, cubes)
    feasible = 0  # 1: some set crosses, or it is not worth asking
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
        share[0] = 0
        share[1] = work[1] - work[0]
        if probing == 0 and share[1] > work[0] + 100_000:
            share[1] = work[0] + 100_000
        by_level = level_work(probing, n, n_trees, features) if rules.by_level == 1 else NEVER
        affordable = by_level <= share[1]
        answer = -1
        if not affordable or by_level > 4 * n * cubes.first[cubes.tree[n_trees]]:  # more than one round of first picks
            share[1] = min(share[1], by_level)
            answer = search_cubes(probing, n, n_trees, cubes, constant, groups.linear, rules.limit, found, share)
            work[0] += share[0]
        if answer < 0 and affordable:
            found.cursor[1] = 0
            search_level(probing, n, n_trees, cubes, features, constant, groups.linear, rules.limit, found)
            work[0] += by_level
            answer = 1 if found.cursor[1] > 0 else 0
        if probing == 0:
            if answer == 0:
                return NONE, n
            feasible = 1
            continue
        if answer < 0:
            return SPENT, k - 1
        if answer > 0:
            return FOUND_SETS, k - 1
        k += 1
    return NONE, n


@njit(TREES, QUERIES, RULES, ANSWERS)
def search_wide(trees: Any, queries: Any, rules: Any, answers: Any) -> int:
    """Answer rows until all are answered or the room for sets is used up; gives how many were."""
    cubes, path, groups, state = prepare(trees, queries.active.shape[1])
    cursor = ints(3)
    found = Found(answers.masks, answers.values, groups.feature, cursor)
    cursor[2] = rules.max_sets
    work = ints(2)
    for position in range(queries.todo.shape[0]):
        if cursor[0] + cursor[2] > answers.masks.shape[0]:
            return position
        row = queries.todo[position]
        n_trees, n, constant = begin_row(trees, queries, rules, row, state, path, cubes, groups)
        constant += rules.base
        cursor[1] = 0
        work[0] = cubes.first[cubes.tree[n_trees]]
        work[1] = queries.budget[row]
        outcome, proven = search_levels(queries.from_size[row], n, n_trees, cubes, constant, groups, rules, found, work)
        if outcome == SPENT:
            search_greedy(n, n_trees, cubes, constant, groups.linear, rules.sure, found)
        end_row(row, outcome, proven, work, cursor, answers)
    return queries.todo.shape[0]
