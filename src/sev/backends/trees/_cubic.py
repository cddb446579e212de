"""Kernels for sets of four and more features when no cube has more than three: the tables say everything.

A pick folds its row of each table into the table of one degree less, so a vertex costs a few additions however many
trees there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._compile import njit
from sev.backends.trees._tables import scan_triples


@njit()
def least_partners(n: int, triple: Any, least: Any, second: Any) -> None:
    """For each pair (i < j) the two lowest entries with a third feature, where below zero."""
    for i in range(n):
        for j in range(n):
            least[i, j] = 0.0
            second[i, j] = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                value = triple[i, j, k]
                if value >= 0.0:
                    continue
                for side in range(3):
                    a = i if side < 2 else j
                    b = j if side == 0 else k
                    if value < least[a, b]:
                        second[a, b] = least[a, b]
                        least[a, b] = value
                    elif value < second[a, b]:
                        second[a, b] = value


@njit()
def mark_viable(begin: int, n: int, m: int, slack: float, table: Any, least: Any, second: Any, room: Any,
                viable: Any) -> None:  # fmt: skip
    """Mark the features that may come first in a set of ``m`` >= 3 of the features from ``begin`` on.

    Every entry of a set is shared out among its features: halves of pairs, thirds of triples through their pairs. A
    feature takes the lowest entries it could possibly get, so the sum over a set is never above the truth.
    """
    low, next_low, lowest = room[0], room[1], room[2]
    for i in range(begin, n):
        low[i] = np.inf
        next_low[i] = np.inf
    for i in range(begin, n):
        one, two = low[i], next_low[i]
        for j in range(i + 1, n):
            value = table[i, j] + (least[i, j] + (m - 3) * second[i, j]) / 3.0
            if value < two:
                two = value
                if value < one:
                    two = one
                    one = value
            if value < next_low[j]:
                next_low[j] = value
                if value < low[j]:
                    next_low[j] = low[j]
                    low[j] = value
        low[i] = table[n, i] + 0.5 * (one + (m - 2) * two)  # from here on the feature's whole share
    kept = 0  # how many of the lowest shares among later features are in ``lowest``, in order
    total = 0.0
    for i in range(n - 1, begin - 1, -1):
        share = low[i]
        viable[i] = kept == m - 1 and share + total <= slack
        if kept == m - 1:
            if share >= lowest[kept - 1]:
                continue
            kept -= 1
            total -= lowest[kept]
        at = kept
        while at > 0 and lowest[at - 1] > share:
            lowest[at] = lowest[at - 1]
            at -= 1
        lowest[at] = share
        kept += 1
        total += share


@njit()
def search_cubic(size: int, n: int, start: float, table: Any, triple: Any, least: Any, second: Any, limit: float,
                 found: Any, work: Any) -> bool:  # fmt: skip
    """Record all sets of ``size`` >= 4 features that bring the margin down to the limit; False when the budget ends.

    ``table`` has the pairs in its first n rows and the singles in row n; so has the table after each number of picks.
    """
    deepest = size - 3
    tables = np.empty((deepest + 1, n + 1, n))
    values = np.empty(deepest + 1)
    viable = np.empty((deepest, n), dtype=np.bool_)
    following = np.zeros(deepest + 1, dtype=np.int64)
    picks = np.empty(size, dtype=np.int64)
    room = np.empty((3, n + 1))
    cursor = found.cursor
    for i in range(n + 1):
        for j in range(n):
            tables[0, i, j] = table[i, j]
    values[0] = start
    depth = 0
    mark_viable(depth, n, size, limit - start, table, least, second, room, viable[0])
    while depth >= 0:
        left = size - depth
        pick = following[depth]
        while pick <= n - left and not viable[depth, pick]:
            pick += 1
        if pick > n - left:
            depth -= 1
            continue
        following[depth] = pick + 1
        picks[depth] = pick
        values[depth + 1] = values[depth] + tables[depth, n, pick]
        here, after, fold = tables[depth], tables[depth + 1], triple[pick]
        for i in range(pick + 1, n):
            after[n, i] = here[n, i] + here[pick, i]
            for j in range(i + 1, n):
                after[i, j] = here[i, j] + fold[i, j]
        rest = n - pick
        work[0] += rest * rest + 50
        if depth + 1 < deepest:
            depth += 1
            following[depth] = pick + 1
            mark_viable(pick + 1, n, left - 1, limit - values[depth], after, least, second, room, viable[depth])
        else:
            work[0] += rest * rest * rest // 12
            scan_triples(pick + 1, n, values[depth + 1], after[n], after, triple, limit, picks, depth + 1, found)
        if cursor[1] > cursor[2]:
            return True
        if work[0] > work[1]:
            return False
    return True
