"""What lies beside the sources is what they make."""

import os

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


@pytest.mark.parametrize(
    "imported",
    [
        "from sev.more._constants import SIZE",
        "from sev.more import _constants as constants",
        "import sev.more._constants as constants",
        "from ._constants import SIZE",
        "from . import _constants",
    ],
)
def test_imports_of_any_form_are_sources(imported, tmp_path):
    folder = tmp_path / "sev" / "src" / "sev" / "more"  # many check the repository out into a folder of this name
    folder.mkdir(parents=True)
    (folder / "_kernels.py").write_text(imported)
    (folder / "_constants.py").write_text("import numpy as np\nfrom sev.kernels.source import njit\nSIZE = 3")
    assert build._sources(folder, "sev.more._kernels") == ["_constants.py", "_kernels.py"]
    (folder / "_constants.py").write_text("from sev.core import SIZE")
    with pytest.raises(ValueError, match=r"_constants.py imports sev.core"):
        build._sources(folder, "sev.more._kernels")


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("plain_kernels", "    return np.int64(values.sum())", None),
        ("absent_kernels", "    return np.int64(math.gamma(values[0]))", "nothing defines"),
        ("library_kernels", "    return np.int64(math.exp(values[0]))", "nothing defines llvm.exp"),
        ("fixed_kernels", "    return LARGE[np.int64(values[0])]", "holds in this process only"),
    ],
)
def test_a_kernel_that_needs_what_is_only_here_is_not_built(name, lines, message, tmp_path, monkeypatch, capfd):
    (tmp_path / f"{name}.py").write_text(
        "import math\n\nimport numpy as np\nfrom sev.kernels.source import njit\n\nLARGE = np.arange(200_000)\n\n\n"
        f"@njit('float64[::1]')\ndef odd(values):\n{lines}\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    archive = tmp_path / "made.zip"
    if message is None:
        build.build_apart(name, archive)
    else:
        with pytest.raises(build.subprocess.CalledProcessError):
            build.build_apart(name, archive)
        assert message in capfd.readouterr().err
    assert archive.exists() == (message is None)
