"""Build the archives of kernels: ``python -m sev.kernels.build``, after a change to a kernel.

Numba turns the sources into LLVM's bitcode. It is kept as it is before anything is known about the processor, with two
additions: a way in for each kernel, and the memory allocation that numba otherwise has in its own library.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import config, types
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext

from sev.kernels import _archive, _machine, source
from sev.kernels._kinds import Kind, flatten, split

MODULES = (
    "sev.backends.linear._kernels",
    "sev.backends.trees._kernels",
    "sev.backends.trees._wide",
    "sev.backends.trees._dense",
    "sev.backends.trees._patterns",
)

#: What numba calls to make and free an array: a count of uses, three pointers of which the last is to the numbers, and
#: two more fields, then the numbers. One day numba may want another layout; then no test of a kernel passes.
_ALLOCATION = """
declare ptr @PyMem_RawMalloc(i64)
declare void @PyMem_RawFree(ptr)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) {
  %align = zext i32 %alignment to i64
  %head = add i64 %align, 48
  %room = add i64 %size, %head
  %made = call ptr @PyMem_RawMalloc(i64 %room)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %end, label %fill
fill:
  %address = ptrtoint ptr %made to i64
  %behind = add i64 %address, %head
  %mask = sub i64 0, %align
  %aligned = and i64 %behind, %mask
  %numbers = inttoptr i64 %aligned to ptr
  %at_numbers = getelementptr i8, ptr %made, i64 24
  store i64 1, ptr %made
  store ptr %numbers, ptr %at_numbers
  br label %end
end:
  ret ptr %made
}

define void @NRT_MemInfo_call_dtor(ptr %array) {
  call void @PyMem_RawFree(ptr %array)
  ret void
}
"""

#: Functions of LLVM that become instructions on every processor.
_INSTRUCTIONS = {"assume", "cttz", "fabs", "lifetime", "memset", "smax", "smin", "smul", "umax", "umin"}

_ITEM_SIZES = {"boolean": 1, "int32": 4, "int64": 8, "uint64": 8, "float64": 8}


def build(module: str) -> _archive.Archive:
    """Compile the kernels of a module, up to the point where the processor comes in."""
    entries = [
        (name, entry) for name, entry in vars(import_module(module)).items() if isinstance(entry, _Compiled)
    ]  # fmt: skip
    linked = llvm.parse_assembly(_ALLOCATION)
    for name, entry in entries:
        linked.link_in(entry.code, preserve=True)
        linked.link_in(llvm.parse_assembly(_way_in(f"{module}.{name}", entry)))
    ways_in = {f"{module}.{name}" for name, _ in entries}
    for each in [*linked.functions, *linked.global_variables]:
        if not each.is_declaration and each.name not in ways_in:
            each.linkage = "internal"
    _refuse_what_is_only_here(module, linked)
    linked.name = module
    linked.verify()
    path = _archive.path_of(module)
    sources = _sources(path.parent, module)
    kernels = {name: flatten(entry.kinds) for name, entry in entries}
    digest = _archive.digest_of(path.parent, sources)
    return _archive.Archive(linked.as_bitcode(), kernels, sources, digest, built_with())


def built_with() -> str:
    """What an archive depends on beside its sources."""
    return f"numba {numba.__version__}, Python {sys.version_info.major}.{sys.version_info.minor}"


def _refuse_what_is_only_here(module: str, linked: Any) -> None:
    """Refuse what machine code needs and another process does not have: functions, globals, fixed addresses."""
    parts = [*linked.functions, *linked.global_variables]
    missing = [each.name for each in parts if each.is_declaration and not _is_known(each.name)]
    if missing:
        raise ValueError(f"nothing defines {', '.join(missing)}, which the kernels of {module} use")
    # Numba's way to large constant arrays and to functions of other libraries.
    if any(each.name.startswith("numba.dynamic.globals") for each in parts):
        raise ValueError(f"the kernels of {module} use an address that holds in this process only")


def _is_known(name: str) -> bool:
    """Whether a function is there wherever machine code is made; many of LLVM's own are calls of a C library."""
    return name in _machine.ALLOCATORS or (name.startswith("llvm.") and name.split(".")[1] in _INSTRUCTIONS)


class _Compiled:
    """A kernel as numba compiled it."""

    def __init__(self, function: Any, kinds: tuple[Kind, ...], settings: dict[str, Any]) -> None:
        dispatcher = source.compiled(no_cpython_wrapper=True, **settings)(function)
        dispatcher.compile(tuple(source.numba_type(kind) for kind in kinds))
        (result,) = dispatcher.overloads.values()
        if result.signature.return_type not in (types.none, types.int64):
            raise TypeError(f"{function.__name__} gives {result.signature.return_type}: not a whole number, or nothing")
        self.kinds = kinds
        self.symbol: str = result.fndesc.llvm_func_name
        self.code = result.library._final_module


def _way_in(name: str, entry: _Compiled) -> str:
    """A function that takes a block of slots, as ``_calls.py`` says, and calls numba's, which takes each part alone.

    To numba an array is: its owner and the Python object, neither of which is known here, the number of items, their
    size, the address, then length and stride of each dimension.
    """
    lines: list[str] = []
    passed: list[str] = []
    slot = 0

    def load(kind: str) -> str:
        nonlocal slot
        lines.append(f"%at{slot} = getelementptr i64, ptr %slots, i64 {slot}")
        lines.append(f"%slot{slot} = load {kind}, ptr %at{slot}")
        slot += 1
        return f"%slot{slot - 1}"

    for kind in flatten(entry.kinds):
        element, n_dimensions = split(kind)
        if n_dimensions == 0:
            number = "double" if element == "float64" else "i64"
            passed.append(f"{number} {load(number)}")
            continue
        address = load("ptr")
        lengths = [load("i64") for _ in range(n_dimensions)]
        strides = [str(_ITEM_SIZES[element])]
        for length in reversed(lengths):
            lines.append(f"%stride{len(lines)} = mul i64 {strides[0]}, {length}")
            strides.insert(0, f"%stride{len(lines) - 1}")
        lines.append(f"%items{len(lines)} = udiv i64 {strides[0]}, {_ITEM_SIZES[element]}")
        passed += ["ptr null", "ptr null", f"i64 %items{len(lines) - 1}", f"i64 {_ITEM_SIZES[element]}"]
        passed += [f"ptr {address}", *(f"i64 {number}" for number in (*lengths, *strides[1:]))]
    kinds = ", ".join(argument.split()[0] for argument in passed)
    body = "\n".join(f"  {line}" for line in lines)
    return f"""
declare i32 @"{entry.symbol}"(ptr, ptr, {kinds})

define i32 @"{name}"(ptr %slots, ptr %result) {{
  %error = alloca ptr
{body}
  %status = call i32 @"{entry.symbol}"(ptr %result, ptr %error, {", ".join(passed)})
  ret i32 %status
}}
"""


def _sources(folder: Path, module: str) -> list[str]:
    """The files of a folder from which a module of kernels is made: its own, and those that it imports from there."""
    package, _, own = module.rpartition(".")
    found: list[str] = []
    waiting = [own]
    while waiting:
        path = folder / f"{waiting.pop()}.py"
        if path.name in found or not path.exists():
            continue
        found.append(path.name)
        for name in _imports(path, package):
            if name.startswith(f"{package}."):
                waiting.append(name.removeprefix(f"{package}.").partition(".")[0])
            elif name.startswith("sev.") and name != package and not name.startswith(("sev.kernels", "sev.typing")):
                raise ValueError(f"{path.name} imports {name}: nobody would see that kernels change with it")
    return sorted(found)


def _imports(path: Path, package: str) -> list[str]:
    """Full names of what a file imports, be they modules or something in them."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), package)
            names += [origin, *(f"{origin}.{each.name}" for each in node.names)]
    return names


def _stop_before_machine_code() -> None:
    """Keep numba, in this process, from looking at the processor."""
    settings: Any = config
    settings.CPU_NAME, settings.CPU_FEATURES = "generic", ""
    settings.LOOP_VECTORIZE = settings.SLP_VECTORIZE = 0

    def only_link(library: Any) -> None:
        library._finalize_dynamic_globals()
        library._verify_declare_only_symbols()
        library._finalized = True

    def link_parts(_: Any, library: Any, *__: Any) -> Any:
        library._ensure_finalized()
        return [].append  # numba wants some function written in C, and each time another one; nobody calls it

    library: Any = JITCodeLibrary
    library._optimize_final_module = lambda _: None
    library._finalize_final_module = only_link
    context: Any = CPUContext
    context.get_executable = link_parts
    how: Any = source
    how._entry, how._part = _Compiled, _compile_part


def _compile_part(function: Any, settings: dict[str, Any]) -> Any:
    """A part that is compiled once, not once for each constant that it is called with."""
    dispatcher = source.compiled(no_cpython_wrapper=True, **settings)(function)
    template_for = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: template_for(tuple(map(types.unliteral, args)), kws)
    return dispatcher


def main() -> None:
    """Build all archives.

    Each is built by a process of its own whose sets keep their order, so that the same sources give the same archive.
    """
    for module in MODULES:
        print(f"building {module}", flush=True)  # noqa: T201
        build_apart(module, _archive.path_of(module))


def build_apart(module: str, path: Path) -> None:
    """Build one archive in a process of its own."""
    command = [sys.executable, "-m", "sev.kernels.build", module, str(path)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "0"})


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        _stop_before_machine_code()
        _archive.write(Path(sys.argv[2]), build(sys.argv[1]))
