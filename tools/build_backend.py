"""scikit-build-core, with a C++ compiler from the package index where the machine has none.

`pyproject.toml` names this module as the build backend. Where `c++`, `g++` or `clang++` works, or `CXX` names a
compiler, it changes nothing. Elsewhere the build also requires `ziglang`, whose compiler is put on the PATH for
CMake to find.
"""

import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from compiler import REMEDY, needs_zig
from scikit_build_core import build as scikit_build
from scikit_build_core.build import (  # noqa: F401  the hooks that need no compiler
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

HEADERS = (
    "sev needs Python's C headers to be built, and {folder} has no Python.h. Install them: `apt install python3-dev` "
    "(Debian, Ubuntu), `dnf install python3-devel` (Fedora, RHEL), `apk add python3-dev` (Alpine)."
)
# zig compiles its C++ library for each combination of such options: the tests that CMake makes use those of the build.
ZIG_TOOLS = {"c++": "c++ -O3 -fPIC", "ar": "ar", "ranlib": "ranlib"}


@contextmanager
def working_compiler() -> Iterator[None]:
    """Build with the compiler of the machine, or with zig; a failure ends with one line about what to install."""
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        raise SystemExit(HEADERS.format(folder=headers))
    if not needs_zig():
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            write_zig_tools(Path(folder))
            with patch.dict(os.environ, zig_environment(folder)):
                yield
        except BaseException:
            sys.stderr.write(f"{REMEDY}\n")
            raise


def zig_environment(folder: str) -> dict[str, str]:
    """Return what CMake must be told to use the tools in `folder`."""
    return {
        "PATH": os.pathsep.join((folder, os.environ["PATH"])),
        # scikit-build-core would otherwise name the compiler that Python was built with
        "CXX": os.path.join(folder, "c++"),
    }


def write_zig_tools(folder: Path) -> None:
    """Write one script for each tool that CMake looks for; each of them calls zig."""
    import ziglang  # only installed where `needs_zig`

    zig = Path(ziglang.__file__).with_name("zig")
    for tool, command in ZIG_TOOLS.items():
        script = folder / tool
        script.write_text(f'#!/bin/sh\nexec "{zig}" {command} "$@"\n')
        script.chmod(0o755)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what a wheel needs to be built here."""
    return [*scikit_build.get_requires_for_build_wheel(config_settings), *compiler_requirements()]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return what an editable installation needs to be built here."""
    return [*scikit_build.get_requires_for_build_editable(config_settings), *compiler_requirements()]


def compiler_requirements() -> list[str]:
    """Return the package of the compiler, if this machine has none."""
    return ["ziglang>=0.13"] if needs_zig() else []


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build a wheel and return its file name."""
    with working_compiler():
        return scikit_build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the extension beside the Python files and return the file name of the wheel that points there."""
    with working_compiler():
        return scikit_build.build_editable(wheel_directory, config_settings, metadata_directory)
