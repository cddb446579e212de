"""scikit-learn's compiled trees: decision trees with checked nodes, and search trees that are grown again.

Compiled code follows child numbers without looking whether they exist: a number out of range reads foreign memory, and
a cycle never ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard, TypeVar

import numpy as np

from sev.exceptions import ArchiveError
from sev.libraries._checks import check_depth

if TYPE_CHECKING:
    from sklearn.metrics import DistanceMetric
    from sklearn.neighbors import BallTree, KDTree
    from sklearn.tree._tree import Tree as CompiledTree


_LEAF = -1
_MOST_FEATURES = 1 << 31
_TREE_STATE = 13
_SearchTree = TypeVar("_SearchTree", bound="KDTree | BallTree")


def tree(state: object, arguments: tuple[object, ...]) -> CompiledTree:
    """A decision tree of scikit-learn whose nodes all lead to a leaf, and ask only for features that it has."""
    from sklearn.tree._tree import Tree

    if len(arguments) != 3 or not isinstance(state, dict):
        raise ArchiveError("The model holds a tree that cannot be read.")
    n_features, n_classes, n_outputs = arguments
    if not _is_size(n_features) or not _is_size(n_outputs) or not isinstance(n_classes, np.ndarray):
        raise ArchiveError("The model holds a tree that cannot be read.")
    if n_classes.shape != (n_outputs,) or n_classes.dtype.kind not in "iu" or not (n_classes >= 1).all():
        raise ArchiveError("The model holds a tree whose classes cannot be counted.")
    nodes, values = state.get("nodes"), state.get("values")
    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or not isinstance(values, np.ndarray):
        raise ArchiveError("The model holds a tree without nodes.")
    if not {"left_child", "right_child", "feature"} <= set(nodes.dtype.names or ()):
        raise ArchiveError("The model holds a tree whose nodes cannot be read.")
    if state.get("node_count") != len(nodes) or values.shape != (len(nodes), n_outputs, int(n_classes.max())):
        raise ArchiveError("The model holds a tree that does not have one value per node.")
    left, right = nodes["left_child"].astype(np.int64), nodes["right_child"].astype(np.int64)
    check_children(left, right, left == _LEAF)
    if (right[left == _LEAF] != _LEAF).any():
        raise ArchiveError("The model holds a tree whose nodes refer to nodes that do not exist.")
    check_depth(left, right, "A tree of the model")
    check_split_features(nodes["feature"].astype(np.int64)[left != _LEAF], int(n_features))
    built = Tree(int(n_features), np.ascontiguousarray(n_classes, dtype=np.intp), int(n_outputs))
    depth = state.get("max_depth")
    if not isinstance(depth, int) or not 0 <= depth < len(nodes):
        raise ArchiveError("The model holds a tree whose depth is not the declared one.")
    built.__setstate__({"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values})
    return built


def check_children(left: np.ndarray, right: np.ndarray, leaf: np.ndarray) -> None:
    """Every inner node's children come after it and exist: so each way through the tree ends."""
    if not len(left):
        raise ArchiveError("The model holds a tree without nodes.")
    numbers = np.arange(len(left))
    for child in (left, right):
        if (~leaf & ((child <= numbers) | (child >= len(left)))).any():
            raise ArchiveError("The model holds a tree whose nodes refer to nodes that do not exist.")


def check_split_features(features: np.ndarray, n_features: int) -> None:
    """Nodes may only ask for features that there are."""
    if ((features < 0) | (features >= n_features)).any():
        raise ArchiveError("The model holds a tree that refers to a feature that does not exist.")


def kd_tree(state: object, arguments: tuple[object, ...]) -> KDTree:
    """A search tree, grown again from its points: the saved nodes are not used."""
    from sklearn.neighbors import KDTree

    return _grown_again(KDTree, state)


def ball_tree(state: object, arguments: tuple[object, ...]) -> BallTree:
    """A search tree, grown again from its points: the saved nodes are not used."""
    from sklearn.neighbors import BallTree

    return _grown_again(BallTree, state)


def _grown_again(kind: type[_SearchTree], state: object) -> _SearchTree:
    from sklearn.metrics import DistanceMetric

    if not isinstance(state, tuple) or len(state) != _TREE_STATE:
        raise ArchiveError(f"The model holds a {kind.__name__} that cannot be read.")
    points, leaf_size, metric, weights = state[0], state[4], state[11], state[12]
    fits = isinstance(points, np.ndarray) and points.ndim == 2 and points.dtype == np.float64
    fits = fits and _is_size(leaf_size) and isinstance(metric, DistanceMetric)
    if weights is not None:
        fits = (
            fits and isinstance(weights, np.ndarray) and weights.shape == points.shape[:1] and weights.dtype.kind == "f"
        )
    if not fits:
        raise ArchiveError(f"The model holds a {kind.__name__} that cannot be read.")
    return kind(points, leaf_size=int(leaf_size), metric=metric, sample_weight=weights)


def euclidean_distance(state: object, arguments: tuple[object, ...]) -> DistanceMetric:
    """The metric, made anew."""
    return _make_metric("euclidean", state)


def manhattan_distance(state: object, arguments: tuple[object, ...]) -> DistanceMetric:
    """The metric, made anew."""
    return _make_metric("manhattan", state)


def minkowski_distance(state: object, arguments: tuple[object, ...]) -> DistanceMetric:
    """The metric, made anew from its power and weights."""
    power, weights = _metric_state(state)
    return _make_metric("minkowski", state, p=power, **({"w": weights} if len(weights) else {}))


def _make_metric(name: str, state: object, **options: float | np.ndarray) -> DistanceMetric:
    from sklearn.metrics import DistanceMetric

    _metric_state(state)
    return DistanceMetric.get_metric(name, **options)


def _metric_state(state: object) -> tuple[float, np.ndarray]:
    if not isinstance(state, tuple) or len(state) < 2 or not isinstance(state[0], float):
        raise ArchiveError("The model holds a distance that cannot be read.")
    weights = state[1]
    if not isinstance(weights, np.ndarray) or weights.ndim != 1 or weights.dtype != np.float64:
        raise ArchiveError("The model holds a distance whose weights are not numbers.")
    return state[0], weights


def _is_size(value: object) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 < int(value) < _MOST_FEATURES
