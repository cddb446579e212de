"""Where solvers get their kernels from."""

from __future__ import annotations

import logging
import os
import threading
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

_log = logging.getLogger("sev")
_lock = threading.RLock()


def load_kernels(module: str, *, patience: float = 2.0) -> Any:
    """The kernels of a module, as attributes; after ``patience`` seconds say why it takes long.

    The first time after an installation machine code is made, later it is read from disk. Set ``SEV_KERNELS=numba`` to
    have numba compile the sources instead.
    """
    with _lock:
        return _load(module, patience)


@cache
def _load(module: str, patience: float) -> Any:
    notice = threading.Timer(
        patience,
        _log.warning,
        args=("sev is compiling its search kernels; this happens once after an installation",),
    )
    notice.daemon = True
    notice.start()
    try:
        return _from_archive(module) or import_module(module)
    finally:
        notice.cancel()


def _from_archive(module: str) -> Any:
    """Kernels from the archive beside the sources; None, and a word why, where it cannot be used."""
    if os.environ.get("SEV_KERNELS") == "numba":
        return None
    try:
        from sev.kernels import _archive, _machine
        from sev.kernels._calls import Kernel

        path = _archive.path_of(module)
        archive = _archive.read(path)
        reason = _archive.why_not(archive, path.parent)
        if reason is None:
            address_of = _machine.load(module, archive.bitcode, path.parent)
            kernels = {n: Kernel(n, address_of(f"{module}.{n}"), kinds) for n, kinds in archive.kernels.items()}
            return SimpleNamespace(**kernels)
    except Exception as error:  # whatever LLVM or the disk may say: numba can still compile the sources
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"  # LLVM writes more than one line
    _log.warning("sev compiles the kernels of %s with numba, which takes longer: %s", module, reason)
    return None
