"""The kernel that ends a search which takes too long: one table with the margin of every set of up to 22 features.

A cube is a polynomial in "feature i is in the set". Its coefficients, added up over all subsets of a set, give the
margin of the set: for n features and all sets at once that takes n times 2^n additions (Yates), however hard the row
is. Rounding is not watched in the table: what it says may cross, up to the slack, is added up once more cube by cube.
"""

from __future__ import annotations

from typing import Any

from sev.backends.trees._branch import flip_effects
from sev.backends.trees._forms import ANSWERS, QUERIES, RULES, TREES, VECTOR, Found
from sev.backends.trees._outcomes import FOUND_SETS, NONE, TOO_LARGE
from sev.backends.trees._room import flags, floats, ints
from sev.backends.trees._rows import begin_row, end_row, prepare
from sev.backends.trees._tables import EPSILON, record
from sev.kernels.source import njit


@njit()
def size_of(chosen: int) -> int:
    """How many bits of 32 are set."""
    chosen -= (chosen >> 1) & 0x55555555
    chosen = (chosen & 0x33333333) + ((chosen >> 2) & 0x33333333)
    return (((chosen + (chosen >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24) & 0xFF


@njit()
def fill(n: int, n_trees: int, cubes: Any, constant: float, linear: Any, sums: Any) -> float:
    """Write the margin of every set of n features into a table; gives a bound on what rounding has done to it."""
    tree, first, need, leaf, member = cubes
    for at in range(1 << n):
        sums[at] = 0.0
    sums[0] = constant
    total = abs(constant)
    for g in range(n):
        sums[1 << g] = linear[g]
        total += abs(linear[g])
    for i in range(tree[n_trees]):
        inside = 0
        outside = 0
        for a in range(first[i], first[i] + need[i]):
            inside |= 1 << member[a]
        for a in range(first[i] + need[i], first[i + 1]):
            outside |= 1 << member[a]
        some = outside
        while True:
            sums[inside | some] += -leaf[i] if size_of(some) & 1 else leaf[i]
            total += abs(leaf[i])
            if some == 0:
                break
            some = (some - 1) & outside
    for g in range(n):
        step = 1 << g
        for begin in range(0, 1 << n, 2 * step):
            for at in range(begin, begin + step):
                sums[at + step] += sums[at]
    return EPSILON * total * (tree[n_trees] + 2 * n + 2)


@njit()
def least_size(n: int, k: int, loose: float, sums: Any) -> int:
    """The smallest size from ``k`` on of a set that may cross; ``n + 1`` when there is none."""
    least = n + 1
    for at in range(1 << n):
        if sums[at] <= loose:
            size = size_of(at)
            if k <= size < least:
                least = size
    return least


@njit()
def record_all(k: int, n: int, n_trees: int, cubes: Any, constant: float, linear: Any, sums: Any, loose: float,
               limit: float, found: Any) -> None:  # fmt: skip
    """Record every set of ``k`` features that may cross and does, added up cube by cube."""
    chosen, effect, picks = flags(n), floats(n), ints(n)
    for at in range(1 << n):
        if sums[at] > loose or size_of(at) != k:
            continue
        size = 0
        for g in range(n):
            chosen[g] = (at >> g) & 1 == 1
            if chosen[g]:
                picks[size] = g
                size += 1
        value = constant + flip_effects(n, cubes, n_trees, linear, chosen, effect)
        if value <= limit:
            record(found, picks, k, value)
        if found.cursor[1] > found.cursor[2]:
            return


@njit(TREES, QUERIES, RULES, ANSWERS, VECTOR)
def search_dense(trees: Any, queries: Any, rules: Any, answers: Any, sums: Any) -> int:
    """Answer rows until all are answered or the room for sets is used up; gives how many were.

    ``sums`` has room for all sets of the features in which a row differs from the reference.
    """
    cubes, path, groups, state = prepare(trees, queries.active.shape[1])
    cursor, work = ints(3), ints(2)
    found = Found(answers.masks, answers.values, groups.feature, cursor)
    cursor[2] = rules.max_sets
    for position in range(queries.todo.shape[0]):
        if cursor[0] + cursor[2] > answers.masks.shape[0]:
            return position
        row = queries.todo[position]
        n_trees, n, constant = begin_row(trees, queries, rules, row, state, path, cubes, groups)
        constant += rules.base
        loose = rules.limit + fill(n, n_trees, cubes, constant, groups.linear, sums)
        cursor[1] = 0
        work[0] = n << n
        k = least_size(n, queries.from_size[row], loose, sums)
        while cursor[1] == 0 and k <= n and k <= rules.max_size:
            record_all(k, n, n_trees, cubes, constant, groups.linear, sums, loose, rules.limit, found)
            k = least_size(n, k + 1, loose, sums) if cursor[1] == 0 else k
        outcome, proven = FOUND_SETS, k - 1
        if cursor[1] == 0:
            outcome, proven = (NONE, n) if k > n else (TOO_LARGE, rules.max_size)
        end_row(row, outcome, proven, work, cursor, answers)
    return queries.todo.shape[0]
