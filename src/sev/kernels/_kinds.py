"""What kernels take: numbers, arrays, and named tuples of them.

A kind is ``"int64"`` or ``"float64"``, an array in C order such as ``"uint64[:, ::1]"``, or a :class:`Form`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias


class Form(NamedTuple):
    """The kind of a named tuple."""

    cls: Any
    fields: tuple[str, ...]


Kind: TypeAlias = str | Form


def flatten(kinds: Iterable[Kind]) -> list[str]:
    """The kinds of all numbers and arrays, in order."""
    return [field for kind in kinds for field in (kind.fields if isinstance(kind, Form) else (kind,))]


def split(kind: str) -> tuple[str, int]:
    """Type of the elements and number of dimensions; 0 for a number."""
    element, _, shape = kind.partition("[")
    return element, shape.count(":") - 1 if shape else 0
