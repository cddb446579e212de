"""What the sources of kernels are written with; importing it imports numba.

Only kernels import it, and they are imported only to build their archives, or where there is no archive to use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from sev.kernels._kinds import Form, Kind, split

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Its types leave out some options.
compiled: Any = numba.njit

#: Machine code that releases the interpreter's lock, divides as numpy does, and adds up in the order that is written.
SETTINGS: dict[str, Any] = {"nogil": True, "fastmath": False, "error_model": "numpy", "no_cfunc_wrapper": True}


def njit(*kinds: Kind, **options: Any) -> Callable[[_Function], _Function]:
    """Compile a kernel that takes arguments of these kinds; without any, a part of other kernels."""
    settings = {**SETTINGS, **options}
    if kinds:
        return lambda function: _entry(function, kinds, settings)
    return lambda function: _part(function, settings)


def _entry(function: Any, _: tuple[Kind, ...], settings: dict[str, Any]) -> Any:
    """Compiled at its first call, not here: tools that read all modules need not wait."""
    try:
        return compiled(cache=True, **settings)(function)
    except RuntimeError:  # numba has no folder that can be written
        return compiled(**settings)(function)


def _part(function: Any, settings: dict[str, Any]) -> Any:
    """Without a way in from Python, which would take as long to compile as the part itself."""
    return compiled(no_cpython_wrapper=True, **settings)(function)


def numba_type(kind: Kind) -> Any:
    """The kind in numba's terms."""
    if isinstance(kind, Form):
        named: Any = numba.types.NamedTuple
        return named([numba_type(field) for field in kind.fields], kind.cls)
    element, n_dimensions = split(kind)
    scalar = getattr(numba.types, element)
    return numba.types.Array(scalar, n_dimensions, "C") if n_dimensions else scalar
