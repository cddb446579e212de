"""Tables of what every tree does for every pattern of its splits, for many rows and one reference."""

from __future__ import annotations

import numpy as np

from sev.backends.trees._forest import NAN_LEFT
from sev.backends.trees._forms import Patterns, Rules, Trees
from sev.kernels import load_kernels
from sev.typing import BoolArray, FloatArray, IntArray, MaskArray

#: In place of tables: the trees are walked.
NO_PATTERNS = Patterns(
    *(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0), dtype=np.uint64)),
    *(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0)),
)


def make_patterns(trees: Trees, column_feature: IntArray, allowed: BoolArray, rules: Rules) -> Patterns:
    """Work out what every tree does for every pattern of its splits."""
    kernels = load_kernels("sev.backends.trees._patterns")
    splits = np.add.reduceat((trees.nodes >> 32 != 0).astype(np.int64), trees.roots)
    ends = np.cumsum(1 << splits).astype(np.int64)
    first_code, n_patterns = ends - (1 << splits), int(ends[-1])
    records, stream = np.empty(n_patterns, dtype=np.int32), np.empty(12 * n_patterns)
    while True:
        size = kernels.build(trees, column_feature, allowed, rules.minus, rules.sign, first_code, records, stream)
        if size + 600 <= stream.size:  # room for one more record: all of them were written
            break
        stream = np.empty(size + 600)
    columns, first_edge, edges, passed = passed_splits(trees)
    return Patterns(columns, first_edge, edges, passed, first_code, records, stream[:size].copy())


def passed_splits(trees: Trees) -> tuple[IntArray, IntArray, FloatArray, MaskArray]:
    """For each column with splits: its thresholds, and for each place among them the splits that go right.

    Gives the columns, where the thresholds of each begin, all thresholds, and the bit vectors: eight bits a tree, one
    vector for each number of thresholds passed and one for missing values, column after column.
    """
    inner = np.flatnonzero(trees.nodes >> 32 != 0)
    meta = trees.nodes[inner]
    column = (meta >> 8) & 0xFFFFFF
    tree = np.searchsorted(trees.roots, inner, side="right") - 1
    number = np.arange(inner.size) - np.searchsorted(inner, trees.roots)[tree]  # of the split within its tree
    columns, rank = np.unique(column, return_inverse=True)
    order = np.lexsort((trees.values[inner], rank))
    sorted_rank, sorted_values = rank[order], trees.values[inner][order]
    new = np.ones(order.size, dtype=np.bool_)
    new[1:] = (sorted_rank[1:] != sorted_rank[:-1]) | (sorted_values[1:] != sorted_values[:-1])
    edge = np.cumsum(new) - 1  # of each split in order
    first_edge = np.searchsorted(sorted_rank[new], np.arange(columns.size + 1)).astype(np.int64)
    n_words = -(-trees.roots.size // 8)
    bits = np.zeros((int(first_edge[-1]) + 2 * columns.size, 8 * n_words), dtype=np.uint8)
    one = np.uint8(1) << number[order].astype(np.uint8)
    # Splits of one tree and one column may share a threshold, so they must be added one by one.
    np.bitwise_or.at(bits, (edge + 2 * sorted_rank + 1, tree[order]), one)
    for place in range(columns.size):
        vectors = bits[first_edge[place] + 2 * place : first_edge[place + 1] + 2 * place + 1]
        np.bitwise_or.accumulate(vectors, axis=0, out=vectors)
    missing = (meta[order] & NAN_LEFT) == 0
    ends = first_edge[sorted_rank + 1] + 2 * sorted_rank + 1
    np.bitwise_or.at(bits, (ends[missing], tree[order][missing]), one[missing])
    return columns, first_edge, sorted_values[new], bits.view("<u8").astype(np.uint64, copy=False)
