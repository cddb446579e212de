"""treelite models in files: their fields as JSON, checked and built anew.

treelite's own binary format is not used, for its reader and its predictor follow the numbers in it blindly; nor is its
JSON, which leaves out infinite thresholds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from sev._optional import require
from sev.backends import CannotReadError
from sev.backends.trees import Tree, build_forest
from sev.exceptions import ArchiveError
from sev.typing import Parsed

if TYPE_CHECKING:
    from types import ModuleType

    from treelite import Model
    from treelite.model_builder import ModelBuilder


#: The fields of a model as they stand in a file, not yet checked.
_Document: TypeAlias = dict[str, Parsed]
_MOST_FEATURES = 10_000_000
_MOST_CLASSES = 100_000
_NUMERICAL, _CATEGORICAL = 1, 2  # kinds of nodes; 0 is a leaf
_COMPARISONS = ("", "==", "<", "<=", ">", ">=")
_TASKS = ("kBinaryClf", "kRegressor", "kMultiClf", "kLearningToRank", "kIsolationForest")
_POSTPROCESSORS = (
    *("identity", "identity_multiclass", "signed_square", "hinge", "sigmoid", "exponential", "softmax"),
    *("multiclass_ova", "logarithm_one_plus_exp", "exponential_standard_ratio"),
)
_SIZES = ("num_feature", "num_target", "num_class", "leaf_vector_shape", "average_tree_output", "task_type")
_NUMBERS = ("sigmoid_alpha", "ratio_c", "base_scores")
_OF_TREES = ("target_id", "class_id")
#: Fields of a tree: one entry per node, and lists of which each node has a part.
_NODES: dict[str, DTypeLike] = {
    **dict.fromkeys(("node_type", "cmp", "default_left", "category_list_right_child"), np.uint8),
    **dict.fromkeys(("cleft", "cright", "split_index"), np.int32),
    **dict.fromkeys(("threshold", "leaf_value"), np.float64),
    **dict.fromkeys(("leaf_vector_begin", "leaf_vector_end", "category_list_begin", "category_list_end"), np.uint64),
}
_LISTS: dict[str, DTypeLike] = {"leaf_vector": np.float64, "category_list": np.uint32}


def model_to_bytes(model: Model) -> bytes:
    """A model as JSON; what its training left on the nodes is not kept."""
    header = model.get_header_accessor()
    trees = [model.get_tree_accessor(number) for number in range(model.num_tree)]
    document = {
        "type": model.input_type,
        "postprocessor": header.get_field("postprocessor"),
        **{name: np.asarray(header.get_field(name)).tolist() for name in (*_SIZES, *_NUMBERS, *_OF_TREES)},
        "trees": [{name: tree.get_field(name).tolist() for name in (*_NODES, *_LISTS)} for tree in trees],
    }
    return json.dumps(document, separators=(",", ":")).encode()


def model_from_bytes(data: bytes) -> Model:
    """Inverse of :func:`model_to_bytes`."""
    treelite = require("treelite", extra=None, feature="This model")
    try:
        document = json.loads(data)
        _check_header(document)
        trees = [_checked_tree(tree, document) for tree in document["trees"]]
        return _build_trees(document, trees, treelite.model_builder)
    except CannotReadError as error:
        raise ArchiveError(f"The treelite model is damaged: {error}.") from error
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, treelite.TreeliteError) as error:
        raise ArchiveError(f"The treelite model cannot be read: {type(error).__name__}: {str(error)[:80]}.") from error


def reduce_model(model: Model) -> tuple[Callable[[bytes], Model], tuple[bytes]]:
    """A model for ``pickle``, which treelite does not support by itself."""
    return model_from_bytes, (model_to_bytes(model),)


def _check_header(document: _Document) -> None:
    """Refuse sizes that do not fit together."""
    [n_features], [n_classes], [task] = (document[name] for name in ("num_feature", "num_class", "task_type"))
    _refuse_unless(document["type"] in ("float32", "float64"), "type of numbers")
    _refuse_unless(_is_integer(n_features, 1, _MOST_FEATURES), "number of features")
    _refuse_unless(_is_integer(n_classes, 1, _MOST_CLASSES) and document["num_target"] == [1], "number of outputs")
    _refuse_unless(document["leaf_vector_shape"] in ([1, 1], [1, n_classes]), "size of its leaves")
    _refuse_unless(_is_integer(task, 0, len(_TASKS)) and document["postprocessor"] in _POSTPROCESSORS, "task")
    lowest = -1 if document["leaf_vector_shape"][1] > 1 else 0  # -1: the tree is for all classes
    for name, stop in (("target_id", 1), ("class_id", n_classes)):
        fits = len(document[name]) == len(document["trees"])
        _refuse_unless(fits and all(_is_integer(one, lowest, stop) for one in document[name]), name)
    fits = all(np.isfinite(document[name]).all() for name in _NUMBERS)
    _refuse_unless(fits and [len(document[name]) for name in _NUMBERS] == [1, 1, n_classes], "base scores")


def _checked_tree(tree: dict[str, ArrayLike], document: _Document) -> dict[str, np.ndarray]:
    """The arrays of a tree whose nodes all lead to leaves, and ask only for features and categories that exist."""
    found = {name: np.array(tree[name], dtype=dtype) for name, dtype in (_NODES | _LISTS).items()}
    kind, n_outputs = found["node_type"], document["leaf_vector_shape"][1]
    _refuse_unless(all(found[name].shape == kind.shape for name in _NODES), "number of nodes")
    numerical, categorical, leaf = kind == _NUMERICAL, kind == _CATEGORICAL, kind == 0
    _refuse_unless(np.isin(kind, (0, _NUMERICAL, _CATEGORICAL)).all(), "kind of node")
    _refuse_unless(((found["cleft"] == -1) == leaf).all() and (found["cright"][leaf] == -1).all(), "leaves")
    _refuse_unless(np.isin(found["cmp"][numerical], range(1, len(_COMPARISONS))).all(), "comparison")
    for name in _LISTS:
        begin, end = found[f"{name}_begin"], found[f"{name}_end"]
        _refuse_unless(((begin <= end) & (end <= len(found[name]))).all(), name)
    if n_outputs > 1:
        sizes = (found["leaf_vector_end"] - found["leaf_vector_begin"])[leaf]
        _refuse_unless((sizes == n_outputs).all() and np.isfinite(found["leaf_vector"]).all(), "leaf")
    build_forest(
        [
            Tree(
                left=found["cleft"].astype(np.int64),
                right=found["cright"].astype(np.int64),
                column=np.where(leaf, 0, found["split_index"]),
                threshold=found["threshold"],
                value=found["leaf_value"],
                categories={
                    node: _read_part(found, "category_list", node).tolist()
                    for node in np.flatnonzero(categorical).tolist()
                },
            )
        ],
        n_columns=document["num_feature"][0],
        base=0.0,
    )
    return found


def _read_part(tree: dict[str, np.ndarray], name: str, node: int) -> np.ndarray:
    return tree[name][int(tree[f"{name}_begin"][node]) : int(tree[f"{name}_end"][node])]


def _build_trees(document: _Document, trees: list[dict[str, np.ndarray]], builders: ModuleType) -> Model:
    builder = builders.ModelBuilder(
        threshold_type=document["type"],
        leaf_output_type=document["type"],
        metadata=builders.Metadata(
            num_feature=document["num_feature"][0],
            task_type=_TASKS[document["task_type"][0]],
            average_tree_output=document["average_tree_output"] == [1],
            num_target=1,
            num_class=document["num_class"],
            leaf_vector_shape=document["leaf_vector_shape"],
        ),
        tree_annotation=builders.TreeAnnotation(len(trees), document["target_id"], document["class_id"]),
        postprocessor=builders.PostProcessorFunc(
            document["postprocessor"], sigmoid_alpha=document["sigmoid_alpha"][0], ratio_c=document["ratio_c"][0]
        ),
        base_scores=document["base_scores"],
    )
    for tree in trees:
        builder.start_tree()
        for node in range(len(tree["node_type"])):
            builder.start_node(node)
            _build_node(builder, tree, node, document["leaf_vector_shape"][1])
            builder.end_node()
        builder.end_tree()
    return builder.commit()


def _build_node(builder: ModelBuilder, tree: dict[str, np.ndarray], node: int, n_outputs: int) -> None:
    if tree["node_type"][node] == 0:
        builder.leaf(
            float(tree["leaf_value"][node]) if n_outputs == 1 else _read_part(tree, "leaf_vector", node).tolist()
        )
        return
    common = {
        "feature_id": int(tree["split_index"][node]),
        "default_left": bool(tree["default_left"][node]),
        "left_child_key": int(tree["cleft"][node]),
        "right_child_key": int(tree["cright"][node]),
    }
    if tree["node_type"][node] == _NUMERICAL:
        opname = _COMPARISONS[tree["cmp"][node]]
        builder.numerical_test(threshold=float(tree["threshold"][node]), opname=opname, **common)
    else:
        right = bool(tree["category_list_right_child"][node])
        members = _read_part(tree, "category_list", node).tolist()
        builder.categorical_test(category_list=members, category_list_right_child=right, **common)


def _is_integer(value: object, low: int, stop: int) -> bool:
    return type(value) is int and low <= value < stop


def _refuse_unless(holds: bool | np.bool_, what: str) -> None:
    if not holds:
        raise ArchiveError(f"The treelite model is damaged: its {what} is out of range.")
