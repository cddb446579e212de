"""From bitcode to machine code for this processor, which is kept on disk for later processes."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import sys
import uuid
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

_log = logging.getLogger("sev")

#: Functions of the interpreter that kernels call to allocate memory; both may be called without its lock.
ALLOCATORS = ("PyMem_RawMalloc", "PyMem_RawFree")
#: How machine code is made; raised when :func:`make` changes, so that nothing is taken which was made otherwise.
_RECIPE = "1"
_DIGEST_SIZE = hashlib.sha256().digest_size


def load(name: str, bitcode: bytes, folder: Path) -> Any:
    """Load machine code, made now or earlier; gives a function from the names of kernels to their addresses."""
    machine_code = _machine_code(name, bitcode, folder)
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(machine_code))
    engine.finalize_object()
    return engine.get_function_address


def make(bitcode: bytes, target: Any) -> bytes:
    """Make machine code for a target: an object file."""
    module = llvm.parse_bitcode(bitcode)
    module.triple, module.data_layout = target.triple, str(target.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(target, options)
    passes = builder.getModulePassManager()
    passes.add_refprune_pass()
    passes.run(module, builder)
    return bytes(target.emit_object(module))


def _machine_code(name: str, bitcode: bytes, folder: Path) -> bytes:
    target = _target()
    key = hashlib.sha256(bitcode)
    key.update("\0".join([_RECIPE, llvmlite.__version__, target.triple, *_processor()]).encode())
    file_name = f"{name}-{key.hexdigest()[:24]}.o"
    for place in cache_folders(folder):
        kept = _read(place / file_name)
        if kept is not None:
            return kept
    made = make(bitcode, target)
    if not any(_write(place / file_name, made) for place in cache_folders(folder)):
        _log.warning("sev cannot keep its search kernels on disk; set SEV_CACHE_DIR to a folder that can be written")
    return made


def cache_folders(folder: Path) -> list[Path]:
    """Where machine code may lie: in the folder of SEV_CACHE_DIR, or beside the sources, or with the user."""
    chosen = os.environ.get("SEV_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    try:
        return [folder / "__pycache__", _user_folder() / "sev"]
    except RuntimeError:  # some users of containers have no home
        return [folder / "__pycache__"]


def _user_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _read(path: Path) -> bytes | None:
    """Machine code from a file, None if there is none or it is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, code = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
    return code if hashlib.sha256(code).digest() == digest else None


def _write(path: Path, code: bytes) -> bool:
    """Write machine code, all of it or nothing; gives whether this was possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not a file of ``tempfile``, which no other user may read: one may install, and another run.
        draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            with open(draft, "xb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(draft, path)
        except BaseException:  # also when the user loses patience
            draft.unlink(missing_ok=True)
            raise
    except OSError:
        return False
    return True


@cache
def _processor() -> tuple[str, str]:
    """Name of this processor, and what it can do."""
    try:
        return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM cannot tell everywhere
        return llvm.get_host_cpu_name(), ""


def _target() -> Any:
    """Machine code for this processor, to be run where it is made."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = _processor()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    reloc = "static" if target.name.startswith("x86") else "default"
    return target.create_target_machine(cpu=cpu, features=features, opt=3, reloc=reloc, jit=True)


@cache
def _engine() -> Any:
    """Where machine code lives, as long as the process."""
    for name in ALLOCATORS:
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        llvm.add_symbol(name, address)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
