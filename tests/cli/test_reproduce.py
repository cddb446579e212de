"""``sev reproduce`` runs the package beside the library, or reports how to install it."""

import sys

import pytest
from click.testing import CliRunner

from sev.cli import _reproduce, main


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with the same entry as sev_reproduction, whose content the test decides."""
    folder = tmp_path / "papers_tables"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == folder.name]:
        del sys.modules[name]


@pytest.mark.parametrize("words", [[], ["--quick", "-o", "folder"], ["--only", "table1", "--jobs", "2"]])
def test_without_the_package_one_line_tells_how_to_install_it(words, monkeypatch):
    monkeypatch.setattr(_reproduce, "reproduce", _reproduce.find_command("a_package_that_is_not_there"))
    result = CliRunner().invoke(main, ["reproduce", *words])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert "pip install ./reproduction" in result.stderr


def test_help_without_the_package_tells_it_too(monkeypatch):
    monkeypatch.setattr(_reproduce, "reproduce", _reproduce.find_command("a_package_that_is_not_there"))
    assert "pip install ./reproduction" in CliRunner().invoke(main, ["reproduce", "--help"]).output


def test_with_the_package_its_own_command_runs(package, monkeypatch):
    (package / "command.py").write_text(
        "import click\n@click.command()\n@click.option('--only')\ndef reproduce(only):\n    click.echo(f'ran {only}')\n"
    )
    monkeypatch.setattr(_reproduce, "reproduce", _reproduce.find_command(package.name))
    assert CliRunner().invoke(main, ["reproduce", "--only", "table1"]).output == "ran table1\n"


def test_a_broken_package_is_not_reported_as_missing(package):
    (package / "command.py").write_text("import a_module_that_is_not_there\n")
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        _reproduce.find_command(package.name)


def test_the_library_does_not_contain_the_experiments():
    with pytest.raises(ModuleNotFoundError):
        __import__("sev.experiments")
