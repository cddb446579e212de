"""LightGBM's text format: parsed, checked, and written anew, so that LightGBM reads only what was checked.

LightGBM aborts the whole process on a text that is cut off, and follows child and feature numbers blindly. A check of
the text itself can be deceived by a space or a line that LightGBM reads in another way; here nothing of the text is
handed on but numbers and names that were understood.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import ArrayLike

from sev.exceptions import ArchiveError
from sev.libraries._checks import check_depth

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|nan)", flags=re.ASCII)
_INTEGER = re.compile(r"-?\d{1,18}", flags=re.ASCII)
_OBJECTIVE = re.compile(r"[a-z0-9_]+( [a-z0-9_]+:[A-Za-z0-9_.+-]+| [a-z0-9_]+)*", flags=re.ASCII)
_PARAMETER = re.compile(r"\[[a-z_0-9]+: [^\x00-\x1f]*\]")
_IMPORTANCE = re.compile(r"[^\x00-\x1f]*=[0-9]+")
_MOST_FEATURES = 10_000_000
_MOST_CLASSES = 100_000
_CATEGORICAL = 1

#: Lists of a tree: whether each has an entry a leaf or an inner node, and whether entries are integers.
_LISTS: dict[str, tuple[str, bool]] = {
    "split_feature": ("inner", True),
    "split_gain": ("inner", False),
    "threshold": ("inner", False),
    "decision_type": ("inner", True),
    "left_child": ("inner", True),
    "right_child": ("inner", True),
    "leaf_value": ("leaf", False),
    "leaf_weight": ("leaf", False),
    "leaf_count": ("leaf", True),
    "internal_value": ("inner", False),
    "internal_weight": ("inner", False),
    "internal_count": ("inner", True),
    "cat_boundaries": ("cats", True),
    "cat_threshold": ("bits", True),
    "leaf_const": ("leaf", False),
    "num_features": ("leaf", True),
    "leaf_features": ("linear", True),
    "leaf_coeff": ("linear", False),
}
_LINEAR = ("leaf_const", "num_features", "leaf_features", "leaf_coeff")
_NEEDED = ("split_feature", "threshold", "decision_type", "left_child", "right_child", "leaf_value")


def checked_text(text: str) -> str:
    """The same model as a text that LightGBM reads without harm.

    Raises
    ------
    ArchiveError
        When the text is cut off or damaged, or a tree leads nowhere.
    """
    lines = text.split("\n")
    ends = [number for number, line in enumerate(lines) if line == "end of trees"]
    starts = [number for number, line in enumerate(lines) if re.fullmatch(r"Tree=\d+", line)]
    if lines[0] != "tree" or len(ends) != 1 or "end of parameters" not in lines[ends[0] :]:
        raise ArchiveError("The LightGBM model text is cut off or damaged.")
    first = min([*starts, ends[0]])
    if any(start > ends[0] for start in starts):
        raise ArchiveError("The LightGBM model text is damaged: it has trees after its end.")
    header = _Header(lines[1:first])
    blocks = [lines[start:end] for start, end in zip(starts, [*starts[1:], ends[0]], strict=True)]
    trees = [_write_tree(block, number, header.n_features) for number, block in enumerate(blocks)]
    if len(trees) % header.trees_each:
        raise ArchiveError("The LightGBM model text has an incomplete round of trees.")
    sizes = " ".join(str(len(tree.encode())) for tree in trees)
    whole = [
        *header.lines,
        f"tree_sizes={sizes}",
        "",
        "".join(trees) + "end of trees",
        "",
        *_write_tail(lines[ends[0] + 1 :]),
    ]
    return "\n".join(whole)


class _Header:
    """What stands before the trees."""

    def __init__(self, lines: list[str]) -> None:
        entries = _read_entries(lines, "The header of the LightGBM model text")
        self.n_features = _one_integer(entries, "max_feature_idx", _MOST_FEATURES) + 1
        n_classes = _one_integer(entries, "num_class", _MOST_CLASSES)
        self.trees_each = _one_integer(entries, "num_tree_per_iteration", _MOST_CLASSES)
        if n_classes < 1 or self.trees_each not in (1, n_classes):
            raise ArchiveError("The LightGBM model text does not have one tree per class in a round.")
        objective = entries.get("objective", "")
        if objective and not _OBJECTIVE.fullmatch(objective):
            raise ArchiveError("The LightGBM model text has an objective that cannot be read.")
        told = re.search(r"num_class:(\S+)", objective)
        # the objective turns as many outputs into probabilities as it says
        if (told and told.group(1) != str(n_classes)) or (not told and "multiclass" in objective):
            raise ArchiveError("The LightGBM model text has an objective for a different number of classes.")
        if told and self.trees_each != n_classes:
            raise ArchiveError("The LightGBM model text has too few trees for its classes.")
        names = entries.get("feature_names", "").split(" ")
        infos = entries.get("feature_infos", "").split(" ")
        if len(names) != self.n_features or len(infos) != self.n_features:
            raise ArchiveError("The LightGBM model text does not name as many features as it declares.")
        self.lines = ["tree", f"version={_write_version(entries)}", f"num_class={n_classes}"]
        self.lines += [f"num_tree_per_iteration={self.trees_each}", f"label_index={_write_label(entries)}"]
        self.lines += [f"max_feature_idx={self.n_features - 1}"]
        self.lines += [f"objective={objective}"] if objective else []
        self.lines += ["average_output"] if "average_output" in entries else []
        self.lines += ["feature_names=" + " ".join(names)]
        if "monotone_constraints" in entries:
            signs = _check_numbers(entries["monotone_constraints"], True, "monotone_constraints")
            if len(signs) != self.n_features:
                raise ArchiveError("The LightGBM model text does not have one constraint per feature.")
            self.lines.append("monotone_constraints=" + " ".join(signs))
        self.lines.append("feature_infos=" + " ".join(infos))


def _write_version(entries: dict[str, str]) -> str:
    version = entries.get("version", "v4")
    if not re.fullmatch(r"v[0-9]{1,3}", version):
        raise ArchiveError("The LightGBM model text has a version that cannot be read.")
    return version


def _write_label(entries: dict[str, str]) -> int:
    return _one_integer(entries, "label_index", _MOST_FEATURES) if "label_index" in entries else 0


def _write_tree(block: list[str], number: int, n_features: int) -> str:
    """One tree, written anew."""
    what = f"Tree {number} of the LightGBM model text"
    if block[0] != f"Tree={number}":
        raise ArchiveError(f"{what} is not in its place: the trees are not numbered in order.")
    entries = _read_entries(block[1:], what)
    n_leaves = _one_integer(entries, "num_leaves", 1 << 31)
    n_cats = _one_integer(entries, "num_cat", 1 << 31) if "num_cat" in entries else 0
    linear = entries.get("is_linear", "0")
    if n_leaves < 1 or linear not in ("0", "1"):
        raise ArchiveError(f"{what} refers to a node that does not exist.")
    lists = {name: _check_numbers(entries[name], _LISTS[name][1], what) for name in _LISTS if name in entries}
    _check_tree(lists, n_leaves, n_cats, linear == "1", n_features, what)
    shrinkage = entries.get("shrinkage", "1")
    if not _NUMBER.fullmatch(shrinkage):
        raise ArchiveError(f"{what} has a shrinkage that is not a number.")
    lines = [f"Tree={number}", f"num_leaves={n_leaves}", f"num_cat={n_cats}"]
    lines += [f"{name}=" + " ".join(values) for name, values in lists.items() if name not in _LINEAR]
    lines += [f"is_linear={linear}"]
    lines += [f"{name}=" + " ".join(lists[name]) for name in _LINEAR if linear == "1"]
    return "\n".join([*lines, f"shrinkage={shrinkage}", "", "", ""])


def _check_tree(
    lists: dict[str, list[str]], n_leaves: int, n_cats: int, linear: bool, n_features: int, what: str
) -> None:
    lengths = {"inner": n_leaves - 1, "leaf": n_leaves}
    for name, values in lists.items():
        wanted = lengths.get(_LISTS[name][0])
        # a tree of one leaf has empty lists of some kinds
        if wanted is not None and len(values) != wanted and not (n_leaves == 1 and len(values) <= 1):
            raise ArchiveError(f"{what} has lists whose lengths are not the declared ones.")
    if len(lists.get("leaf_value", ())) != n_leaves:
        raise ArchiveError(f"{what} has lists whose lengths are not the declared ones.")
    if n_leaves > 1:
        if any(len(lists.get(name, ())) != lengths[_LISTS[name][0]] for name in _NEEDED):
            raise ArchiveError(f"{what} lacks lists that every tree has.")
        _check_nodes(lists, n_leaves, n_features, what)
        _check_categories(lists, n_cats, what)
    if linear:
        counts = _as_integers(lists.get("num_features", []))
        chosen = _as_integers(lists.get("leaf_features", []))
        fits = len(counts) == n_leaves == len(lists.get("leaf_const", ())) and (counts >= 0).all()
        fits = fits and counts.sum() == len(chosen) == len(lists.get("leaf_coeff", ()))
        if not fits or ((chosen < 0) | (chosen >= n_features)).any():
            raise ArchiveError(f"{what} has leaves that refer to features that do not exist.")


def _check_nodes(lists: dict[str, list[str]], n_leaves: int, n_features: int, what: str) -> None:
    inner = n_leaves - 1
    children = np.array([_as_integers(lists["left_child"]), _as_integers(lists["right_child"])])
    later = (children < 0) | (children > np.arange(inner))  # so that each way ends
    if not later.all() or (children >= inner).any() or (children < -n_leaves).any():
        raise ArchiveError(f"{what} refers to a node that does not exist.")
    check_depth(children[0], children[1], what)
    features = _as_integers(lists["split_feature"])
    if ((features < 0) | (features >= n_features)).any():
        raise ArchiveError(f"{what} refers to a feature that does not exist.")
    decisions = _as_integers(lists["decision_type"])
    if ((decisions < -128) | (decisions > 127)).any():
        raise ArchiveError(f"{what} has an unknown type of decision.")


def _check_categories(lists: dict[str, list[str]], n_cats: int, what: str) -> None:
    """Nodes that ask for a category name a set of bits by its number, in place of a threshold."""
    chosen = _as_integers(lists["decision_type"]) & _CATEGORICAL == 1
    bounds, bits = _as_integers(lists.get("cat_boundaries", [])), _as_integers(lists.get("cat_threshold", []))
    fits = len(bounds) == (n_cats + 1 if n_cats else len(bounds)) and ((bits >= 0) & (bits < 1 << 32)).all()
    if n_cats:
        fits = fits and bounds[0] == 0 and (np.diff(bounds) >= 0).all() and bounds[-1] == len(bits)
    places = np.array(lists["threshold"], dtype=np.float64)[chosen]
    if not fits or not ((places >= 0) & (places < n_cats)).all():
        raise ArchiveError(f"{what} refers to a set of categories that does not exist.")


def _write_tail(lines: list[str]) -> list[str]:
    """Importances, parameters and categories of pandas: kept where they can be understood."""
    kept: list[str] = ["feature_importances:"]
    kept += [
        line
        for line in _take_between(lines, "feature_importances:", ("parameters:", ""))
        if _IMPORTANCE.fullmatch(line)
    ]
    kept += ["", "parameters:"]
    kept += [
        line for line in _take_between(lines, "parameters:", ("end of parameters", "")) if _PARAMETER.fullmatch(line)
    ]
    kept += ["", "end of parameters", ""]
    kept += [line for line in lines if line.startswith("pandas_categorical:")][:1]
    return [*kept, ""]


def _take_between(lines: list[str], start: str, ends: tuple[str, ...]) -> list[str]:
    if start not in lines:
        return []
    found: list[str] = []
    for line in lines[lines.index(start) + 1 :]:
        if line in ends:
            break
        found.append(line)
    return found


def _read_entries(lines: list[str], what: str) -> dict[str, str]:
    entries: dict[str, str] = {}
    for line in lines:
        if not line:
            continue
        key, _, value = line.partition("=")
        if key in entries or not re.fullmatch(r"[a-z_]{1,40}", key) or "\r" in line or "\0" in line:
            raise ArchiveError(f"{what} is damaged at {line[:40]!r}.")
        entries[key] = value
    return entries


def _check_numbers(text: str, integers: bool, what: str) -> list[str]:
    values = [value for value in text.split(" ") if value]
    wanted = _INTEGER if integers else _NUMBER
    if not all(wanted.fullmatch(value) for value in values):
        raise ArchiveError(f"{what} holds something that is not a number.")
    return values


def _as_integers(values: ArrayLike) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _one_integer(entries: dict[str, str], name: str, most: int) -> int:
    value = entries.get(name, "")
    if not _INTEGER.fullmatch(value) or not 0 <= int(value) < most:
        raise ArchiveError(f"The LightGBM model text does not state its {name}, or is cut off.")
    return int(value)
