"""Content that compiled code trusts blindly, checked before it gets there.

Tree code follows child numbers without looking whether they exist; a number out of range reads foreign memory, a
cycle never ends. A LightGBM text that was cut off aborts the whole process. A numpy header may ask for more memory
than there is.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

import numpy as np

from sev.exceptions import ArchiveError

_LIGHTGBM_START = "tree\n"
_LARGEST_HEADER = 10_000
_MOST_DEPTH = 200


def check_lightgbm_text(text: str) -> None:
    """Refuse a LightGBM model text that is not whole, or whose trees lead nowhere."""
    sizes = re.search(r"^tree_sizes=([0-9 ]*)$", text, flags=re.MULTILINE)
    start = text.find("\nTree=0\n")
    if not text.startswith(_LIGHTGBM_START) or "\nend of parameters\n" not in text or sizes is None:
        raise ArchiveError("The LightGBM model text is cut off or damaged.")
    features = re.search(r"^max_feature_idx=([0-9]+)$", text, flags=re.MULTILINE)
    if features is None:
        raise ArchiveError("The LightGBM model text does not say how many features it has.")
    place = start + 1
    data = text.encode()  # sizes count bytes
    place = len(text[:place].encode())
    for number, size in enumerate(int(size) for size in sizes.group(1).split()):
        block = data[place : place + size]
        if len(block) != size or not block.startswith(f"Tree={number}\n".encode()):
            raise ArchiveError(f"The LightGBM model text is cut off or damaged at tree {number}.")
        _check_lightgbm_tree(block.decode(), number, int(features.group(1)) + 1)
        place += size
    if not data[place:].startswith(b"end of trees\n"):
        raise ArchiveError("The LightGBM model text is cut off or damaged: its trees have no end.")


def _check_lightgbm_tree(block: str, number: int, n_features: int) -> None:
    entries = dict(line.split("=", 1) for line in block.split("\n") if "=" in line)
    try:
        n_leaves = int(entries["num_leaves"])
        inner = max(n_leaves - 1, 0)
        lengths = {"left_child": inner, "right_child": inner, "split_feature": inner, "threshold": inner}
        lists = {name: entries.get(name, "").split() for name in (*lengths, "leaf_value")}
        children = np.array([lists["left_child"], lists["right_child"]], dtype=np.int64)
        features = np.array(lists["split_feature"], dtype=np.int64)
    except (KeyError, ValueError) as error:
        raise ArchiveError(f"Tree {number} of the LightGBM model text cannot be read: {error}.") from error
    fits = n_leaves >= 1 and len(lists["leaf_value"]) == n_leaves
    fits = fits and all(len(lists[name]) == length for name, length in lengths.items())
    later = (children < 0) | (children > np.arange(children.shape[1]))
    if not fits or not later.all() or (children >= inner).any() or (children < -n_leaves).any():
        raise ArchiveError(f"Tree {number} of the LightGBM model text leads nowhere.")
    if ((features < 0) | (features >= n_features)).any():
        raise ArchiveError(f"Tree {number} of the LightGBM model text asks for a feature that does not exist.")


def check_catboost_bytes(data: bytes) -> None:
    """Refuse a CatBoost binary model that ends before its core does."""
    if data[:4] != b"CBM1" or len(data) < 8 + int.from_bytes(data[4:8], "little"):
        raise ArchiveError("The CatBoost model is cut off, or is no CatBoost binary model.")


def check_skops_members(archive: zipfile.ZipFile) -> None:
    """Look at the arrays and texts inside a skops file before skops does."""
    for info in archive.infolist():
        if info.filename.endswith(".npy"):
            with archive.open(info) as member:
                _check_array_header(member.read(min(info.file_size, _LARGEST_HEADER + 16)), info)
    for text in _strings(json.loads(archive.read("schema.json"))):
        # skops writes strings as JSON inside JSON
        inner = json.loads(text) if text.startswith('"tree\\n') else text
        if isinstance(inner, str) and inner.startswith(_LIGHTGBM_START):
            check_lightgbm_text(inner)


def _check_array_header(head: bytes, info: zipfile.ZipInfo) -> None:
    stream = io.BytesIO(head)
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ArchiveError(f"{info.filename} has an array format that is not known.")
    shape, _, dtype = read(stream, max_header_size=_LARGEST_HEADER)
    if dtype.hasobject or any(length < 0 for length in shape):
        raise ArchiveError(f"{info.filename} holds an array of objects.")
    count = 1
    for length in shape:  # Python's whole numbers do not overflow
        count *= length
    if stream.tell() + count * dtype.itemsize != info.file_size:
        raise ArchiveError(f"{info.filename} holds an array of another size than it declares.")


def _strings(node: Any) -> list[str]:
    """All long strings in a JSON document."""
    found, waiting = [], [(node, 0)]
    while waiting:
        one, depth = waiting.pop()
        if depth > 10 * _MOST_DEPTH:
            raise ArchiveError("The model is nested too deeply.")
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict):
            waiting.extend((child, depth + 1) for child in one.values())
        elif isinstance(one, list):
            waiting.extend((child, depth + 1) for child in one)
    return found


def check_trees(model: Any) -> None:
    """Refuse a loaded model with a tree of scikit-learn that leads nowhere."""
    seen: set[int] = set()
    waiting = [(model, 0)]
    while waiting:
        one, depth = waiting.pop()
        if id(one) in seen or depth > _MOST_DEPTH:
            continue
        name = type(one).__name__
        if name == "Tree" and hasattr(one, "children_left"):
            _check_nodes(one.children_left, one.children_right, one.feature, one.n_features, one.children_left == -1)
        elif name == "TreePredictor":
            nodes = one.nodes
            _check_nodes(nodes["left"], nodes["right"], nodes["feature_idx"], None, nodes["is_leaf"].astype(bool))
            _check_categories(nodes, one)
        children = _children(one)
        if children:
            seen.add(id(one))
            waiting.extend((child, depth + 1) for child in children)


def _check_nodes(left: Any, right: Any, feature: Any, n_features: int | None, leaf: Any) -> None:
    numbers = np.arange(len(left))
    inner = ~leaf
    for child in (left.astype(np.int64), right.astype(np.int64)):
        # builders append children after their parents, so that a forward walk always ends
        if (inner & ((child <= numbers) | (child >= len(left)))).any():
            raise ArchiveError("The model holds a tree whose nodes lead nowhere.")
    if (inner & (feature < 0)).any() or (n_features is not None and (inner & (feature >= n_features)).any()):
        raise ArchiveError("The model holds a tree that asks for a feature that does not exist.")
    if not len(left):
        raise ArchiveError("The model holds a tree without nodes.")


def _check_categories(nodes: Any, tree: Any) -> None:
    chosen = nodes["is_categorical"].astype(bool) & ~nodes["is_leaf"].astype(bool)
    if not chosen.any():
        return
    sets = min(len(tree.binned_left_cat_bitsets), len(tree.raw_left_cat_bitsets))
    if (nodes["bitset_idx"][chosen] >= sets).any():
        raise ArchiveError("The model holds a tree that asks for a set of categories that does not exist.")


def _children(one: Any) -> list[Any]:
    if isinstance(one, (str, bytes, int, float, type(None))):
        return []
    if isinstance(one, dict):
        return list(one.values())
    if isinstance(one, (list, tuple, set)):
        return list(one)
    if isinstance(one, np.ndarray):
        return one.ravel().tolist() if one.dtype == object else []
    return list(getattr(one, "__dict__", {}).values())
