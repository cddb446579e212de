"""Kernels for sets of four and more features when no cube has more than three: the tables say everything.

A pick adds its stretch of each table to the table of one degree less, so a vertex costs a few additions however many
trees there are. The highest numbers are picked first; what is left to pick from is then the front of every table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev.backends.trees._room import flags, floats, ints, table
from sev.backends.trees._tables import fold, pair_at, scan_triples, triple_at
from sev.kernels.source import njit


@njit()
def least_partners(n: int, triple: Any, met: Any, least: Any, second: Any, third: Any) -> None:
    """For each pair the two lowest entries with a third feature, and a third of the sum of all, where below zero."""
    for e in range(np.uint64(n * (n - 1) >> 1)):
        least[e] = 0.0
        second[e] = 0.0
        third[e] = 0.0
    if met[0] + 1 == met.shape[0]:  # the list is full, and some may be missing
        met[0] = 0
        at = 0
        for k in range(2, n):
            for j in range(1, k):
                for i in range(j):
                    if triple[at] != 0.0:
                        met[0] += 1
                        met[met[0]] = i | j << 8 | k << 16
                    at += 1
    for at in range(1, met[0] + 1):  # an entry that is listed twice makes the bounds looser, not wrong
        i, j, k = met[at] & 0xFF, (met[at] >> 8) & 0xFF, met[at] >> 16
        value = triple[triple_at(i, j, k)]
        if value >= 0.0:
            continue
        for side in range(3):
            e = pair_at(k if side < 2 else j, j if side == 0 else i)
            third[e] += value / 3.0
            if value < least[e]:
                second[e] = least[e]
                least[e] = value
            elif value < second[e]:
                second[e] = value


@njit()
def mark_viable(n: int, m: int, slack: float, single: Any, pair: Any, least: Any, second: Any, room: Any,
                viable: Any) -> None:  # fmt: skip
    """Mark the features that may have the highest number in a set of ``m`` >= 3 of the first n features.

    Every entry of a set is shared out among its features: halves of pairs, thirds of triples through their pairs. A
    feature takes the lowest entries it could possibly get, so the sum over a set is never above the truth.
    """
    low, next_low, lowest, beside = room[0], room[1], room[2], room[3]
    third, more = 1.0 / 3.0, (m - 3) / 3.0
    for j in range(n):
        front = np.uint64(j * (j - 1) >> 1)
        for i in range(np.uint64(j)):  # several entries in one step; then the two lowest of them
            value = pair[front + i] + third * least[front + i] + more * second[front + i]
            beside[i] = value
            other = low[i] if low[i] > value else value
            next_low[i] = other if other < next_low[i] else next_low[i]
            low[i] = value if value < low[i] else low[i]
        one, two = np.inf, np.inf
        for i in range(np.uint64(j)):
            value = beside[i]
            if value < two:
                two = value
                if value < one:
                    two = one
                    one = value
        low[j] = one
        next_low[j] = two
    kept = 0  # how many of the lowest shares among the features so far are in ``lowest``, in order
    total = 0.0
    for i in range(n):
        share = single[i] + 0.5 * (low[i] + (m - 2) * next_low[i])
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


@njit(fastmath={"reassoc", "contract", "nsz"})  # sums of a bound may be taken in any order
def lowest_margin(n: int, start: float, single: Any, pair: Any, third: Any, weight: Any) -> float:
    """A bound from below on the margin of every set of the first n features.

    Entries below zero are shared out among their features. An entry b above zero of two features that both lower the
    margin takes something back: for x and y of 0 or 1, ``b x y`` is at least ``c (x + y - 1)`` for every c up to b.
    """
    for i in range(n):
        weight[i] = single[i]
    for j in range(1, n):
        front = np.uint64(j * (j - 1) >> 1)
        total = 0.0
        for i in range(np.uint64(j)):
            entry = pair[front + i] + third[front + i]
            half = 0.5 * entry if entry < 0.0 else 0.0
            weight[i] += half
            total += half
        weight[j] += total
    low = start
    for j in range(n - 1, 0, -1):
        beside = j * (j - 1) >> 1
        own = weight[j]
        for i in range(j - 1, -1, -1):
            if own >= 0.0:
                break
            back = pair[beside + i] + third[beside + i]
            if back > -own:
                back = -own
            if back > -weight[i]:
                back = -weight[i]
            if back > 0.0:
                weight[i] += back
                own += back
                low -= back
        weight[j] = own
        if own < 0.0:
            low += own
    return low + weight[0] if weight[0] < 0.0 else low


@njit()
def may_cross(n: int, m: int, start: float, single: Any, pair: Any, third: Any, limit: float, weight: Any,
              lowest: Any) -> bool:  # fmt: skip
    """Whether the weights behind the lowest margin leave room for a set of ``m`` of the first n features."""
    low = lowest_margin(n, start, single, pair, third, weight)
    if low > limit:
        return False
    kept = 0
    for i in range(n):
        value = weight[i]
        if value < 0.0:
            low -= value  # only the lowest count, whatever their sign
        if kept == m:
            if value >= lowest[m - 1]:
                continue
            kept -= 1
        at = kept
        while at > 0 and lowest[at - 1] > value:
            lowest[at] = lowest[at - 1]
            at -= 1
        lowest[at] = value
        kept += 1
    for i in range(kept):
        low += lowest[i]
    return kept == m and low <= limit


@njit()
def any_set(n: int, start: float, single: Any, pair: Any, triple: Any, third: Any, limit: float, work: Any,
            budget: int) -> int:  # fmt: skip
    """Whether a set of any size brings the margin down to the limit: 1, 0, or -1 when the budget ended first."""
    singles, pairs = table(n + 1, n), table(n + 1, n * (n - 1) >> 1)
    values, weight = floats(n + 1), floats(n)
    top = ints(n + 1)  # the features below it are still to be picked from
    for i in range(n):
        singles[0, i] = single[i]
    for e in range(n * (n - 1) >> 1):
        pairs[0, e] = pair[e]
    values[0] = start
    top[0] = n
    # Most rows have a set, and most of them one of the features that still lower the margin when their turn comes.
    value = start
    here_single, here_pair = single, pair
    for pick in range(n - 1, -1, -1):
        if here_single[pick] < 0.0:
            value += here_single[pick]
            if value <= limit:
                return 1
            fold(pick, here_single, here_pair, triple, singles[1], pairs[1])
            here_single, here_pair = singles[1], pairs[1]
    depth = 0
    while depth >= 0:
        pick = top[depth] - 1
        work[0] += pick * pick + 20
        if pick < 0 or lowest_margin(pick + 1, values[depth], singles[depth], pairs[depth], third, weight) > limit:
            depth -= 1
            continue
        top[depth] = pick
        value = values[depth] + singles[depth, pick]
        if value <= limit:
            return 1
        if work[0] > budget:
            return -1
        fold(pick, singles[depth], pairs[depth], triple, singles[depth + 1], pairs[depth + 1])
        depth += 1
        values[depth] = value
        top[depth] = pick
    return 0


@njit()
def search_cubic(size: int, n: int, start: float, single: Any, pair: Any, triple: Any, partners: Any, limit: float,
                 found: Any, work: Any) -> bool:  # fmt: skip
    """Record all sets of ``size`` >= 4 features that bring the margin down to the limit; False when the budget ends."""
    least, second, third = partners[0], partners[1], partners[2]
    deepest = size - 3
    singles, pairs = table(deepest + 1, n), table(deepest + 1, n * (n - 1) >> 1)
    values, top, picks = floats(deepest + 1), ints(deepest + 1), ints(size)
    may_be_highest = flags((deepest + 1) * n)
    room = table(4, n * (n - 1) >> 1)
    cursor = found.cursor
    for i in range(n):
        singles[0, i] = single[i]
    for e in range(n * (n - 1) >> 1):
        pairs[0, e] = pair[e]
    values[0] = start
    depth = 0
    top[0] = n
    if not may_cross(n, size, start, single, pair, third, limit, room[0], room[1]):
        return True
    mark_viable(n, size, limit - start, single, pair, least, second, room, may_be_highest[:n])
    while depth >= 0:
        left = size - depth
        viable = may_be_highest[depth * n : (depth + 1) * n]
        pick = top[depth] - 1
        while pick >= left - 1 and not viable[pick]:
            pick -= 1
        if pick < left - 1:
            depth -= 1
            continue
        top[depth] = pick
        picks[depth] = pick
        value = values[depth] + singles[depth, pick]
        single, pair = singles[depth + 1], pairs[depth + 1]
        fold(pick, singles[depth], pairs[depth], triple, single, pair)
        work[0] += pick * pick + 50
        depth += 1
        viable = may_be_highest[depth * n : (depth + 1) * n]
        if depth < deepest:
            top[depth] = pick
            values[depth] = value
            if left > 5 and not may_cross(pick, left - 1, value, single, pair, third, limit, room[0], room[1]):
                depth -= 1
                continue
            mark_viable(pick, left - 1, limit - value, single, pair, least, second, room, viable)
        else:
            work[0] += pick * pick * pick // 12
            mark_viable(pick, 3, limit - value, single, pair, least, second, room, viable)
            scan_triples(pick, viable, value, single, pair, triple, limit, picks, depth, room, found)
            depth -= 1
        if cursor[1] > cursor[2]:
            return True
        if work[0] > work[1]:
            return False
    return True
