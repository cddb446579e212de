"""One flat form for trees of all libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sev import _native
from sev.backends._protocol import CannotReadError
from sev.typing import BoolArray, FloatArray, IntArray, MaskArray

# A node is one int64, ``left << 32 | column << 8 | flags``; the right child follows the left one; left == 0: a leaf.
# A number goes left when it is at most the node's threshold, unless one of these flags says otherwise.
NAN_LEFT = 1  # missing values go left
CATEGORICAL = 2  # left when the category is in the node's set
OUTSIDE_LEFT = 4  # with CATEGORICAL: left when the category is not in the set
ZERO_MISSING = 8  # zero is a missing value
SPECIAL = 16  # one of the last three: more than a comparison
# 128 belongs to the native code: the reference goes right here (written in for one reference at a time)

#: What LightGBM takes for zero (a float32 constant).
ZERO_WIDTH = float(np.float32(1e-35))

_MOST_COLUMNS = 1 << 24
#: Category numbers have a bit each.
_MOST_CATEGORIES = 1 << 24


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """One tree as a library stores it; ``left`` is negative at leaves, the root is node 0.

    Numbers at most the threshold go left. Nodes in ``categories`` ask instead whether the category is in their set;
    ``outside_left`` says that those not in it go left.
    """

    left: IntArray
    right: IntArray
    column: IntArray
    threshold: FloatArray
    value: FloatArray
    nan_left: BoolArray | None = None
    zero_missing: BoolArray | None = None
    categories: Mapping[int, Sequence[int]] | None = None
    outside_left: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Forest:
    """Trees whose leaves are summed, in arrays that kernels read; see the top of this file for the nodes."""

    nodes: IntArray
    values: FloatArray
    roots: IntArray
    category_first: IntArray
    category_words: MaskArray
    n_columns: int
    base: float
    depth: int
    n_leaves: int
    leaf_depths: int
    magnitude: float  # the largest sum of absolute leaves that a row can meet, with the base

    @cached_property
    def native(self) -> _native.Forest:
        """The trees as the searches take them: copied, and checked."""
        return _native.Forest(
            self.nodes, self.values, self.roots, self.category_first, self.category_words, self.n_columns, self.base
        )

    def __getstate__(self) -> dict[str, object]:
        """Without what is made on demand."""
        return {name: value for name, value in self.__dict__.items() if name != "native"}

    def thresholds(self) -> dict[int, FloatArray]:
        """The thresholds of each column that has numeric splits."""
        flags = self.nodes & 0xFF
        numeric = ((self.nodes >> 32) != 0) & ((flags & CATEGORICAL) == 0)
        columns = (self.nodes[numeric] >> 8) & 0xFFFFFF
        values = self.values[numeric]
        return {int(column): np.unique(values[columns == column]) for column in np.unique(columns)}


def build_forest(trees: Sequence[Tree], *, n_columns: int, base: float) -> Forest:
    """Lay trees out one after the other, the two children of a node side by side."""
    if n_columns >= _MOST_COLUMNS:
        raise CannotReadError(f"it has {n_columns} columns, more than the limit of {_MOST_COLUMNS - 1}")
    if not np.isfinite(base):
        raise CannotReadError(f"the constant that it adds to its trees is {base}, not a finite number")
    sets: list[Sequence[int]] = []
    parts: list[tuple[IntArray, FloatArray]] = []
    roots = np.empty(len(trees), dtype=np.int64)
    offset = n_leaves = leaf_depths = depth = 0
    magnitude = abs(base)
    for number, tree in enumerate(trees):
        _check_tree(tree, number, n_columns)
        order, depths, left = _breadth_first(tree, number, offset)
        parts.append(_pack_nodes(tree, order, left, sets))
        roots[number] = offset
        leaves = left == 0
        offset += order.size
        n_leaves += int(leaves.sum())
        leaf_depths += int(depths[leaves].sum())
        depth = max(depth, int(depths.max()))
        magnitude += float(np.abs(tree.value[order[leaves]]).max())
    words = [_pack_members(members) for members in sets]
    return Forest(
        nodes=np.concatenate([part[0] for part in parts] or [np.zeros(0, np.int64)]),
        values=np.concatenate([part[1] for part in parts] or [np.zeros(0)]),
        roots=roots,
        category_first=np.cumsum([0, *(len(word) for word in words)], dtype=np.int64),
        category_words=np.concatenate([np.zeros(0, np.uint64), *words]),
        n_columns=n_columns,
        base=float(base),
        depth=depth,
        n_leaves=n_leaves,
        leaf_depths=leaf_depths,
        magnitude=magnitude,
    )


def _check_tree(tree: Tree, number: int, n_columns: int) -> None:
    """Refuse what compiled code would trust, except cycles, which are met on the way down."""
    n_nodes = tree.left.size
    others = (tree.right, tree.column, tree.threshold, tree.value, tree.nan_left, tree.zero_missing)
    if n_nodes == 0 or any(part is not None and part.size != n_nodes for part in others):
        raise CannotReadError(f"the arrays of tree {number} do not have the same length, or are empty")
    inner = tree.left >= 0
    children = np.concatenate([tree.left[inner], tree.right[inner]])
    if children.size and not 0 < children.min() <= children.max() < n_nodes:
        raise CannotReadError(f"tree {number} has a child that is not one of its nodes")
    columns = tree.column[inner]
    if columns.size and not 0 <= columns.min() <= columns.max() < n_columns:
        raise CannotReadError(f"tree {number} splits on a column that the model does not have")
    if np.isnan(tree.threshold[inner]).any():
        raise CannotReadError(f"a threshold of tree {number} is not a number")
    if not np.isfinite(tree.value[~inner]).all():
        raise CannotReadError(f"a leaf of tree {number} is not a finite number")
    for node, members in (tree.categories or {}).items():
        if not (0 <= node < n_nodes and inner[node]):
            raise CannotReadError(f"tree {number} has categories at a node that is not a split")
        if len(members) and not 0 <= min(members) <= max(members) < _MOST_CATEGORIES:
            raise CannotReadError(f"tree {number} has a category number out of range (0 to {_MOST_CATEGORIES - 1:,})")


def _breadth_first(tree: Tree, number: int, offset: int) -> tuple[IntArray, IntArray, IntArray]:
    """Nodes level by level, the depth of each, and where its left child comes to lie (0 for leaves)."""
    level = np.zeros(1, dtype=np.int64)
    order: list[IntArray] = []
    depths: list[IntArray] = []
    lefts: list[IntArray] = []
    met = np.zeros(tree.left.size, dtype=np.bool_)
    following = offset + 1  # where the next level begins
    while level.size:
        twice = met[level].any()
        met[level] = True
        if twice or following - offset > tree.left.size or (level.size > 1 and np.unique(level).size < level.size):
            raise CannotReadError(f"tree {number} is not a tree: a node is reached twice")
        inner = tree.left[level] >= 0
        left = np.zeros(level.size, dtype=np.int64)
        left[inner] = following + 2 * np.arange(int(inner.sum()))
        order.append(level)
        depths.append(np.full(level.size, len(depths)))
        lefts.append(left)
        parents = level[inner]
        level = np.column_stack([tree.left[parents], tree.right[parents]]).ravel().astype(np.int64)
        following += level.size
    return np.concatenate(order), np.concatenate(depths), np.concatenate(lefts)


def _pack_nodes(tree: Tree, order: IntArray, left: IntArray, sets: list[Sequence[int]]) -> tuple[IntArray, FloatArray]:
    inner = left != 0
    flags = np.zeros(order.size, dtype=np.int64)
    if tree.nan_left is not None:
        flags |= np.where(tree.nan_left[order], NAN_LEFT, 0)
    if tree.zero_missing is not None:
        flags |= np.where(tree.zero_missing[order], ZERO_MISSING, 0)
    values = np.where(inner, tree.threshold[order], tree.value[order]).astype(np.float64)
    if tree.categories:
        place = {int(node): at for at, node in enumerate(order)}
        for node, members in tree.categories.items():
            at = place[node]
            flags[at] |= CATEGORICAL | (OUTSIDE_LEFT if tree.outside_left else 0)
            values[at] = len(sets)
            sets.append(members)
    flags |= np.where((flags & (CATEGORICAL | ZERO_MISSING)) != 0, SPECIAL, 0)
    nodes = np.where(inner, left << 32 | tree.column[order].astype(np.int64) << 8 | flags, 0)
    return nodes.astype(np.int64), values


def _pack_members(members: Sequence[int]) -> np.ndarray:
    numbers = np.asarray(members, dtype=np.int64)
    words = np.zeros(int(numbers.max(initial=0)) // 64 + 1, dtype=np.uint64)
    np.bitwise_or.at(words, numbers // 64, np.uint64(1) << (numbers % 64).astype(np.uint64))
    return words
