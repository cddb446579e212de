"""Shortcuts through numba's inside that make kernels wait less, first when they are compiled and then when they load.

They change how long numba takes, not what it makes. ``_compile.py`` takes them only with the series of numba that they
were written for.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
from llvmlite.binding import add_symbol
from numba.core import typed_passes as typed
from numba.core import types
from numba.core import untyped_passes as untyped
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import _dynfunc  # type: ignore[attr-defined]
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import _nrt  # type: ignore[attr-defined]


@cache
def _name_allocators() -> None:
    """Tell LLVM where the functions are that machine code calls to allocate arrays.

    Numba does so too, once it is to compile, together with compiling what is in the machine code already.
    """
    for name, address in _nrt.c_helpers.items():
        add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class QuickCache(FunctionCache):
    """Numba's cache on disk, asked before numba loads everything that it needs to compile."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Machine code for a signature, or None."""
        _name_allocators()
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
            if found is not None:
                return found
        return super().load_overload(sig, target_context)


class _PartLibrary(JITCodeLibrary):
    """Code of a function that is only linked into others: it is optimised there, and machine code is made there."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


def _no_executable(library: Any, description: Any, environment: Any) -> Any:
    library._ensure_finalized()
    name = description.qualname.split(".")[-1]
    return _dynfunc.make_function(
        description.lookup_module(), name, "part of other kernels", 0, environment, (library,)
    )


class _PartCompiler(Compiler):
    """Only the passes that loops over arrays need; each pass over a function costs as if it had something to do."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.library = _PartLibrary(self.state.targetctx.codegen(), "part of kernels")
        self.state.targetctx.get_executable = _no_executable

    def define_pipelines(self) -> list[PassManager]:
        """The passes, as numba asks for them."""
        passes = PassManager("part of kernels")
        for each in (
            untyped.TranslateByteCode, untyped.FixupArgs, untyped.IRProcessing, untyped.GenericRewrites,
            untyped.ReconstructSSA, typed.NopythonTypeInference, typed.PreLowerStripPhis, typed.IRLegalization,
            typed.AnnotateTypes, typed.NativeLowering, typed.NoPythonBackend,
        ):  # fmt: skip
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


def entry(function: Callable[..., Any], signatures: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Compile a kernel for its signatures, or take it from the cache."""
    dispatcher: Any = numba.njit(**settings)(function)
    dispatcher._cache = QuickCache(function)
    for signature in signatures:
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


def part(function: Callable[..., Any], settings: dict[str, Any]) -> Any:
    """Have a function compiled as a part of kernels, once, whichever constants it is called with."""
    dispatcher: Any = numba.njit(pipeline_class=_PartCompiler, **settings)(function)
    template_for = dispatcher.get_call_template

    def without_constants(args: Any, kws: Any) -> Any:
        return template_for(tuple(types.unliteral(kind) for kind in args), kws)

    dispatcher.get_call_template = without_constants
    return dispatcher


@contextmanager
def quick_typing() -> Iterator[None]:
    """Work out once what type an operation on given types has, not each time it is met; and leave garbage for later."""
    context = cpu_target.typing_context
    plain = context.resolve_function_type
    known: dict[tuple[Any, Any], Any] = {}

    def remember(function: Any, args: Any, kws: Any) -> Any:
        if kws or isinstance(function, types.Dispatcher):
            return plain(function, args, kws)
        key = (function, args)
        if known.get(key) is None:
            known[key] = plain(function, args, kws)
        return known[key]

    collecting = gc.isenabled()
    gc.disable()
    context.resolve_function_type = remember
    try:
        yield
    finally:
        del context.resolve_function_type
        if collecting:
            gc.enable()
