"""What lies beside the sources is what they make."""

import pytest

from sev.kernels import _archive, build

REMEDY = "a kernel has changed: run `make kernels`"


@pytest.mark.parametrize("module", build.MODULES)
def test_the_archive_is_that_of_the_sources(module):
    path = _archive.path_of(module)
    assert _archive.why_not(_archive.read(path), path.parent) is None, REMEDY


@pytest.mark.parametrize("module", build.MODULES)
def test_the_sources_make_the_archive_byte_by_byte(module, tmp_path):
    path = _archive.path_of(module)
    built_with = _archive.read(path).built_with
    if built_with != build.built_with():
        pytest.skip(f"the archive was built with {built_with}")
    build.build_apart(module, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == path.read_bytes(), REMEDY


def test_a_changed_source_is_seen(tmp_path):
    sources = ["_one.py", "_two.py"]
    (tmp_path / "_one.py").write_bytes(b"a = 1\nb = 2\n")
    (tmp_path / "_two.py").touch()
    made = _archive.Archive(b"", {}, sources, _archive.digest_of(tmp_path, sources), "numba")
    _archive.write(tmp_path / "made.zip", made)
    archive = _archive.read(tmp_path / "made.zip")
    assert archive == made
    assert _archive.why_not(archive, tmp_path) is None
    (tmp_path / "_one.py").write_bytes(b"a = 1\r\nb = 2\r\n")  # as some tools write it
    assert _archive.why_not(archive, tmp_path) is None
    (tmp_path / "_one.py").write_bytes(b"a = 1\nb = 3\n")
    assert "sources have changed" in _archive.why_not(archive, tmp_path)
    (tmp_path / "_one.py").unlink()  # renamed, perhaps
    assert "sources have changed" in _archive.why_not(archive, tmp_path)
    (tmp_path / "_two.py").unlink()  # some packagers leave the sources out
    assert _archive.why_not(archive, tmp_path) is None
    assert "another version" in _archive.why_not(archive._replace(version=0), tmp_path)


def test_all_sources_of_a_kernel_are_watched():
    archive = _archive.read(_archive.path_of("sev.backends.trees._kernels"))
    imported = {"_kernels.py", "_collapse.py", "_cubic.py", "_forest.py", "_forms.py", "_lookup.py", "_outcomes.py",
                "_room.py", "_rows.py", "_tables.py", "_branch.py"}  # fmt: skip
    assert imported <= set(archive.sources)


def test_a_kernel_that_calls_what_is_not_there_is_not_built(tmp_path, monkeypatch):
    (tmp_path / "odd_kernels.py").write_text(
        "import numpy as np\nfrom sev.kernels.source import njit\n\n\n"
        "@njit('float64[::1]')\ndef odd(values):\n    return np.argsort(values, kind='mergesort')[0]\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(build.subprocess.CalledProcessError):
        build.build_apart("odd_kernels", tmp_path / "odd.zip")
    assert not (tmp_path / "odd.zip").exists()
