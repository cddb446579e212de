"""What is declared to work is what is tested: `make test-lowest` installs exactly the lowest declared versions."""

import importlib.metadata
import importlib.util
import os

import pytest
from install.building import ROOT
from packaging.version import Version

spec = importlib.util.spec_from_file_location("lowest_versions", ROOT / "tools" / "lowest_versions.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

ENGINES = {"dask", "distributed", "pyspark", "ray"}  # `make test-engines` installs them


def write_project(folder, dependencies, extra):
    path = folder / "pyproject.toml"
    path.write_text(f'[project]\nname = "p"\ndependencies = {dependencies}\noptional-dependencies.extra = {extra}\n')
    return path


@pytest.mark.parametrize(("name", "lowest"), sorted(tool.lowest_versions().items()))
def test_installed_versions_are_declared_to_work(name, lowest):
    exactly = os.environ.get("SEV_LOWEST") == "1"
    try:
        installed = Version(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        assert name in ENGINES or not exactly
        pytest.skip(f"{name} is not installed here")
    if exactly:
        assert Version(installed.public) == Version(lowest)  # without the +cpu of torch
    else:
        assert installed >= Version(lowest)


def test_lowest_versions_are_read_from_every_extra(tmp_path):
    path = write_project(tmp_path, ["a>=1.2", "b-c[x]>=3,<5"], ["p[other]", "d==4", "a>=1.2"])
    assert tool.lowest_versions(path) == {"a": "1.2", "b-c": "3", "d": "4"}


@pytest.mark.parametrize(("extra", "message"), [(["d"], "declares no lowest"), (["a>=2"], "two lowest versions")])
def test_unclear_lowest_versions_are_refused(tmp_path, extra, message):
    with pytest.raises(SystemExit, match=message):
        tool.lowest_versions(write_project(tmp_path, ["a>=1"], extra))
