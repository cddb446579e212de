"""Builds happen in a copy of the checkout, so that they neither see nor change what was built in place."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from install.building import ROOT, run

LEFT_OUT = (".git", ".venv*", ".*_cache", ".hypothesis", "build", "dist", "images", "reproduction*", "__pycache__")
BUILT = ("*.so", "*.pyd")


@pytest.fixture(scope="session")
def index(tmp_path_factory):
    """Skip where no package index can be reached; with SEV_REQUIRE_INDEX=1, as in CI, fail instead."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
    download = subprocess.run(
        [*command, tmp_path_factory.mktemp("index"), "scikit-build-core"], capture_output=True, text=True, check=False
    )
    if download.returncode:
        assert os.environ.get("SEV_REQUIRE_INDEX") != "1", download.stderr
        pytest.skip("no package index can be reached, so nothing can be built in isolation")


@pytest.fixture
def checkout(tmp_path):
    """Return a copy of the checkout without anything that was built."""
    return Path(shutil.copytree(ROOT, tmp_path / "checkout", ignore=shutil.ignore_patterns(*LEFT_OUT, *BUILT)))


@pytest.fixture
def environment(tmp_path):
    """Return the Python of a new virtual environment with pip and nothing else."""
    run(sys.executable, "-m", "venv", tmp_path / "environment")
    return tmp_path / "environment" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
