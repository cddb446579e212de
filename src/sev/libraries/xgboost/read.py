"""Readers and scorer of XGBoost's tree boosters."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.backends import CannotReadError
from sev.backends.trees import (
    HALF_ULP,
    Link,
    Tree,
    TreeBackend,
    build_forest,
    sequential_rounding,
    single_precision,
    to_codes,
    to_frame,
)
from sev.libraries._checks import check_binary, check_call
from sev.libraries.xgboost import schema
from sev.typing import Cell, FloatArray, NativeTable, Response

if TYPE_CHECKING:
    from xgboost import Booster, XGBClassifier


#: Objectives whose prediction is the logistic function of the margin; and those where it is the margin itself.
_LOGISTIC = {"binary:logistic", "reg:logistic"}
_RAW = {"binary:logitraw"}


def read_classifier(model: XGBClassifier, response: Response) -> TreeBackend:
    """Read XGBClassifier, with the trees that its early stopping kept and its own marker of missing values."""
    check_binary(model, response)
    last = model._get_iteration_range(None)[1]
    return _read_booster_form(model.get_booster(), int(last), model.missing, raw_is_score=False)


def read_booster(model: Booster, response: Response) -> TreeBackend:
    """Read a raw Booster, which predicts with all its trees."""
    check_call(response)
    return _read_booster_form(model, 0, np.nan, raw_is_score=True)


def booster_scorer(model: Booster) -> Callable[[NativeTable], FloatArray]:
    """The booster's own predictions for rows in any form that XGBoost takes."""
    from xgboost import DMatrix

    def score(rows: NativeTable) -> FloatArray:
        if hasattr(rows, "columns"):
            data = DMatrix(rows, enable_categorical=True)
        else:
            data = DMatrix(rows, feature_names=model.feature_names, feature_types=model.feature_types)
        return np.asarray(model.predict(data), dtype=np.float64)

    return score


def category_places(model: XGBClassifier | Booster, n_columns: int) -> list[int]:
    """Positions of the columns that the model takes as categories."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    return [place for place, kind in enumerate(booster.feature_types or ()) if kind == "c"]


def _read_booster_form(booster: Booster, last_round: int, missing: float, *, raw_is_score: bool) -> TreeBackend:
    learner: schema.Learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    objective = learner["objective"]["name"]
    if objective not in _LOGISTIC | _RAW or (objective in _RAW and not raw_is_score):
        raise CannotReadError(f"the objective {objective} is not supported by the exact search")
    parameters = learner["learner_model_param"]
    if int(parameters.get("num_class", 0)) > 1 or int(parameters.get("num_target", 1)) > 1:
        raise CannotReadError("it has more than one output")
    gradient_booster = learner["gradient_booster"]
    if gradient_booster["name"] not in {"gbtree", "dart"}:
        raise CannotReadError(f"the booster {gradient_booster['name']} is not made of trees")
    model = gradient_booster.get("gbtree", gradient_booster)["model"]
    n_trees = len(model["trees"]) if last_round == 0 else _trees_until(model, last_round)
    weights = gradient_booster.get("weight_drop", [1.0] * len(model["trees"]))
    trees = [_read_tree(tree, weight) for tree, weight in zip(model["trees"][:n_trees], weights[:n_trees], strict=True)]
    n_columns = int(parameters["num_feature"])
    forest = build_forest(trees, n_columns=n_columns, base=_base_margin(parameters["base_score"], objective))
    kinds = learner.get("feature_types") or []
    categorical = tuple(column for column, kind in enumerate(kinds) if kind == "c")
    categories = _read_categories(model.get("cats"))
    return TreeBackend(
        forest=forest,
        encoder=partial(_encode_rows, missing=missing, categorical=categorical, categories=categories),
        link=Link("logistic" if objective in _LOGISTIC else "linear", 1.0),
        noise=sequential_rounding(trees, forest.base, weighted=gradient_booster["name"] == "dart"),
        score_noise=4.0 * HALF_ULP * (1.0 if objective in _LOGISTIC else forest.magnitude),
        takes_missing=True,
        fixed_columns=categorical,
    )


def _trees_until(model: schema.Model, last_round: int) -> int:
    pointers = model.get("iteration_indptr")
    if pointers is not None:
        return int(pointers[last_round])
    return last_round * int(model["gbtree_model_param"]["num_parallel_tree"])


def _base_margin(text: str, objective: str) -> float:
    """The constant before the first tree; a number, or since XGBoost 3.1 a list with one."""
    base = json.loads(text)
    if isinstance(base, list):
        if len(base) != 1:
            raise CannotReadError("it has more than one output")
        base = base[0]
    if objective not in _LOGISTIC:
        return float(np.float32(base))
    with np.errstate(divide="ignore"):  # as XGBoost itself does it, in float32
        return float(-np.log(np.float32(1.0) / np.float32(base) - np.float32(1.0)))


def _read_tree(tree: schema.Tree, weight: float) -> Tree:
    if int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
        raise CannotReadError("its leaves are vectors")
    left = np.asarray(tree["left_children"], dtype=np.int64)
    condition = np.asarray(tree["split_conditions"], dtype=np.float32)
    categories = {}
    for node, begin, size in zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    ):
        categories[int(node)] = tree["categories"][begin : begin + size]
    # Numbers below the threshold go left: at most the float32 just before it.
    with np.errstate(over="ignore"):
        threshold = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)
    return Tree(
        left=left,
        right=np.asarray(tree["right_children"], dtype=np.int64),
        column=np.asarray(tree["split_indices"], dtype=np.int64),
        threshold=threshold,
        value=(condition * np.float32(weight)).astype(np.float64),
        nan_left=np.asarray(tree["default_left"], dtype=np.bool_) & (left >= 0),
        categories=categories,
        outside_left=True,
    )


def _read_categories(stored: schema.Encodings | None) -> dict[int, list[Cell]]:
    """The categories that the model was trained with, where it keeps them (XGBoost 3.1)."""
    found: dict[int, list[Cell]] = {}
    for column, encoding in enumerate((stored or {}).get("enc", [])):
        values = encoding.get("values", [])
        if not values:
            continue
        if "offsets" in encoding:
            text = bytes(value % 256 for value in values)
            ends = encoding["offsets"]
            found[column] = [text[a:b].decode() for a, b in pairwise(ends)]
        else:
            found[column] = list(values)
    return found


def _encode_rows(
    rows: NativeTable, missing: float, categorical: tuple[int, ...], categories: dict[int, list[Cell]]
) -> FloatArray:
    table = to_frame(rows)
    if isinstance(table, pd.DataFrame) and categorical:
        table = table.copy(deep=False)
        for column in categorical:
            series = table.iloc[:, column]
            if isinstance(series.dtype, pd.CategoricalDtype):
                known = categories.get(column, list(series.cat.categories))
                table.isetitem(column, to_codes(series, known))
    encoded = single_precision(table)
    if missing is not None and not np.isnan(missing):
        encoded[encoded == np.float64(np.float32(missing))] = np.nan
    for column in categorical:  # codes below zero are out of range, not rounded to zero
        encoded[encoded[:, column] < 0, column] = -1.0
    return encoded
