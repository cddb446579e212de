"""Arrays that are no trees are refused with a reason; deep and large trees are read."""

from dataclasses import replace

import numpy as np
import pytest
from backends.trees.test_limits import Hand, chain, stump

from sev.backends._protocol import CannotReadError
from sev.backends.trees._forest import Tree, build_forest


def changed(**arrays):
    return replace(chain([0, 1], 1.0), **{name: np.array(values) for name, values in arrays.items()})


DAMAGED = {
    "a cycle": (changed(left=[3, 0, -1, -1, -1], right=[1, 2, -1, -1, -1]), "reached twice|not one of its nodes"),
    "a node that is its own child": (changed(left=[3, 1, -1, -1, -1], right=[1, 2, -1, -1, -1]), "reached twice"),
    "a longer cycle": (
        Tree(left=np.array([1, 3, -1, 1, -1]), right=np.array([2, 4, -1, 4, -1]), column=np.zeros(5, int),
             threshold=np.zeros(5), value=np.zeros(5)), "reached twice"),
    "a shared child": (changed(left=[3, 3, -1, -1, -1]), "reached twice"),
    "a child out of range": (changed(left=[3, 99, -1, -1, -1]), "not one of its nodes"),
    "a right child below zero": (changed(right=[1, -7, -1, -1, -1]), "not one of its nodes"),
    "a column out of range": (changed(column=[0, 9, 0, 0, 0]), "column"),
    "a column below zero": (changed(column=[0, -1, 0, 0, 0]), "column"),
    "a threshold that is no number": (changed(threshold=[0.5, np.nan, 0, 0, 0]), "threshold"),
    "an infinite leaf": (changed(value=[0, 0, np.inf, 0, 0]), "leaf"),
    "arrays of other lengths": (changed(value=[0.0, 0.0]), "same length"),
    "no nodes": (changed(left=[], right=[], column=[], threshold=[], value=[]), "empty"),
    "a category below zero": (replace(stump(0, 1.0), categories={0: [-3]}), "category"),
    "a category too large": (replace(stump(0, 1.0), categories={0: [2**40]}), "category"),
    "categories at a leaf": (replace(stump(0, 1.0), categories={1: [3]}), "not a split"),
    "categories at no node": (replace(stump(0, 1.0), categories={8: [3]}), "not a split"),
}  # fmt: skip


@pytest.mark.parametrize(("tree", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_tree_is_refused(tree, reason):
    with pytest.raises(CannotReadError, match=reason):
        build_forest([stump(0, 1.0), tree], n_columns=2, base=0.0)


@pytest.mark.parametrize(("n_columns", "base"), [(2, np.nan), (2, np.inf), (1 << 24, 0.0)])
def test_what_no_forest_has_is_refused(n_columns, base):
    with pytest.raises(CannotReadError):
        build_forest([stump(0, 1.0)], n_columns=n_columns, base=base)


def test_a_tree_of_depth_ten_thousand_is_read():
    """One column asked again and again: as deep as can be, for query and reference."""
    depth = 10_000
    tree = replace(chain([0] * depth, -1.0), threshold=np.concatenate([np.arange(depth) / depth, np.zeros(depth + 1)]))
    model = Hand([tree, stump(1, -0.25)], 2, base=0.5)
    assert model.backend.forest.depth == depth
    np.testing.assert_array_equal(model.decision_function(np.array([[2.0, 0.0], [0.5, 0.0]])), [-0.5, 0.5])
    problem = model.problem(np.array([[0.5, 0.0], [0.0, 0.0]]), np.array([[2.0, 1.0]]))
    assert model.backend.solve(problem).sizes().tolist() == [1, 1]


def test_deep_trees_of_many_features_are_collapsed():
    """Each split on a column of its own: one cube for each number of features that are in the set."""
    depth = 2_000
    model = Hand([chain(list(range(depth)), -1.0), stump(depth, -1.0)], depth + 1, base=0.5)
    problem = model.problem(np.zeros((1, depth + 1)), np.ones((1, depth + 1)))
    solution = model.backend.solve(problem)
    assert solution.sizes().tolist() == [1]
    assert solution.complete[0]


def test_a_tree_of_a_million_nodes_is_read():
    n_inner = (1 << 19) - 1
    node = np.arange(2 * n_inner + 1)
    inner = node < n_inner
    rng = np.random.default_rng(0)
    tree = Tree(
        left=np.where(inner, 2 * node + 1, -1), right=np.where(inner, 2 * node + 2, -1),
        column=np.where(inner, rng.integers(0, 6, node.size), 0), threshold=rng.normal(size=node.size),
        value=rng.normal(size=node.size),
    )  # fmt: skip
    model = Hand([tree], 6, base=0.0)
    rows = rng.normal(size=(50, 6))
    assert node.size > 1_000_000
    at = np.zeros(50, dtype=int)
    for _ in range(19):
        at = 2 * at + 2 - (rows[np.arange(50), tree.column[at]] <= tree.threshold[at])
    np.testing.assert_array_equal(model.decision_function(rows), tree.value[at])
