"""Kernels for many rows and one reference: what each tree does is looked up, not walked.

A row meets a small tree only through the directions of its splits: with at most eight splits that is one of 256
*patterns*. For one reference, each pattern of each tree collapses to a fixed polynomial in "feature i is in the set",
worked out once. A row then costs the union of one bit vector a column (which splits its value passes), one look-up a
tree, and a few additions; that settles sets of one and two features. (Terms of three features were tried: there are too
many of them to pay.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sev._compile import njit
from sev.backends.trees._forest import AT_REFERENCE, NAN_LEFT
from sev.backends.trees._forms import ANSWERS, BOOLS, FLOAT, INT, INTS, PATTERNS, QUERIES, RULES, TREES, VECTOR, Found
from sev.backends.trees._rows import FOUND_SETS, NARROW, end_row
from sev.backends.trees._tables import scan_pairs, scan_singles


@njit()
def bits_of(mask: int) -> int:
    """How many features a mask has."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@njit()
def tree_terms(trees: Any, root: int, local: Any, bit: Any, code: int, open_to: int, minus: int, terms: Any,
               stack: Any) -> None:  # fmt: skip
    """Add the terms of one tree for one pattern to a table over all sets of its own features.

    A leaf that needs the features A in the set and B out of it adds its value, with a turned sign for each feature of
    B, to every set between A and A with B. Sets of more than two features are left out.
    """
    nodes, values, _, _, _, _ = trees
    stack[0, 0], stack[0, 1], stack[0, 2] = root, 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node, inside, outside = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        meta = nodes[node]
        left = meta >> 32
        if left == 0:
            part = outside
            while True:
                if bits_of(inside | part) <= 2:
                    terms[inside | part] += values[node] if bits_of(part) & 1 == 0 else -values[node]
                if part == 0:
                    break
                part = (part - 1) & outside
            continue
        at_query = (code >> bit[node - root]) & 1
        at_reference = 1 if meta & AT_REFERENCE else 0
        mark = 1 << local[node - root]
        stay = at_query if minus == 1 else at_reference
        if at_query != at_reference and outside & mark == 0 and open_to & mark != 0:
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = left + 1 - stay, inside | mark, outside
            waiting += 1
            if inside & mark == 0:
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = left + stay, inside, outside | mark
                waiting += 1
        else:
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = left + stay, inside, outside
            waiting += 1


@njit((TREES, INTS, BOOLS, INT, FLOAT, INTS, VECTOR, INTS, INTS, VECTOR))
def build(trees: Any, column_feature: Any, allowed: Any, minus: int, sign: float, first_code: Any, constants: Any,
          first_term: Any, places: Any, values: Any) -> int:  # fmt: skip
    """Work out every pattern of every tree; with no room for terms only count them.

    The place of a term is ``i`` for one of p features and ``p * (i + 1) + j``, i < j, for two.
    """
    nodes, roots = trees.nodes, trees.roots
    p = allowed.shape[0]
    fills = values.shape[0] > 0
    terms, stack = np.zeros(256), np.empty((32, 3), dtype=np.int64)
    features = np.empty(8, dtype=np.int64)
    bit, local = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    n_terms = 0
    for t in range(roots.shape[0]):
        root = roots[t]
        end = roots[t + 1] if t + 1 < roots.shape[0] else nodes.shape[0]
        n_bits = n_local = open_to = 0
        for node in range(root, end):
            if nodes[node] >> 32 == 0:
                continue
            feature = column_feature[(nodes[node] >> 8) & 0xFFFFFF]
            place = 0
            while place < n_local and features[place] != feature:
                place += 1
            if place == n_local:
                features[n_local] = feature
                open_to |= (1 << n_local) if allowed[feature] else 0
                n_local += 1
            bit[node - root], local[node - root] = n_bits, place
            n_bits += 1
        for code in range(1 << n_bits):
            at = first_code[t] + code
            tree_terms(trees, root, local, bit, code, open_to, minus, terms, stack)
            constants[at] = sign * terms[0]
            terms[0] = 0.0
            first_term[at] = n_terms
            for i in range(n_local):
                for j in range(i, n_local):
                    mask = (1 << i) | (1 << j)
                    if terms[mask] == 0.0:
                        continue
                    if fills:
                        low, high = min(features[i], features[j]), max(features[i], features[j])
                        places[n_terms] = low if i == j else p * (low + 1) + high
                        values[n_terms] = sign * terms[mask]
                    terms[mask] = 0.0
                    n_terms += 1
    first_term[constants.shape[0]] = n_terms
    return n_terms


@njit()
def read_codes(patterns: Any, row: Any, codes: Any) -> None:
    """The pattern of every tree for one row, eight bits each."""
    columns, first_edge, edges, passed = patterns.columns, patterns.first_edge, patterns.edges, patterns.passed
    codes[:] = 0
    for c in range(columns.shape[0]):
        x = row[columns[c]]
        begin, end = first_edge[c], first_edge[c + 1]
        at = end + 2 * c + 1  # where x is missing
        if x == x:
            while begin < end:
                middle = (begin + end) >> 1
                if edges[middle] < x:
                    begin = middle + 1
                else:
                    end = middle
            at = begin + 2 * c
        for w in range(codes.shape[0]):
            codes[w] |= passed[at, w]


@njit()
def add_terms(patterns: Any, codes: Any, flat: Any) -> float:
    """Add up the terms of all trees; gives the constant."""
    first_code, constants, first_term = patterns.first_code, patterns.constants, patterns.first_term
    places, terms = patterns.places, patterns.terms
    constant = 0.0
    for t in range(first_code.shape[0]):
        at = first_code[t] + np.int64((codes[t >> 3] >> np.uint64(8 * (t & 7))) & np.uint64(0xFF))
        constant += constants[at]
        for e in range(first_term[at], first_term[at + 1]):
            flat[places[e]] += terms[e]
    return constant


@njit((PATTERNS, QUERIES, RULES, ANSWERS))
def search_patterns(patterns: Any, queries: Any, rules: Any, answers: Any) -> int:
    """Find sets of one and two features, until no row or no room for sets is left; gives how many rows were done.

    Rows that need more are left to the other kernels.
    """
    active = queries.active
    p = active.shape[1]
    codes = np.empty(patterns.passed.shape[1], dtype=np.uint64)
    table = np.empty((p + 1, p))
    single, pair = table[0], table[1:]
    cursor = np.zeros(3, dtype=np.int64)
    cursor[2] = rules.max_sets
    found = Found(answers.masks, answers.values, np.arange(p), cursor)
    order, picks, work = np.empty(p, dtype=np.int64), np.empty(3, dtype=np.int64), np.zeros(2, dtype=np.int64)
    for position in range(queries.todo.shape[0]):
        if cursor[0] + cursor[2] > answers.masks.shape[0]:
            return position
        row = queries.todo[position]
        read_codes(patterns, queries.rows[row], codes)
        table[:, :] = 0.0
        start = rules.base + add_terms(patterns, codes, table.reshape(-1))
        n = 0
        for f in range(p):
            if active[row, f]:
                order[n] = f
                n += 1
        cursor[1] = 0
        work[0], work[1] = n * n + p, queries.budget[row]
        outcome, proven = FOUND_SETS, 0
        scan_singles(order, n - n, n, start, single, rules.limit, picks, n - n, found)
        if cursor[1] == 0 and rules.max_size >= 2:
            proven = 1
            scan_pairs(order, n - n, n, start, single, pair, rules.limit, picks, n - n, found)
        if cursor[1] == 0:
            outcome, proven = NARROW, min(2, rules.max_size)
        end_row(row, outcome, proven, work, cursor, answers)
    return queries.todo.shape[0]


def passed_splits(trees: Any) -> tuple[Any, Any, Any, Any]:
    """For each column with splits: its thresholds, and for each place among them the splits that go right.

    Gives the columns, where the thresholds of each begin, all thresholds, and the bit vectors: eight bits a tree, one
    vector for each number of thresholds passed and one for missing values, column after column.
    """
    inner = np.flatnonzero(trees.nodes >> 32 != 0)
    meta = trees.nodes[inner]
    column = (meta >> 8) & 0xFFFFFF
    tree = np.searchsorted(trees.roots, inner, side="right") - 1
    number = np.arange(inner.size) - np.searchsorted(inner, trees.roots)[tree]  # of the split within its tree
    columns = np.unique(column)
    thresholds = [np.unique(trees.values[inner[column == c]]) for c in columns]
    first_edge = np.cumsum([0, *(len(some) for some in thresholds)]).astype(np.int64)
    n_words = -(-trees.roots.size // 8)
    passed = np.zeros((int(first_edge[-1]) + 2 * len(columns), n_words), dtype=np.uint64)
    word, bit = tree >> 3, (8 * (tree & 7) + number).astype(np.uint64)
    for place, (name, some) in enumerate(zip(columns, thresholds, strict=True)):
        mine = np.flatnonzero(column == name)
        begin = int(first_edge[place]) + 2 * place
        vectors = passed[begin : begin + len(some) + 2]
        rank = np.searchsorted(some, trees.values[inner[mine]])
        for k, split in zip(rank.tolist(), mine.tolist(), strict=True):
            vectors[k + 1, word[split]] |= np.uint64(1) << bit[split]
        np.bitwise_or.accumulate(vectors[:-1], axis=0, out=vectors[:-1])
        vectors[-1] = 0
        for split in mine[(meta[mine] & NAN_LEFT) == 0].tolist():
            vectors[-1, word[split]] |= np.uint64(1) << bit[split]
    return columns, first_edge, np.concatenate([np.zeros(0), *thresholds]), passed
