"""The build asks the package index for a compiler where the machine has none, and only there."""

import importlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("CMake finds Visual Studio by itself on Windows", allow_module_level=True)

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def backend(monkeypatch, tmp_path):
    """Return the build backend, on a PATH that has nothing but what a test puts into it."""
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.syspath_prepend(TOOLS)
    return importlib.import_module("build_backend")


def write_command(folder, name, code):
    script = folder / name
    script.write_text(f"#!/bin/sh\nexit {code}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize("hook", ["get_requires_for_build_wheel", "get_requires_for_build_editable"])
def test_a_compiler_is_required_only_where_there_is_none(backend, hook, tmp_path):
    assert any(name.startswith("ziglang") for name in getattr(backend, hook)())
    write_command(tmp_path, "g++", 0)
    assert not any(name.startswith("ziglang") for name in getattr(backend, hook)())


def test_a_command_that_does_not_start_is_no_compiler(backend, tmp_path):
    write_command(tmp_path, "c++", 1)  # as on macOS without the developer tools
    assert backend.needs_zig()


def test_a_compiler_named_by_the_user_is_taken(backend, monkeypatch):
    monkeypatch.setenv("CXX", "/somewhere/icpx")
    assert not backend.needs_zig()


def fake_zig(monkeypatch, tmp_path):
    folder = tmp_path / "ziglang"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return folder / "zig"


def test_cmake_finds_the_tools_of_zig_during_the_build(backend, monkeypatch, tmp_path):
    zig = fake_zig(monkeypatch, tmp_path)
    with backend.working_compiler():
        compiler = Path(os.environ["CXX"])
        assert os.access(compiler, os.X_OK)
        assert f'"{zig}" c++' in compiler.read_text()
        assert os.environ["PATH"].split(os.pathsep)[0] == str(compiler.parent)
        assert os.access(compiler.with_name("ar"), os.X_OK)
    assert "CXX" not in os.environ
    assert os.environ["PATH"] == str(tmp_path)


def test_a_failed_build_ends_with_what_to_install(backend, monkeypatch, tmp_path, capfd):
    fake_zig(monkeypatch, tmp_path)
    with pytest.raises(SystemExit), backend.working_compiler():
        raise SystemExit(1)  # as scikit-build-core ends when CMake fails
    last = capfd.readouterr().err.splitlines()[-1]
    assert "C++17 compiler" in last
    assert "apt install g++" in last


def test_make_names_what_to_install_where_nothing_can_be_fetched(backend, tmp_path):
    command = [sys.executable, TOOLS / "compiler.py"]
    without = subprocess.run(command, capture_output=True, text=True, check=True, env={"PATH": str(tmp_path)})
    assert without.stderr.splitlines() == [backend.REMEDY]
    write_command(tmp_path, "c++", 0)
    assert not subprocess.run(command, capture_output=True, check=True, env={"PATH": str(tmp_path)}).stderr


def test_missing_headers_of_python_are_named(backend, monkeypatch, tmp_path):
    monkeypatch.setattr(backend.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(SystemExit, match=r"no Python\.h.*apt install python3-dev"), backend.working_compiler():
        pass
