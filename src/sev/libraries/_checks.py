"""What the folders of several libraries check: outputs of models that are read, parts of models from files."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from sev.backends import CannotReadError
from sev.exceptions import ArchiveError
from sev.typing import FittedClassifier, Response

_DEEPEST = 5_000


def check_binary(model: FittedClassifier, response: Response, known: Collection[str] = ("predict_proba",)) -> None:
    """Refuse to read an output that is not known, and models of other than two classes."""
    if response not in known:
        raise CannotReadError(f"its score is read from {' or '.join(known)}, not from {response}")
    if len(model.classes_) != 2:
        raise CannotReadError(f"it has {len(model.classes_)} classes")


def check_call(response: Response) -> None:
    """Refuse to read a model without methods of its own for scores by anything but its own scores."""
    if response != "call":
        raise CannotReadError(f"its score is read from its own predictions, not from {response}")


def check_depth(left: np.ndarray, right: np.ndarray, what: str) -> None:
    """Some libraries walk trees by recursion: one that is too deep would overflow the stack.

    Children come after their parents; negative numbers are leaves.
    """
    depths = [0] * len(left)
    for parent, (one, other) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        for child in (one, other):
            if child > parent:
                depths[child] = depths[parent] + 1
    if max(depths, default=0) > _DEEPEST:
        raise ArchiveError(f"{what} is {max(depths):,} levels deep, more than the limit of {_DEEPEST:,}.")


def is_plain(value: object) -> bool:
    """Whether a value is made of numbers, texts and containers only."""
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple, set)):
        return all(is_plain(item) for item in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind != "O" or all(is_plain(item) for item in value.ravel().tolist())
    return isinstance(value, (str, bytes, bool, int, float, type(None), np.generic))
