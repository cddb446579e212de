"""Reader and scorer of treelite models, whose scores are those of treelite's own predictor (GTIL)."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sev.backends import CannotReadError
from sev.backends.trees import (
    HALF_ULP,
    Link,
    Tree,
    TreeBackend,
    build_forest,
    sequential_rounding,
    single_precision,
    to_numbers,
)
from sev.exceptions import ModelError
from sev.libraries._checks import check_call
from sev.libraries.treelite.files import reduce_model
from sev.typing import BoolArray, FloatArray, IntArray, NativeTable, Response

if TYPE_CHECKING:
    from treelite import Model
    from treelite.model import TreeAccessor


_NUMERICAL, _CATEGORICAL = 1, 2  # kinds of nodes
_LESS, _LESS_OR_EQUAL, _GREATER, _GREATER_OR_EQUAL = 2, 3, 4, 5  # comparisons
_LINKS = {"sigmoid": "logistic", "identity": "linear", "identity_multiclass": "linear"}


def model_scorer(model: Model) -> Callable[[NativeTable], FloatArray]:
    """The model's own predictions: the score of the second class, or one column per class."""
    from treelite import gtil

    # it holds a pointer, and explainers go to other processes
    copyreg.pickle(type(model), reduce_model)

    def score(rows: NativeTable) -> FloatArray:
        outputs = gtil.predict(model, np.ascontiguousarray(to_numbers(rows), dtype=model.input_type), nthread=1)
        if outputs.shape[1] != 1:
            raise ModelError(f"The treelite model predicts {outputs.shape[1]} outputs at once; one is needed.")
        scores = outputs[:, 0, :].astype(np.float64)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    return score


def category_places(model: Model, n_columns: int) -> list[int]:
    """Positions of the columns that the model takes as categories."""
    found: set[int] = set()
    for number in range(model.num_tree):
        tree = model.get_tree_accessor(number)
        found.update(tree.get_field("split_index")[tree.get_field("node_type") == _CATEGORICAL].tolist())
    return sorted(found)


def read_model(model: Model, response: Response) -> TreeBackend:
    """Read a model with one output, or with two whose leaves hold both."""
    check_call(response)
    header = model.get_header_accessor()
    name = str(header.get_field("postprocessor"))
    if name not in _LINKS:
        raise CannotReadError(f"the postprocessor {name} is not supported by the exact search")
    n_outputs = int(np.max(header.get_field("num_class")))
    if int(header.get_field("num_target")[0]) != 1 or n_outputs > 2:
        raise CannotReadError("it has more than one output")
    if n_outputs == 2 and list(header.get_field("leaf_vector_shape")) != [1, 2]:
        raise CannotReadError("it has trees for one of its two outputs only")
    trees = [_read_tree(model.get_tree_accessor(number), n_outputs) for number in range(model.num_tree)]
    # Trees are summed, then averaged, and the base score is added last.
    n_averaged = max(1, len(trees)) if header.get_field("average_tree_output")[0] else 1
    base = float(header.get_field("base_scores")[-1]) * n_averaged
    forest = build_forest(trees, n_columns=model.num_feature, base=base)
    alpha = float(header.get_field("sigmoid_alpha")[0]) if name == "sigmoid" else 1.0
    single = model.output_type == "float32"
    categorical = tuple(category_places(model, model.num_feature))
    return TreeBackend(
        forest=forest,
        encoder=single_precision if model.input_type == "float32" else to_numbers,
        link=Link("logistic" if name == "sigmoid" else "linear", alpha / n_averaged),
        noise=sequential_rounding(trees, base) if single else 1e-14 * forest.magnitude,
        score_noise=4.0 * HALF_ULP * (1.0 if name == "sigmoid" else forest.magnitude) if single else 1e-15,
        takes_missing=True,
        fixed_columns=categorical,
    )


def _read_tree(tree: TreeAccessor, n_outputs: int) -> Tree:
    kind, comparison = tree.get_field("node_type"), tree.get_field("cmp")
    numerical, categorical = kind == _NUMERICAL, kind == _CATEGORICAL
    if not np.isin(comparison[numerical], (_LESS, _LESS_OR_EQUAL, _GREATER, _GREATER_OR_EQUAL)).all():
        raise CannotReadError("it has splits that test for equality")
    # "x > t" goes left where "x <= t" goes right, and a set whose members go right is one whose members go left
    swapped = (numerical & (comparison >= _GREATER)) | (
        categorical & (tree.get_field("category_list_right_child") != 0)
    )
    sides = [tree.get_field(side).astype(np.int64) for side in ("cleft", "cright")]
    return Tree(
        left=np.where(swapped, sides[1], sides[0]),
        right=np.where(swapped, sides[0], sides[1]),
        column=np.maximum(tree.get_field("split_index").astype(np.int64), 0),
        threshold=_shift_thresholds(tree.get_field("threshold"), np.isin(comparison, (_LESS, _GREATER_OR_EQUAL))),
        value=_leaf_values(tree, kind == 0, n_outputs),
        nan_left=(tree.get_field("default_left") != 0) ^ swapped,
        categories=_category_sets(tree, np.flatnonzero(categorical)),
    )


def _shift_thresholds(threshold: FloatArray, strict: BoolArray) -> FloatArray:
    """Numbers below a threshold are at most the number just before it, in the precision of the comparison."""
    with np.errstate(over="ignore"):
        before = np.nextafter(threshold, threshold.dtype.type(-np.inf))
    return np.where(strict, before, threshold).astype(np.float64)


def _leaf_values(tree: TreeAccessor, leaf: BoolArray, n_outputs: int) -> FloatArray:
    """The output of each leaf: the last of both where leaves hold two."""
    if n_outputs == 1:
        return np.asarray(tree.get_field("leaf_value"), dtype=np.float64)
    values = np.zeros(leaf.size)
    values[leaf] = tree.get_field("leaf_vector")[tree.get_field("leaf_vector_end")[leaf].astype(np.int64) - 1]
    return values


def _category_sets(tree: TreeAccessor, nodes: IntArray) -> dict[int, list[int]]:
    members = tree.get_field("category_list")
    bounds = zip(tree.get_field("category_list_begin")[nodes], tree.get_field("category_list_end")[nodes], strict=True)
    return {int(node): members[int(a) : int(b)].tolist() for node, (a, b) in zip(nodes, bounds, strict=True)}
