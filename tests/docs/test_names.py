"""Every name of the package that a page shows in code is there, after ``import sev`` alone."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import sev

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("README.md", "docs/**/*.md", "docs/pages/*.py", "reproduction/README.md", "examples/*.py")
    for path in ROOT.glob(pattern)
    if not {"_build", "auto_examples"} & set(path.parts)
)
NAME = r"sev(?:\.[A-Za-z_]\w*)+"


def code_of(path):
    """The parts of a page that are code: all of a script; fenced, indented and inline code of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    fenced = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.S | re.M)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return "\n".join([*fenced, *re.findall(r"`([^`\n]+)`", rest), *re.findall(r"^ {4}(\S.*)$", rest, re.M)])


def names_in(code):
    """Modules that are imported or run, and other names, each with what is imported from it."""
    modules = set(re.findall(rf"(?:^|\s)(?:-m|import) ({NAME})", code))
    imported = {
        (module, name)
        for module, in_brackets, on_line in re.findall(rf"from ({NAME}|sev) import (?:\(([^)]*)\)|([\w, ]+))", code)
        for name in re.findall(r"(\w+)(?: as \w+)?", in_brackets or on_line)
    }
    used = set(re.findall(rf"(?<![\w./-]){NAME}", code)) - modules - {module for module, _ in imported}
    return modules, imported, used


def resolve(dotted):
    """The object behind a name, by attributes alone; the first one must be a public name of the package."""
    first, *rest = dotted.split(".")[1:]
    assert first in sev.__all__, f"{first} is not a public name of sev"
    found = getattr(sev, first)
    for name in rest:
        assert not name.startswith("_"), f"{dotted} is private"
        found = getattr(found, name)
    return found


def unknown(code):
    modules, imported, used = names_in(code)
    wrong = []
    for name in sorted(modules):
        try:
            import_module(name)
        except ModuleNotFoundError:
            wrong.append(name)
    for module, name in sorted(imported):
        if not hasattr(import_module(module), name):
            wrong.append(f"{module}.{name}")
    for name in sorted(used):
        try:
            resolve(name)
        except (AttributeError, AssertionError):
            wrong.append(name)
    return wrong


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_are_there(path):
    assert unknown(code_of(path)) == []


def test_pages_show_names():
    found = {name for path in PAGES for name in names_in(code_of(path))[2]}
    assert {"sev.batch.explain_files", "sev.comparison.L2X", "sev.Explainer"} <= found


WRONG = [
    "sev.batch.explain_file(1)",
    "x = sev.nothing",
    "from sev.files import lod",
    "python -m sev.nothing",
    "sev.cli.main()",
    "sev.plots._style.LITERAL",
]


@pytest.mark.parametrize("code", WRONG)
def test_wrong_names_are_found(code):
    assert unknown(code)
