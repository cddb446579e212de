"""Imports point one way, and the underscore means something: read from every file, lazy and typing imports included."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "sev"

#: Each package may import those above it, never those below; CONTRIBUTING has the picture.
ORDER = (
    "typing",
    "exceptions",
    "_native",
    "_optional",
    "_io",
    "core",
    "space",
    "references",
    "backends",
    "files",
    "text",
    "plots",
    "explanations",
    "explainers",
    "datasets",
    "testing",
    "training",
    "comparison",
    "reports",
    "batch",
    "cli",
    "demo",
    "__init__",
)


class Import(NamedTuple):
    """One imported name."""

    file: str
    line: int
    importer: str  # package
    module: str  # where the name is taken from
    name: str

    @property
    def imported(self) -> str:
        parts = self.module.split(".")
        return parts[1] if len(parts) > 1 else self.name if (PACKAGE / self.name).exists() else "__init__"

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.name} from {self.module}"


def _package_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def _imports() -> Iterator[Import]:
    for path in sorted(PACKAGE.rglob("*.py")):
        file = str(path.relative_to(PACKAGE))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sev":
                for alias in node.names:
                    yield Import(file, node.lineno, _package_of(path), node.module, alias.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] == "sev":
                        yield Import(file, node.lineno, _package_of(path), alias.name, alias.name)


IMPORTS = tuple(_imports())
BETWEEN = tuple(one for one in IMPORTS if one.importer != one.imported)


def test_every_package_has_a_place_in_the_order():
    found = {_package_of(path) for path in PACKAGE.rglob("*.py")}
    assert found - set(ORDER) == set()
    assert len(IMPORTS) > 400  # the files are really read


def test_imports_point_one_way():
    against = [str(one) for one in BETWEEN if ORDER.index(one.imported) > ORDER.index(one.importer)]
    assert against == []


def test_no_private_module_or_name_of_another_package_is_imported():
    private = [
        str(one)
        for one in BETWEEN
        if any(part.startswith("_") for part in one.module.split(".")[2:])
        or (one.name.startswith("_") and not one.name.startswith("__"))
    ]
    assert private == []


def test_modules_of_one_package_do_not_import_each_other_in_a_circle():
    edges: dict[str, set[str]] = {}
    for one in IMPORTS:
        importer = "sev." + one.file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        edges.setdefault(importer, set()).add(one.module)
    for start in edges:
        seen: set[str] = set()
        waiting = list(edges[start])
        while waiting:
            module = waiting.pop()
            if module == start:
                pytest.fail(f"{start} imports itself through other modules")
            if module not in seen:
                seen.add(module)
                waiting.extend(edges.get(module, ()))


def _owned(path: Path) -> set[str]:
    """Private attributes that a package itself defines: by assignment, as a method, or as a field."""
    names = set()
    for other in (PACKAGE / _package_of(path)).rglob("*.py") if path.parent != PACKAGE else [path]:
        for node in ast.walk(ast.parse(other.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.AnnAssign | ast.Assign):
                targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def _defined_elsewhere() -> set[str]:
    return {name for path in PACKAGE.iterdir() if path.is_dir() for name in _owned(path / "_.py") if name[:1] == "_"}


def test_no_private_attribute_of_another_package_is_read():
    ours = _defined_elsewhere()
    owned: dict[str, set[str]] = {}
    read = []
    for path in sorted(PACKAGE.rglob("*.py")):
        mine = owned.setdefault(_package_of(path), _owned(path))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.startswith("__"):
                continue
            if node.attr in ours and node.attr not in mine:
                read.append(f"{path.relative_to(PACKAGE)}:{node.lineno} reads {node.attr}")
    assert read == []
