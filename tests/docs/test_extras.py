"""What the documentation imports comes with the installation that the README names for everything."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```python\n(.*?)```", re.S)
BUILT = {"_build", "auto_examples"}
NAME = re.compile(r"[A-Za-z0-9._-]+")


def sources():
    """The Python code of pages and examples."""
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        if not BUILT & set(page.parts):
            yield from BLOCK.findall(page.read_text(encoding="utf-8"))
    for example in (ROOT / "examples").glob("*.py"):
        yield example.read_text(encoding="utf-8")


def imported(code):
    """The outermost names of the modules that code imports."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def declared(*extras):
    """The packages that the installation with these extras asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found, wanted = set(), [*project["dependencies"]]
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    for requirement in wanted:
        inner = re.match(r"sev\[(.*)\]", requirement)
        found |= declared(*inner[1].split(",")) if inner else {NAME.match(requirement)[0].lower()}
    return found


def test_everything_that_the_documentation_imports_is_installed_with_it():
    known = sys.stdlib_module_names | {"sev", "sev_reproduction"}
    modules = {name for code in sources() for name in imported(code)} - known
    assert {"sklearn", "pandas", "lightgbm", "torch"} <= modules  # the pages are read
    packages, wanted = packages_distributions(), declared("all", "engines")
    # a package that is not installed here is looked for by the name of its module
    missing = {name for name in modules if not {one.lower() for one in packages.get(name, [name])} & wanted}
    assert missing == set()


@pytest.mark.parametrize("package", ["openpyxl", "polars", "skorch", "interpret-core"])
def test_what_pages_name_without_importing_it_is_installed_with_everything(package):
    assert package in declared("all")


def test_the_readme_installs_everything_with_the_tested_torch():
    commands = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if "pip install" in line]
    assert any("-c constraints.txt" in line and "[all]" in line for line in commands)
    assert all("-c constraints.txt" in line for line in commands if "[" in line)


def test_every_extra_that_a_message_names_installs_what_is_missing():
    """Not the tools of developers, and not an extra that has nothing to install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = set()
    for path in (ROOT / "src" / "sev").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("require", "name_missing"):
                named = [one.value for one in node.args if isinstance(one, ast.Constant)]
                extras = [
                    one.value.value
                    for one in node.keywords
                    if one.arg == "extra" and isinstance(one.value, ast.Constant)
                ]
                asked |= {(name.partition(".")[0], extra) for name in named for extra in extras if extra}
    assert len({extra for _, extra in asked}) >= 5  # the calls are read
    assert not {extra for _, extra in asked} & {"dev", "docs", "all"}
    names = {"pydantic": "fastapi", "starlette": "fastapi", "traitlets": "anywidget"}  # come with another one
    assert [pair for pair in asked if names.get(pair[0], pair[0]) not in declared(pair[1])] == []
    assert {extra for _, extra in asked} <= set(project["optional-dependencies"])
