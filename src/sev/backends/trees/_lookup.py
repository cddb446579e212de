"""Kernels that look up what each tree does for a row, in the tables of ``_patterns.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from sev.backends.trees._tables import add_triple
from sev.kernels.source import njit

#: How a triple of features is packed into one number: the lowest in the last six bits.
FEATURE_BITS = 6


@njit()
def read_codes(patterns: Any, row: Any, codes: Any) -> None:
    """The pattern of every tree for one row, eight bits each."""
    columns, first_edge, edges, passed = patterns.columns, patterns.first_edge, patterns.edges, patterns.passed
    n_words = np.uint64(codes.shape[0])
    for w in range(n_words):
        codes[w] = 0
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
        some = passed[at]
        for w in range(n_words):
            codes[w] |= some[w]


@njit()
def add_terms(patterns: Any, codes: Any, table: Any) -> float:
    """Add up the terms of one and two features of all trees; gives the constant."""
    first_code, records, stream = patterns.first_code, patterns.records, patterns.stream
    constant = 0.0
    for t in range(np.uint64(first_code.shape[0])):
        code = (codes[t >> np.uint64(3)] >> (np.uint64(8) * (t & np.uint64(7)))) & np.uint64(0xFF)
        at = np.uint64(records[np.uint64(first_code[t]) + code])
        constant += stream[at]
        # There is always a first term: most patterns have none or one, and a branch that is guessed wrong costs more.
        table[np.uint64(stream[at + np.uint64(3)])] += stream[at + np.uint64(4)]
        for _ in range(1, int(stream[at + np.uint64(1)])):
            at += np.uint64(2)
            table[np.uint64(stream[at + np.uint64(3)])] += stream[at + np.uint64(4)]
    return constant


@njit()
def add_triples(patterns: Any, codes: Any, place: Any, triple: Any, met: Any) -> None:
    """Add up the terms of three features of all trees, in the numbers that ``place`` gives the features."""
    first_code, records, stream = patterns.first_code, patterns.records, patterns.stream
    last = (1 << FEATURE_BITS) - 1
    for t in range(first_code.shape[0]):
        at = records[first_code[t] + np.int64((codes[t >> 3] >> np.uint64(8 * (t & 7))) & np.uint64(0xFF))]
        begin = at + 3 + 2 * int(stream[at + 1])
        for e in range(begin, begin + 2 * int(stream[at + 2]), 2):
            packed = int(stream[e])
            a, b, c = place[packed & last], place[(packed >> FEATURE_BITS) & last], place[packed >> 2 * FEATURE_BITS]
            if a >= 0 and b >= 0 and c >= 0:  # a feature that may not be in the set adds nothing
                add_triple(a, b, c, stream[e + 1], triple, met)
