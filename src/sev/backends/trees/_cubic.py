"""Kernels for sets of four and more features when no cube has more than three: the tables say everything.

A pick folds its row of each table into the table of one degree less, so a vertex costs a few additions however many trees
there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._compile import njit
from sev.backends.trees._tables import scan_triples


@njit()
def least_partners(n: int, triple: Any, least: Any, second: Any) -> None:
    """For each pair the two lowest entries with a third feature, where below zero."""
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
def mark_viable(
    begin: int, n: int, m: int, slack: float, single: Any, pair: Any, least: Any, second: Any, room: Any, viable: Any
) -> None:
    """Mark the features that may come first in a set of ``m`` of the features from ``begin`` on.

    Every entry of a set is shared out among its features: halves of pairs, thirds of triples through their pairs. A
    feature takes the lowest entries it could possibly get, so the sum over a set is never above the truth.
    """
    low, next_low, lowest = room[0], room[1], room[2]
    for i in range(begin, n):
        low[i] = np.inf
        next_low[i] = np.inf
    for i in range(begin, n):
        for j in range(i + 1, n):
            value = pair[i, j] + (least[i, j] + (m - 3) * second[i, j]) / 3.0
            for a in range(i, j + 1, j - i):
                if value < low[a]:
                    next_low[a] = low[a]
                    low[a] = value
                elif value < next_low[a]:
                    next_low[a] = value
    kept = 0  # how many of the lowest shares among later features are in ``lowest``, in order
    total = 0.0
    for i in range(n - 1, begin - 1, -1):
        share = single[i] + 0.5 * (low[i] + (m - 2) * next_low[i])
        viable[i] = kept == m - 1 and share + total <= slack
        if kept == m - 1:
            if share >= lowest[kept - 1]:
                continue
            total -= lowest[kept - 1]
            kept -= 1
        at = kept
        while at > 0 and lowest[at - 1] > share:
            lowest[at] = lowest[at - 1]
            at -= 1
        lowest[at] = share
        kept += 1
        total += share


@njit()
def search_cubic(
    size: int, n: int, start: float, single: Any, pair: Any, triple: Any, least: Any, second: Any, limit: float, found: Any,
    work: Any,
) -> bool:  # fmt: skip
    """Record all sets of ``size`` >= 4 features that bring the margin down to the limit; False when the budget ends."""
    deepest = size - 3
    singles = np.empty((deepest + 1, n))
    pairs = np.empty((deepest + 1, n, n))
    values = np.empty(deepest + 1)
    viable = np.empty((deepest, n), dtype=np.bool_)
    following = np.empty(deepest + 1, dtype=np.int64)
    picks = np.empty(size, dtype=np.int64)
    room = np.empty((3, max(n, size)))
    for i in range(n):
        singles[0, i] = single[i]
        for j in range(n):
            pairs[0, i, j] = pair[i, j]
    values[0] = start
    following[0] = 0
    depth = 0
    mark_viable(np.int64(0), n, size, limit - start, singles[0], pairs[0], least, second, room, viable[0])
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
        values[depth + 1] = values[depth] + singles[depth, pick]
        for i in range(pick + 1, n):
            singles[depth + 1, i] = singles[depth, i] + pairs[depth, pick, i]
            for j in range(i + 1, n):
                pairs[depth + 1, i, j] = pairs[depth, i, j] + triple[pick, i, j]
        rest = n - pick
        work[0] += rest * rest + 50
        if depth + 1 < deepest:
            depth += 1
            following[depth] = pick + 1
            mark_viable(
                pick + 1, n, left - 1, limit - values[depth], singles[depth], pairs[depth], least, second, room,
                viable[depth],
            )  # fmt: skip
        else:
            work[0] += rest * rest * rest // 12
            scan_triples(
                pick + 1, n, values[depth + 1], singles[depth + 1], pairs[depth + 1], triple, limit, picks, depth + 1,
                found,
            )  # fmt: skip
        if found.cursor[1] > found.cursor[2]:
            return True
        if work[0] > work[1]:
            return False
    return True
