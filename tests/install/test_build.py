"""The wheel, the source distribution and both kinds of installation work, also where there is no compiler."""

import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from install.building import ROOT, run

pytestmark = pytest.mark.usefixtures("index")
SMOKE = Path(__file__).with_name("smoke.py")
#: Nothing is compiled: the wheel then has all but the extension, which the tests marked as slow build and import.
WITHOUT_EXTENSION = ("-C", "wheel.cmake=false", "-C", "wheel.py-api=py3")
CONSTRAINTS = ("-c", ROOT / "constraints.txt")


def build_wheel(source, folder, *options, environment=None):
    command = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *options, "-w", folder, source)
    run(*command, environment=environment)
    (wheel,) = Path(folder).glob("sev-*.whl")
    return wheel


def names_in(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def import_from(wheel, folder):
    """Run the smoke test on the contents of a wheel, beside the packages that are installed here."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    run(sys.executable, SMOKE, folder, environment={**os.environ, "PYTHONPATH": str(folder)}, cwd=folder)


def test_a_wheel_has_every_file_of_the_package_and_no_sources_of_the_extension(checkout, tmp_path):
    names = names_in(build_wheel(checkout, tmp_path / "wheels", *WITHOUT_EXTENSION))
    package = checkout / "src"
    files = {path.relative_to(package).as_posix() for path in (package / "sev").rglob("*") if path.is_file()}
    native = {name for name in files if name.startswith("sev/_native/")}
    hidden = {name for name in files if Path(name).name.startswith(".")}
    assert native
    assert files - native - hidden <= names
    assert not native & names
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"sev"}  # no experiments


@pytest.mark.slow
def test_a_wheel_can_be_built_from_the_source_distribution(checkout, tmp_path):
    script = "import sys; sys.path.insert(0, 'tools'); import build_backend; build_backend.build_sdist(sys.argv[1])"
    run(sys.executable, "-c", script, tmp_path, cwd=checkout)
    (archive,) = tmp_path.glob("sev-*.tar.gz")
    with tarfile.open(archive) as opened:
        assert not [name for name in opened.getnames() if name.endswith((".so", ".o"))]
    names = names_in(wheel := build_wheel(archive, tmp_path / "wheels"))
    assert len([name for name in names if name.startswith("sev/_native.") and name.endswith((".so", ".pyd"))]) == 1
    assert names == names_in(build_wheel(checkout, tmp_path / "direct"))
    import_from(wheel, tmp_path / "unpacked")


@pytest.mark.slow
def test_an_installation_into_an_empty_environment_explains(checkout, environment, tmp_path):
    run(environment, "-m", "pip", "install", "--quiet", *CONSTRAINTS, checkout)
    run(environment, "-W", "error", SMOKE, environment.parents[1], cwd=tmp_path)
    assert "sev" in run(environment.with_name("sev"), "--version")


@pytest.mark.slow
def test_an_editable_installation_follows_the_sources(checkout, environment, tmp_path):
    run(environment, "-m", "pip", "install", "--quiet", *CONSTRAINTS, "-e", checkout)
    run(environment, SMOKE, checkout, cwd=tmp_path)
    init = checkout / "src" / "sev" / "__init__.py"
    init.write_text(init.read_text() + "\nADDED = 1\n")
    assert run(environment, "-c", "import sev; print(sev.ADDED)", cwd=tmp_path) == "1\n"
    # a folder in PYTHONPATH comes before it, as for any other package
    other = tmp_path / "other"
    (other / "sev").mkdir(parents=True)
    (other / "sev" / "__init__.py").write_text("ADDED = 2")
    overridden = {**os.environ, "PYTHONPATH": str(other)}
    assert run(environment, "-c", "import sev; print(sev.ADDED)", cwd=tmp_path, environment=overridden) == "2\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="CMake finds Visual Studio by itself on Windows")
def test_a_machine_without_a_compiler_fetches_one(checkout, tmp_path):
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("sh", "cat", "ls", "mkdir", "rm", "uname"):
        (commands / name).symlink_to(shutil.which(name))
    environment = {**os.environ, "PATH": str(commands)}
    environment.pop("CXX", None)
    wheel = build_wheel(checkout, tmp_path / "wheels", environment=environment)
    import_from(wheel, tmp_path / "unpacked")
