"""Kernels around the search for one row: room, collapse, order of the features, and the written answer."""

from __future__ import annotations

from typing import Any

from sev.backends.trees._branch import sort_by_weight, weigh
from sev.backends.trees._collapse import collapse
from sev.backends.trees._forms import Cubes, Groups, Path
from sev.backends.trees._room import floats, ints, unset
from sev.kernels.source import njit


@njit()
def prepare(trees: Any, n_features: int) -> Any:
    """Room for collapsing rows: cubes, path, groups and the state of each feature."""
    leaves, entries, depth = trees.sizes[0], trees.sizes[1], trees.sizes[2]
    cubes = Cubes(
        unset(trees.roots.shape[0] + 2), unset(leaves + 2), unset(leaves + 1), floats(leaves + 1), unset(entries + 1)
    )
    path = Path(ints(depth + 1), ints(depth + 1), ints(depth + 1))
    return cubes, path, Groups(ints(n_features), ints(n_features), floats(n_features)), ints(n_features)


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
    delta, rho, weight, old_linear = floats(n), floats(n), floats(n), floats(n)
    order, place, old_feature = ints(n), ints(n), ints(n)
    for g in range(n):
        delta[g] = 0.0
        rho[g] = 0.0
        order[g] = g
        weight[g] = linear[g]
        old_linear[g] = linear[g]
        old_feature[g] = feature_of[g]
    reach = constant + weigh(cubes, 0, n_trees, delta, rho, weight)
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
