"""Readers and scorer of LightGBM's tree boosters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.backends import CannotReadError
from sev.backends.trees import Link, Tree, TreeBackend, build_forest, to_codes, to_frame, with_wide_zero
from sev.exceptions import InputError
from sev.libraries._checks import check_binary, check_call
from sev.typing import BoolArray, Cell, FloatArray, NativeTable, Response

if TYPE_CHECKING:
    from lightgbm import Booster, LGBMClassifier


_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_MISSING_IS_ZERO = 1  # in bits 2 and 3 of a decision type


def read_classifier(model: LGBMClassifier, response: Response) -> TreeBackend:
    """Read LGBMClassifier."""
    check_binary(model, response)
    return _read_booster_form(model.booster_)


def read_booster(model: Booster, response: Response) -> TreeBackend:
    """Read a raw Booster."""
    check_call(response)
    return _read_booster_form(model)


def booster_scorer(model: Booster) -> Callable[[NativeTable], FloatArray]:
    """The booster's own predictions."""
    return lambda rows: np.asarray(model.predict(rows), dtype=np.float64)


def category_places(model: LGBMClassifier | Booster, n_columns: int) -> list[int]:
    """Positions of the columns that the model takes as categories."""
    booster = getattr(model, "booster_", model)
    return _find_categorical(_read_fields(booster.model_to_string(num_iteration=1).partition("\nTree=")[0]))


def _find_categorical(header: dict[str, str]) -> list[int]:
    """Columns of categories: numbers have a range in brackets, categories the list of their codes."""
    infos = header.get("feature_infos", "").split(" ")
    return [column for column, info in enumerate(infos) if info not in {"none", ""} and not info.startswith("[")]


def _read_booster_form(booster: Booster) -> TreeBackend:
    # As prediction does: the best iteration after early stopping, else all.
    text = booster.model_to_string()
    head, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    header = _read_fields(head)
    name, *options = header.get("objective", "custom").split()
    settings = dict(option.split(":") for option in options if ":" in option)
    if name not in {"binary", "cross_entropy"}:
        raise CannotReadError(f"the objective {name} is not supported by the exact search")
    if int(header["num_tree_per_iteration"]) != 1:
        raise CannotReadError("it has more than one output")
    averaged = "average_output" in head.split("\n")
    weight = 1.0 / max(1, len(blocks)) if averaged else 1.0
    trees = [_read_tree(_read_fields(block)) for block in blocks]
    n_columns = int(header["max_feature_idx"]) + 1
    forest = build_forest(trees, n_columns=n_columns, base=0.0)
    categories = booster.pandas_categorical
    return TreeBackend(
        forest=forest,
        encoder=partial(_encode_rows, categories=categories) if categories else with_wide_zero,
        link=Link("logistic", weight * float(settings.get("sigmoid", 1.0))),
        noise=1e-14 * forest.magnitude,
        takes_missing=True,
        fixed_columns=tuple(_find_categorical(header)),
    )


def _read_fields(block: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in block.split("\n"))
    return {name: value for name, equals, value in pairs if equals}


def _read_tree(fields: dict[str, str]) -> Tree:
    if fields.get("is_linear", "0") != "0":
        raise CannotReadError("its leaves are linear models")
    n_leaves = int(fields["num_leaves"])
    leaves = _read_numbers(fields["leaf_value"], np.float64)
    if n_leaves == 1:
        none = np.full(1, -1, dtype=np.int64)
        return Tree(left=none, right=none, column=np.zeros(1, np.int64), threshold=np.zeros(1), value=leaves[:1])
    n_inner = n_leaves - 1  # inner nodes first, then leaves; children below zero are leaves, numbered from -1 down
    children = [_read_numbers(fields[side], np.int64) for side in ("left_child", "right_child")]
    left, right = (np.where(child < 0, n_inner - 1 - child, child) for child in children)
    decision = _read_numbers(fields["decision_type"], np.int64)
    threshold = _read_numbers(fields["threshold"], np.float64)
    categorical = (decision & _CATEGORICAL) != 0
    missing = (decision >> 2) & 3
    default_left = (decision & _DEFAULT_LEFT) != 0
    # Where NaN is not the marker of missing values it counts as zero; in a category it goes right.
    nan_left = np.where(missing == 0, threshold >= 0.0, default_left) & ~categorical
    none = np.full(n_leaves, -1, dtype=np.int64)
    blank = np.zeros(n_leaves, dtype=np.bool_)
    return Tree(
        left=np.concatenate([left, none]),
        right=np.concatenate([right, none]),
        column=np.concatenate([_read_numbers(fields["split_feature"], np.int64), np.zeros(n_leaves, np.int64)]),
        threshold=np.concatenate([threshold, np.zeros(n_leaves)]),
        value=np.concatenate([np.zeros(n_inner), leaves]),
        nan_left=np.concatenate([nan_left, blank]),
        zero_missing=np.concatenate([(missing == _MISSING_IS_ZERO) & ~categorical, blank]),
        categories=_category_sets(fields, threshold, categorical),
    )


def _category_sets(fields: dict[str, str], threshold: FloatArray, categorical: BoolArray) -> dict[int, list[int]]:
    if not categorical.any():
        return {}
    bounds = _read_numbers(fields["cat_boundaries"], np.int64)
    words = _read_numbers(fields["cat_threshold"], np.uint32)
    sets = {}
    for node in np.flatnonzero(categorical):
        number = int(threshold[node])
        own = words[bounds[number] : bounds[number + 1]]
        sets[int(node)] = np.flatnonzero(np.unpackbits(own.astype("<u4").view(np.uint8), bitorder="little")).tolist()
    return sets


def _read_numbers(text: str, dtype: type[np.generic]) -> np.ndarray:
    return np.array(text.split(), dtype=dtype)


def _encode_rows(rows: NativeTable, categories: list[list[Cell]]) -> FloatArray:
    return with_wide_zero(_with_codes(to_frame(rows), categories))


def _with_codes(table: NativeTable, categories: list[list[Cell]]) -> NativeTable:
    """The same table with the model's own codes in place of categories."""
    if not isinstance(table, pd.DataFrame):
        return table
    table = table.copy(deep=False)
    columns = [column for column, dtype in enumerate(table.dtypes) if isinstance(dtype, pd.CategoricalDtype)]
    if len(columns) != len(categories):
        raise InputError(
            f"The rows have {len(columns)} category columns, but the model was trained with {len(categories)}: pass "
            "rows with the category columns of the training rows."
        )
    for column, known in zip(columns, categories, strict=True):
        table.isetitem(column, to_codes(table.iloc[:, column], known))
    return table
