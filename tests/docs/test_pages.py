"""Pages that a script writes are what it writes from the tracked results; nobody edits a figure by hand."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


WRITTEN = ["peers_changes", "reproduction", "training_beyond", "training_results"]


def script(name):
    spec = importlib.util.spec_from_file_location(f"page_{name}", ROOT / "docs" / "pages" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "pages")  # as where the script is run
    found = script(name)
    if name == "reproduction":
        return found.page()
    if name == "training_results":
        return found.page(found.read_lines(found.RESULTS))
    return found.page(found.read_lines())


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_is_what_its_script_writes(name, monkeypatch):
    assert (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") == written(name, monkeypatch)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_of_results_is_two_screens(name):
    lines = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 90, "tables of every measurement belong into a file that the script writes on demand"


def test_all_tables_are_written_on_demand(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "pages")
    tables = script("training_tables")
    assert "| Adult LR SEV+ |" in tables.tables(tables.read_lines(tables.RESULTS))
    beyond = script("training_beyond")
    full = beyond.page(beyond.read_lines(), full=True)
    assert "| boosted trees | one step | 0.3 |" in full
    assert len(full) > 2 * len(beyond.page(beyond.read_lines()))


def test_generated_pages_and_large_pictures_are_not_in_the_repository():
    built = {"_build", "auto_examples"}  # what `make docs` writes is not tracked
    kept = [path for path in (ROOT / "docs").rglob("*") if path.is_file() and not built & set(path.parts)]
    assert not [path.name for path in kept if path.suffix == ".html"]
    large = [path.name for path in kept if path.stat().st_size > 130_000]
    assert large == []


def test_pictures_are_shown_on_a_page():
    shown = "".join(path.read_text(encoding="utf-8") for path in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
    unused = [path.name for path in (ROOT / "docs" / "images").iterdir() if f"images/{path.name}" not in shown]
    assert unused == []


def test_scripts_that_write_pages_are_in_one_place():
    elsewhere = [path for folder in ("benchmarks", "docs", "examples") for path in (ROOT / folder).glob("*page*.py")]
    assert elsewhere == []
