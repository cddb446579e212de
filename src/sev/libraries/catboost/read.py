"""Reader of CatBoost's classifier: numeric splits and one-hot categories."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import pandas as pd

from sev.backends import CannotReadError, DecisionRule
from sev.backends.trees import Link, Tree, TreeBackend, build_forest, single_precision, to_frame
from sev.libraries._checks import check_binary
from sev.typing import BoolArray, FloatArray, IntArray, NativeTable, Response

if TYPE_CHECKING:
    from catboost import CatBoostClassifier


class _Split(TypedDict, total=False):
    """A question about one column, in CatBoost's export."""

    split_type: str
    float_feature_index: int
    border: float
    cat_feature_index: int
    value: int


class _Feature(TypedDict, total=False):
    """A column of the export."""

    feature_index: int
    flat_feature_index: int
    nan_value_treatment: str
    values: list[int]


class _Node(TypedDict, total=False):
    """A tree of the export: with one split for each level, or nested."""

    splits: list[_Split]
    leaf_values: list[float]
    split: _Split
    left: _Node
    right: _Node
    value: float | list[float]


class _Export(TypedDict, total=False):
    """What is read of CatBoost's JSON."""

    model_info: dict[str, dict[str, dict[str, str]]]
    features_info: dict[str, list[_Feature]]
    scale_and_bias: tuple[float, list[float]]
    oblivious_trees: list[_Node]
    trees: list[_Node]


def read_classifier(model: CatBoostClassifier, response: Response) -> TreeBackend:
    """Read CatBoostClassifier."""
    check_binary(model, response)
    stored = _export_json(model)
    loss = stored["model_info"].get("params", {}).get("loss_function", {}).get("type", "Logloss")
    if loss not in {"Logloss", "CrossEntropy"}:
        raise CannotReadError(f"the loss {loss} is not supported by the exact search")
    columns = _Columns(stored["features_info"])
    scale, bias = stored["scale_and_bias"]
    if "oblivious_trees" in stored:
        trees = [_read_oblivious_tree(tree, columns, float(scale)) for tree in stored["oblivious_trees"]]
    else:
        trees = [_read_nested_tree(tree, columns, float(scale)) for tree in stored["trees"]]
    base = float(np.ravel(bias)[0]) if np.size(bias) else 0.0
    forest = build_forest(trees, n_columns=len(model.feature_names_), base=base)
    return TreeBackend(
        forest=forest,
        encoder=partial(_encode_rows, columns=columns, codes=_Codes(model) if columns.one_hot else None),
        link=Link("logistic", 1.0),
        noise=1e-13 * forest.magnitude,
        takes_missing=True,
        fixed_columns=tuple(columns.categorical),
    )


def category_places(model: CatBoostClassifier, n_columns: int) -> list[int]:
    """Positions of the columns that the model takes as categories."""
    return [int(place) for place in model.get_cat_feature_indices()]


def decision_rule(model: CatBoostClassifier) -> DecisionRule | None:
    """The threshold that the model keeps for its own predictions."""
    if len(model.classes_) != 2:
        return None
    return DecisionRule("predict_proba", float(model.get_probability_threshold()))


def _export_json(model: CatBoostClassifier) -> _Export:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            model.save_model(str(path), format="json")
        except Exception as error:
            raise CannotReadError(f"CatBoost does not export it: {error}") from error
        exported: _Export = json.loads(path.read_text())
        return exported


class _Columns:
    """Where features of the export are in the rows, and how they treat missing values."""

    def __init__(self, info: dict[str, list[_Feature]]) -> None:
        numeric = info.get("float_features", [])
        self.numeric = {feature["feature_index"]: feature["flat_feature_index"] for feature in numeric}
        self.nan_left = {
            feature["feature_index"]: feature.get("nan_value_treatment") != "AsTrue" for feature in numeric
        }
        categorical = info.get("categorical_features", [])
        self.categorical = [feature["flat_feature_index"] for feature in categorical]
        self.one_hot = {  # number among the categorical features -> values in the order of their codes
            feature["feature_index"]: feature["values"] for feature in categorical if feature.get("values")
        }
        self.column_of_category = {feature["feature_index"]: feature["flat_feature_index"] for feature in categorical}

    def split(self, split: _Split) -> tuple[int, float, bool, list[int] | None]:
        """Column, threshold, whether missing values go left, and the category of a one-hot split."""
        kind = split["split_type"]
        if kind == "FloatFeature":
            number = split["float_feature_index"]
            return self.numeric[number], float(split["border"]), self.nan_left[number], None
        if kind == "OneHotFeature":
            number = split["cat_feature_index"]
            return self.column_of_category[number], 0.0, False, [self.one_hot[number].index(split["value"])]
        raise CannotReadError(f"it has splits of type {kind}, whose values depend on several columns")


def _read_oblivious_tree(tree: _Node, columns: _Columns, scale: float) -> Tree:
    """A tree with one split for each level; split i is bit i of the number of the leaf."""
    splits = [columns.split(split) for split in tree.get("splits") or []]
    depth = len(splits)
    n_inner = (1 << depth) - 1
    node = np.arange(2 * n_inner + 1)
    level = np.floor(np.log2(node + 1)).astype(np.int64)
    inner = node < n_inner
    at = np.where(inner, level, 0)
    values = np.zeros(node.size)
    values[n_inner:] = np.asarray(tree["leaf_values"], dtype=np.float64)[_reversed_bits(depth)] * scale
    categories = {
        int(number): category
        for number in node[inner]
        if (category := splits[level[number]][3]) is not None
    }  # fmt: skip
    return Tree(
        left=np.where(inner, 2 * node + 1, -1),
        right=np.where(inner, 2 * node + 2, -1),
        column=_pick_splits([split[0] for split in splits], at, inner).astype(np.int64),
        threshold=_pick_splits([split[1] for split in splits], at, inner),
        value=values,
        nan_left=_pick_splits([split[2] for split in splits], at, inner).astype(np.bool_),
        categories=categories,
        outside_left=True,
    )


def _pick_splits(values: list[float], at: IntArray, inner: BoolArray) -> FloatArray:
    return np.where(inner, np.asarray(values, dtype=np.float64)[at], 0.0) if values else np.zeros(at.size)


def _reversed_bits(depth: int) -> IntArray:
    """The leaves from left to right: the first split is the lowest bit of a leaf's number, yet the top of the tree."""
    numbers = np.arange(1 << depth)
    leaves = np.zeros_like(numbers)
    for bit in range(depth):
        leaves |= ((numbers >> bit) & 1) << (depth - 1 - bit)
    return leaves


def _read_nested_tree(tree: _Node, columns: _Columns, scale: float) -> Tree:
    """A tree whose branches grew apart."""
    rows: list[tuple[int, int, int, float, float, bool]] = []
    categories: dict[int, list[int]] = {}
    waiting = [(tree, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        number = len(rows)
        if parent >= 0:
            row = list(rows[parent])
            row[side] = number
            rows[parent] = tuple(row)  # type: ignore[assignment]
        if "split" not in node:
            rows.append((-1, -1, 0, 0.0, float(np.ravel(node["value"])[0]) * scale, False))
            continue
        column, border, nan_left, category = columns.split(node["split"])
        if category is not None:
            categories[number] = category
        rows.append((0, 0, column, border, 0.0, nan_left))
        waiting += [(node["left"], number, 0), (node["right"], number, 1)]
    parts = [np.array(part) for part in zip(*rows, strict=True)]
    return Tree(
        left=parts[0], right=parts[1], column=parts[2], threshold=parts[3], value=parts[4], nan_left=parts[5],
        categories=categories, outside_left=True,
    )  # fmt: skip


class _Codes:
    """CatBoost's own numbering of the values of a one-hot feature; values it has not met get one number more."""

    def __init__(self, model: CatBoostClassifier) -> None:
        if not hasattr(model._object, "_calc_cat_feature_perfect_hash"):
            raise CannotReadError("this version of CatBoost does not report how it numbers categories")
        self._model = model
        self._known: dict[tuple[str, int], int] = {}

    def __call__(self, value: str, feature: int) -> int:
        """Number of a value of a feature."""
        if (value, feature) not in self._known:
            number = self._model._object._calc_cat_feature_perfect_hash(value, feature)
            self._known[value, feature] = int(number)
        return self._known[value, feature]


def _encode_rows(rows: NativeTable, columns: _Columns, codes: _Codes | None) -> FloatArray:
    if not columns.categorical:
        return single_precision(rows)
    table = to_frame(rows)
    table = table.copy(deep=False) if isinstance(table, pd.DataFrame) else pd.DataFrame(np.asarray(table, dtype=object))
    for feature, column in columns.column_of_category.items():
        numbers = np.zeros(len(table))
        if feature in columns.one_hot and codes is not None:
            numbers[:] = [codes(str(value), feature) for value in table.iloc[:, column]]
        table.isetitem(column, numbers)
    return single_precision(table)
