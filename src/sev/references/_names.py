"""References by name, as on the command line: ``clusters:5``."""

from __future__ import annotations

from collections.abc import Callable

from sev.exceptions import InputError
from sev.references._auto import Auto
from sev.references._by import By
from sev.references._clusters import Clusters
from sev.references._combined import Best
from sev.references._nearest import Nearest
from sev.references._protocol import Reference
from sev.references._typical import Typical

_PLAIN: dict[str, Callable[[], Reference]] = {
    "auto": Auto,
    "mean": lambda: Typical("mean"),
    "median": lambda: Typical("median"),
    "clusters": Clusters,
    "nearest": Nearest,
}
_WITH_NUMBER: dict[str, Callable[[int], Reference]] = {"clusters": Clusters, "nearest": Nearest}


def reference_by_name(name: str) -> Reference:
    """The reference that a name such as "mean" or "clusters:5" stands for."""
    kind, colon, rest = name.partition(":")
    if not colon and kind in _PLAIN:
        return _PLAIN[kind]()
    if kind == "by" and rest:
        return By(rest)
    if kind == "best" and rest:
        return Best(reference_by_name(rest))
    if kind in _WITH_NUMBER and rest.isascii() and rest.isdigit():
        return _WITH_NUMBER[kind](int(rest))
    raise InputError(
        f"reference={name!r} is not known: use auto, mean, median, clusters, clusters:5, nearest, nearest:3, "
        "by:COLUMN, best:clusters:5, a row, or an object of sev.references."
    )
