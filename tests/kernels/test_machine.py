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


def test_an_interrupted_writer_leaves_nothing(tmp_path, monkeypatch):
    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr(_machine.os, "replace", fails)
    assert not _machine._write(tmp_path / "some.o", b"code")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", MODULES)
def test_the_bitcode_knows_no_processor(module):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    bitcode = _archive.read(_archive.path_of(module)).bitcode
    for triple in ("aarch64-unknown-linux-gnu", "arm64-apple-darwin", "x86_64-pc-windows-msvc"):
        target = llvm.Target.from_triple(triple).create_target_machine(opt=1)
        assert len(_machine.make(bitcode, target)) > 2_000
