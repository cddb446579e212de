"""The one place that imports numba.

Kernel modules (``_kernels.py``) do ``from sev._compile import njit`` at their top and are themselves imported only
when a solver runs, through :func:`load_kernels`, so that ``import sev`` stays light.
"""

import logging
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

import numba

#: With this series of numba kernels compile and load by shortcuts, with others in the plain way.
_SERIES = "0.68."

_Function = TypeVar("_Function", bound=Callable[..., Any])
_log = logging.getLogger("sev")


def kernel_type(name: str) -> Any:
    """Type in a kernel's signature: ``"int64"``, ``"float64[::1]"`` (a vector), ``"uint64[:, ::1]"`` (a matrix)."""
    element, _, shape = name.partition("[")
    scalar = getattr(numba.types, element)
    return scalar if not shape else numba.types.Array(scalar, shape.count(":") - 1, "C")


def tuple_type(cls: Any, *fields: str) -> Any:
    """Type in a kernel's signature of a named tuple, from the types of its fields."""
    named: Any = numba.types.NamedTuple
    return named([kernel_type(field) for field in fields], cls)


def njit(*signatures: Any, **options: Any) -> Callable[[_Function], _Function]:
    """Compile to machine code that releases the interpreter's lock and, with a signature, is cached on disk.

    Without a signature it is a helper of other kernels: it is part of their machine code, so it needs no cache of its
    own, and no way in from Python, which would take as long to compile as the helper itself.
    """
    settings: dict[str, Any] = {"nogil": True, "fastmath": False, "error_model": "numpy", "no_cfunc_wrapper": True}
    if signatures:
        settings.update(cache=True, **options)
        return lambda function: _entry(function, signatures, settings)
    settings.update(no_cpython_wrapper=True, **options)
    return lambda function: _part(function, settings)


def _entry(function: _Function, signatures: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    shortcuts = _shortcuts()
    if shortcuts is not None:
        return shortcuts.entry(function, signatures, settings)
    return numba.njit(list(signatures), **settings)(function)


def _part(function: _Function, settings: dict[str, Any]) -> Any:
    shortcuts = _shortcuts()
    return numba.njit(**settings)(function) if shortcuts is None else shortcuts.part(function, settings)


def _shortcuts() -> Any:
    return import_module("sev._numba_shortcuts") if numba.__version__.startswith(_SERIES) else None


def load_kernels(module: str, *, patience: float = 2.0) -> ModuleType:
    """Import a module of compiled kernels; after ``patience`` seconds say why it takes long.

    Kernels with fixed signatures compile when their module is imported: the first time after an installation this takes
    seconds, later the machine code comes from the cache.
    """
    if module in sys.modules:
        return sys.modules[module]
    notice = threading.Timer(
        patience,
        _log.warning,
        args=("sev is compiling its search kernels; this happens once after an installation",),
    )
    notice.daemon = True
    notice.start()
    shortcuts = _shortcuts()
    try:
        with nullcontext() if shortcuts is None else shortcuts.quick_typing():
            return import_module(module)
    finally:
        notice.cancel()
