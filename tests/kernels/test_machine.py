"""Machine code is made once, kept whole, and made anew where it cannot be kept."""

import llvmlite.binding as llvm
import pytest

from sev.kernels import _archive, _machine
from sev.kernels.build import MODULES

SMALL = "sev.backends.trees._patterns"


@pytest.fixture(scope="module")
def bitcode():
    return _archive.read(_archive.path_of(SMALL)).bitcode


def never(*_):
    raise AssertionError("machine code was made again")


def test_machine_code_is_kept(bitcode, tmp_path, monkeypatch):
    monkeypatch.setenv("SEV_CACHE_DIR", str(tmp_path / "cache"))
    made = _machine._machine_code(SMALL, bitcode, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(_machine, "make", never)
        assert _machine._machine_code(SMALL, bitcode, tmp_path) == made
        with pytest.raises(AssertionError):  # other kernels, the same name
            _machine._machine_code(SMALL, bitcode + b"\0", tmp_path)
        patch.setattr(_machine, "_processor", lambda: ("generic", ""))
        with pytest.raises(AssertionError):  # another processor, the same folder
            _machine._machine_code(SMALL, bitcode, tmp_path)
    (kept,) = (tmp_path / "cache").iterdir()
    for damaged in (kept.read_bytes()[:-100], kept.read_bytes()[:-1] + b"?", b""):
        kept.write_bytes(damaged)
        assert _machine._machine_code(SMALL, bitcode, tmp_path) == made
        assert kept.read_bytes().endswith(made)


def test_the_user_has_a_folder_when_that_of_the_sources_cannot_be_written(bitcode, tmp_path, monkeypatch, caplog):
    for name in ("SEV_CACHE_DIR", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    sources, user = tmp_path / "a file", tmp_path / "user"
    sources.touch()
    monkeypatch.setattr(_machine.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(user))
    made = _machine._machine_code(SMALL, bitcode, sources)
    assert [path.name.partition("-")[0] for path in (user / "sev").iterdir()] == [SMALL]
    assert not caplog.records
    monkeypatch.setenv("XDG_CACHE_HOME", str(sources))
    assert _machine._machine_code(SMALL, bitcode, sources) == made
    assert "SEV_CACHE_DIR" in caplog.text


def test_a_user_without_a_home_keeps_machine_code_beside_the_sources(tmp_path, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("SEV_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(_machine.Path, "home", no_home)
    assert _machine.cache_folders(tmp_path) == [tmp_path / "__pycache__"]


def test_an_interrupted_writer_leaves_nothing(tmp_path, monkeypatch):
    def stops(error):
        def replace(*_):
            raise error

        monkeypatch.setattr(_machine.os, "replace", replace)
        return _machine._write(tmp_path / "some.o", b"code")

    assert not stops(OSError("disk full"))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt):
        stops(KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


def test_whoever_may_read_the_folder_may_read_machine_code(tmp_path):
    (tmp_path / "other").touch()
    assert _machine._write(tmp_path / "some.o", b"code")
    assert (tmp_path / "some.o").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("module", MODULES)
def test_the_bitcode_knows_no_processor(module):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    bitcode = _archive.read(_archive.path_of(module)).bitcode
    for triple in ("aarch64-unknown-linux-gnu", "arm64-apple-darwin", "x86_64-pc-windows-msvc"):
        target = llvm.Target.from_triple(triple).create_target_machine(opt=1)
        assert len(_machine.make(bitcode, target)) > 2_000
