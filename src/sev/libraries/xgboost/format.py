"""XGBoost's formats: parsed, checked, and written anew, so that XGBoost reads only what was checked.

XGBoost follows children, features, output groups and sets of categories by their numbers without looking whether they
exist.
"""

from __future__ import annotations

import json
import re

import numpy as np
from numpy.typing import ArrayLike

from sev.exceptions import ArchiveError
from sev.libraries._checks import check_depth
from sev.libraries.xgboost import schema, ubjson
from sev.typing import Parsed

_NUMBER_TEXT = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?", flags=re.ASCII)
_OBJECTIVE = re.compile(r"[a-z0-9_]+(:[a-z0-9_]+)?", flags=re.ASCII)
_MOST_FEATURES = 10_000_000
_MOST_GROUPS = 100_000
_MOST_CATEGORIES = 1 << 24
_MOST_THREADS = 4096


def checked_bytes(data: bytes) -> tuple[bytes, int]:
    """A model, in JSON or UBJSON, as bytes that XGBoost reads without harm, and the threads that it asked for.

    Parameters
    ----------
    data : bytes
        What ``save_model`` or ``save_raw`` wrote, or the state of a pickled booster.

    Raises
    ------
    ArchiveError
        When the model is cut off or damaged, or a tree leads nowhere.
    """
    text = data[:1] == b"{" and data[1:2] in (b'"', b" ", b"\n", b"\r", b"\t")
    document = _read_json(data) if text else ubjson.read(data)
    threads = 0
    if isinstance(document, dict) and set(document) == {"Config", "Model"}:
        threads = _read_threads(document["Config"])
        document = document["Model"]
    if not isinstance(document, dict) or not isinstance(document.get("learner"), dict):
        raise ArchiveError("This is not an XGBoost model.")
    try:
        _check_learner(document["learner"])
    except ArchiveError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ArchiveError(f"The XGBoost model cannot be read: {type(error).__name__}: {str(error)[:80]}.") from error
    return (_write_json(document).encode() if text else ubjson.write(document)), threads


def _read_threads(config: dict[str, dict[str, schema.Parameters]]) -> int:
    """How many threads a pickled booster was told to use; 0 leaves it to XGBoost."""
    try:
        threads = int(config["learner"]["generic_param"]["nthread"])
    except (KeyError, TypeError, ValueError):
        return 0
    return threads if 0 < threads <= _MOST_THREADS else 0


# -- what the model says -----------------------------------------------------------------------------------------------


def _check_learner(learner: schema.Learner) -> None:
    told = learner["learner_model_param"]
    n_features = _check_integer(told["num_feature"], _MOST_FEATURES)
    n_classes = _check_integer(told.get("num_class", "0"), _MOST_GROUPS)
    n_targets = _check_integer(told.get("num_target", "1"), _MOST_GROUPS)
    n_groups = max(1, n_classes, n_targets)
    bases = [one for one in str(told["base_score"]).strip("[]").split(",") if one]
    if len(bases) not in (1, n_groups) or not all(_NUMBER_TEXT.fullmatch(base.strip()) for base in bases):
        raise ArchiveError("The XGBoost model has base scores that are not numbers.")
    _check_objective(learner["objective"], n_classes)
    names = {"feature_names": learner.get("feature_names", []), "feature_types": learner.get("feature_types", [])}
    for name, held in names.items():
        if len(held) not in (0, n_features) or not all(isinstance(one, str) for one in held):
            raise ArchiveError(f"The XGBoost model has {name} that do not match its number of features.")
    booster = learner["gradient_booster"]
    if booster["name"] == "gblinear":
        _check_linear(booster["model"], n_features, n_groups)
    elif booster["name"] == "gbtree":
        _check_trees(booster["model"], n_features, n_groups)
    elif booster["name"] == "dart":
        _check_trees(booster["gbtree"]["model"], n_features, n_groups)
        if len(booster["weight_drop"]) != len(booster["gbtree"]["model"]["trees"]):
            raise ArchiveError("The XGBoost model does not have one weight per tree.")
    else:
        raise ArchiveError("The XGBoost model is of a kind that is not known.")


def _check_objective(objective: schema.Objective, n_classes: int) -> None:
    if not _OBJECTIVE.fullmatch(objective["name"]):
        raise ArchiveError("The XGBoost model has an objective that is not known.")
    classes = objective.get("softmax_multiclass_param", {}).get("num_class")
    if classes is not None and _check_integer(classes, _MOST_GROUPS) != n_classes:
        raise ArchiveError("The XGBoost model has an objective for a different number of classes.")
    if objective["name"].startswith("multi:") and n_classes < 2:
        raise ArchiveError("The XGBoost model has an objective for several classes but declares one class.")


def _check_linear(model: schema.Model, n_features: int, n_groups: int) -> None:
    if len(model["weights"]) != (n_features + 1) * n_groups:
        raise ArchiveError("The XGBoost model does not have one weight per feature.")


def _check_trees(model: schema.Model, n_features: int, n_groups: int) -> None:
    trees, info = model["trees"], _check_integers(model["tree_info"])
    n_trees = _check_integer(model["gbtree_model_param"]["num_trees"], 1 << 31)
    if not isinstance(trees, list) or len(trees) != n_trees or len(info) != n_trees:
        raise ArchiveError("The XGBoost model does not hold as many trees as it declares.")
    if ((info < 0) | (info >= n_groups)).any():
        raise ArchiveError("The XGBoost model has a tree for a class that does not exist.")
    rounds = _check_integers(model.get("iteration_indptr", []))
    if len(rounds) and (rounds[0] != 0 or rounds[-1] != n_trees or (np.diff(rounds) < 0).any()):
        raise ArchiveError("The XGBoost model has rounds that do not match its trees.")
    # a tree is put where its number says
    if not np.array_equal(np.sort(_check_integers([tree["id"] for tree in trees])), np.arange(n_trees)):
        raise ArchiveError("The XGBoost model does not number its trees from 0, each once.")
    for number, tree in enumerate(trees):
        _check_tree(tree, n_features, f"Tree {number} of the XGBoost model")
    if "cats" in model:
        _check_category_names(model["cats"], n_features)


def _check_tree(tree: schema.Tree, n_features: int, what: str) -> None:
    told = tree["tree_param"]
    n_nodes = _check_integer(told["num_nodes"], 1 << 31)
    if (
        _check_integer(told.get("size_leaf_vector", "1"), 2) > 1
        or _check_integer(told["num_feature"], _MOST_FEATURES) > n_features
    ):
        raise ArchiveError(f"{what} has leaves with several values, or more features than the model.")
    for name in ("left_children", "right_children", "parents", "split_indices", "split_conditions", "default_left",
                 "base_weights", "loss_changes", "sum_hessian", "split_type"):  # fmt: skip
        if name in tree and len(tree[name]) != n_nodes:
            raise ArchiveError(f"{what} has lists whose lengths are not the declared ones.")
    left, right = _check_integers(tree["left_children"]), _check_integers(tree["right_children"])
    reached = _find_reached(left, right, _check_integers(tree["parents"]), what)
    inner = reached & (left != -1)
    features = _check_integers(tree["split_indices"])[inner]
    if ((features < 0) | (features >= n_features)).any():
        raise ArchiveError(f"{what} refers to a feature that does not exist.")
    if not np.isin(_check_integers(tree["default_left"]), (0, 1)).all():
        raise ArchiveError(f"{what} has a default side that is neither left nor right.")
    _check_category_sets(tree, n_nodes, what)


def _find_reached(left: np.ndarray, right: np.ndarray, parents: np.ndarray, what: str) -> np.ndarray:
    """Nodes that the root leads to, each by one way; others were pruned."""
    n_nodes = len(left)
    reached = np.zeros(n_nodes, dtype=np.bool_)
    level = np.zeros(1, dtype=np.int64)
    if not n_nodes:
        raise ArchiveError(f"{what} has no nodes.")
    depth = 0
    while len(level):
        if reached[level].any() or len(np.unique(level)) != len(level) or depth > n_nodes:
            raise ArchiveError(f"{what} has a node that is reached twice.")
        reached[level] = True
        parent = level[left[level] != -1]
        if (right[level[left[level] == -1]] != -1).any():
            raise ArchiveError(f"{what} refers to a node that does not exist.")
        level = np.concatenate([left[parent], right[parent]])
        if ((level <= 0) | (level >= n_nodes)).any():
            raise ArchiveError(f"{what} refers to a node that does not exist.")
        if (parents[level] & 0x7FFFFFFF != np.concatenate([parent, parent])).any():
            raise ArchiveError(f"{what} has a node whose parent does not refer to it.")
        depth += 1
    check_depth(np.full(depth, -1), np.arange(1, depth + 1) % depth if depth else np.zeros(0, int), what)
    return reached


def _check_category_sets(tree: schema.Tree, n_nodes: int, what: str) -> None:
    split = _check_integers(tree.get("split_type", []))
    nodes, sets = _check_integers(tree.get("categories_nodes", [])), _check_integers(tree.get("categories", []))
    starts, sizes = (
        _check_integers(tree.get("categories_segments", [])),
        _check_integers(tree.get("categories_sizes", [])),
    )
    fits = np.isin(split, (0, 1)).all() and len(nodes) == len(starts) == len(sizes)
    fits = fits and np.array_equal(nodes, np.flatnonzero(split))
    fits = fits and ((starts >= 0) & (sizes > 0) & (starts + sizes <= len(sets))).all()
    fits = fits and ((sets >= 0) & (sets < _MOST_CATEGORIES)).all()
    if not fits:
        raise ArchiveError(f"{what} refers to a set of categories that does not exist.")


def _check_category_names(cats: schema.Encodings, n_features: int) -> None:
    """Names of categories, with which rows are encoded."""
    names, bounds = cats.get("enc", []), _check_integers(cats.get("feature_segments", []))
    order = _check_integers(cats.get("sorted_idx", []))
    if len(names) == len(bounds) == len(order) == 0:
        return
    fits = len(names) == n_features and len(bounds) == n_features + 1 and bounds[0] == 0 and bounds[-1] == len(order)
    fits = fits and (np.diff(bounds) >= 0).all()
    for number in range(n_features if fits else 0):
        length = int(bounds[number + 1] - bounds[number])
        mine = np.sort(order[bounds[number] : bounds[number + 1]])
        fits = fits and np.array_equal(mine, np.arange(length))
        values = _check_integers(names[number].get("values", []))
        if "offsets" in names[number]:
            ends = _check_integers(names[number]["offsets"])
            fits = fits and len(ends) == (length + 1 if length else len(ends) if len(ends) < 2 else -1)
            fits = fits and (np.diff(ends) >= 0).all() and (not len(ends) or (ends[0] == 0 and ends[-1] == len(values)))
        else:
            fits = fits and len(values) == length
    if not fits:
        raise ArchiveError("The XGBoost model has category names that do not match.")


def _check_integers(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values)
    if not array.size:
        return np.zeros(0, dtype=np.int64)
    whole = array.dtype.kind in "iub" or (array.dtype.kind == "f" and (np.abs(array) < 1 << 53).all())
    if array.ndim != 1 or not whole or not (array == np.floor(array)).all():
        raise ArchiveError("The XGBoost model has a list that does not hold integers.")
    return array.astype(np.int64)


def _check_integer(value: object, most: int) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{1,10}", value, flags=re.ASCII) or int(value) > most:
        raise ArchiveError(f"The XGBoost model has {str(value)[:20]!r} where a number is expected.")
    return int(value)


# -- JSON whose numbers keep their digits ------------------------------------------------------------------------------


class _Digits(float):
    """A number with the digits that it was written with."""

    text: str


def _check_digits(text: str) -> _Digits:
    number = _Digits(text)
    number.text = text
    return number


def _read_json(data: bytes) -> Parsed:
    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise ArchiveError("The XGBoost model has an entry twice.")
        return dict(pairs)

    return json.loads(data.decode(), parse_float=_check_digits, object_pairs_hook=once)


def _write_json(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_write_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_write_json(item) for item in value) + "]"
    return value.text if isinstance(value, _Digits) else json.dumps(value)
