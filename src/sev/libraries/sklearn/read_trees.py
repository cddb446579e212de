"""Readers of scikit-learn's tree models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier

from sev.backends import CannotReadError
from sev.backends.trees import Link, Tree, TreeBackend, build_forest, single_precision, to_numbers
from sev.libraries._checks import check_binary
from sev.typing import FittedClassifier, FloatArray, IntArray, NativeTable, Response

if TYPE_CHECKING:
    from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.tree._tree import Tree as CompiledTree


#: Models whose score is the mean over their trees, however deep these are inside.
Averaging: TypeAlias = "DecisionTreeClassifier | RandomForestClassifier | ExtraTreesClassifier | BaggingClassifier"


def read_mean(model: Averaging, response: Response) -> TreeBackend:
    """Read a decision tree, a forest, or bagging over them: the mean of the trees' probabilities."""
    _check_forest(model, response, ("predict_proba",))
    members = list(_read_members(model, np.arange(model.n_features_in_), 1.0, model.classes_))
    # The sum over equal weights is divided at the end, as the library does.
    weights = {weight for _, _, weight, _ in members}
    scale = weights.pop() if len(weights) == 1 else 1.0
    trees = [
        _read_tree(tree, columns, partial(_share_of_second, at=at), weight / scale)
        for tree, columns, weight, at in members
    ]
    forest = build_forest(trees, n_columns=model.n_features_in_, base=0.0)
    return TreeBackend(
        forest=forest, encoder=single_precision, link=Link("linear", scale), noise=1e-14 * forest.magnitude,
        takes_missing=_takes_missing(model),
    )  # fmt: skip


def read_gradient_boosting(model: GradientBoostingClassifier, response: Response) -> TreeBackend:
    """Read GradientBoostingClassifier."""
    _check_forest(model, response)
    if not (isinstance(model.init_, str) and model.init_ == "zero") and type(model.init_).__name__ != "DummyClassifier":
        raise CannotReadError(f"its initial estimator, {type(model.init_).__name__}, is not a constant")
    base = float(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0, 0])
    columns = np.arange(model.n_features_in_)
    trees = [
        _read_tree(stage[0].tree_, columns, lambda value: value[:, 0, 0], model.learning_rate)
        for stage in model.estimators_
    ]
    forest = build_forest(trees, n_columns=model.n_features_in_, base=base)
    slope = 2.0 if model.loss == "exponential" else 1.0
    link = Link("logistic", slope) if response == "predict_proba" else Link("linear", 1.0)
    return TreeBackend(forest=forest, encoder=single_precision, link=link, noise=1e-14 * forest.magnitude)


def read_hist_gradient_boosting(model: HistGradientBoostingClassifier, response: Response) -> TreeBackend:
    """Read HistGradientBoostingClassifier, with missing values and categories."""
    _check_forest(model, response)
    categorical = model.is_categorical_
    own_column = np.arange(model.n_features_in_)
    if categorical is not None and np.any(categorical):  # its encoder puts the categorical columns first
        own_column = np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~np.asarray(categorical))])
    trees = [_hist_tree(stage[0], own_column) for stage in model._predictors]
    base = float(np.ravel(model._baseline_prediction)[0])
    forest = build_forest(trees, n_columns=model.n_features_in_, base=base)

    link = Link("logistic", 1.0) if response == "predict_proba" else Link("linear", 1.0)
    return TreeBackend(
        forest=forest, encoder=partial(_encode_hist, model, own_column), link=link, noise=1e-14 * forest.magnitude,
        takes_missing=True,
        fixed_columns=() if categorical is None else tuple(np.flatnonzero(categorical).tolist()),
    )  # fmt: skip


def read_ada_boost(model: AdaBoostClassifier, response: Response) -> TreeBackend:
    """Read AdaBoostClassifier over decision trees: a weighted vote."""
    _check_forest(model, response)
    if getattr(model, "algorithm", "SAMME") == "SAMME.R":
        raise CannotReadError("AdaBoost with SAMME.R does not add one score for each tree")
    weights = np.asarray(model.estimator_weights_)[: len(model.estimators_)]
    columns = np.arange(model.n_features_in_)
    trees = []
    for member, weight in zip(model.estimators_, weights, strict=True):
        if not hasattr(member, "tree_"):
            raise CannotReadError(f"it boosts {type(member).__name__}, not decision trees")
        sides = np.where(np.asarray(member.classes_) == model.classes_[1], 1.0, -1.0)
        trees.append(_read_tree(member.tree_, columns, partial(_vote_of_tree, sides=sides), 2.0 * weight))
    forest = build_forest(trees, n_columns=model.n_features_in_, base=0.0)
    scale = 1.0 / float(weights.sum())
    link = Link("logistic", scale) if response == "predict_proba" else Link("linear", scale)
    return TreeBackend(
        forest=forest, encoder=single_precision, link=link, noise=1e-14 * forest.magnitude,
        takes_missing=_takes_missing(model),
    )  # fmt: skip


def _encode_hist(model: HistGradientBoostingClassifier, own_column: IntArray, rows: NativeTable) -> FloatArray:
    prepared = model._preprocess_X(rows, reset=False) if model._preprocessor is not None else to_numbers(rows)
    encoded = np.empty(prepared.shape, dtype=np.float64)
    encoded[:, own_column] = prepared
    return encoded


def _check_forest(
    model: FittedClassifier, response: Response, known: Collection[str] = ("predict_proba", "decision_function")
) -> None:
    if getattr(model, "n_outputs_", 1) != 1:
        raise CannotReadError("it has more than one output")
    check_binary(model, response, known)


def _takes_missing(model: FittedClassifier) -> bool:
    from sklearn.utils import get_tags  # scikit-learn 1.6

    return bool(get_tags(model).input_tags.allow_nan)


def _read_members(
    model: Averaging, columns: IntArray, weight: float, classes: np.ndarray
) -> Iterator[tuple[CompiledTree, IntArray, float, IntArray]]:
    """Trees under a mean, with the columns they see, their weight, and where the positive class is in their leaves."""
    if hasattr(model, "tree_"):
        if model.tree_.n_outputs != 1:
            raise CannotReadError("it has more than one output")
        # Members of bagging may number the classes from 0, and may have met only one of them.
        own = np.asarray(model.classes_)
        at = np.flatnonzero(own == classes[1])
        if not np.isin(own, classes).all():
            at = np.flatnonzero(own == 1)
        yield model.tree_, columns, weight, at
        return
    # Subclasses too, such as the balanced forest of imbalanced-learn: one that predicts otherwise fails the comparison.
    if not isinstance(model, RandomForestClassifier | ExtraTreesClassifier | BaggingClassifier):
        raise CannotReadError(f"its members are {type(model).__name__} models, which sev does not read as trees")
    seen = getattr(model, "estimators_features_", None)
    for number, member in enumerate(model.estimators_):
        own_columns = columns if seen is None else columns[np.asarray(seen[number])]
        yield from _read_members(member, own_columns, weight / len(model.estimators_), classes)


def _share_of_second(value: FloatArray, at: IntArray) -> FloatArray:
    return value[:, 0, at[0]] if at.size else np.zeros(value.shape[0])


def _vote_of_tree(value: FloatArray, sides: FloatArray) -> FloatArray:
    return sides[value[:, 0, :].argmax(axis=1)]


def _read_tree(tree: CompiledTree, columns: IntArray, leaf: Callable[[FloatArray], FloatArray], weight: float) -> Tree:
    inner = tree.children_left >= 0
    nodes = tree.__getstate__()["nodes"]
    return Tree(
        left=tree.children_left.astype(np.int64),
        right=tree.children_right.astype(np.int64),
        column=np.where(inner, columns[np.where(inner, tree.feature, 0)], 0),
        threshold=tree.threshold,
        value=leaf(tree.value) * weight,
        nan_left=nodes["missing_go_to_left"].astype(np.bool_) & inner,
    )


def _hist_tree(predictor: TreePredictor, own_column: IntArray) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(np.bool_)
    categories = {}
    for node in np.flatnonzero(nodes["is_categorical"].astype(np.bool_) & ~leaf):
        words = np.asarray(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
        bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
        categories[int(node)] = np.flatnonzero(bits).tolist()
    return Tree(
        left=np.where(leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(leaf, -1, nodes["right"].astype(np.int64)),
        column=own_column[nodes["feature_idx"]],
        threshold=nodes["num_threshold"],
        value=nodes["value"],
        nan_left=nodes["missing_go_to_left"].astype(np.bool_) & ~leaf,
        categories=categories,
    )
