"""Imports point one way, and the underscore means something: read from every file, lazy and typing imports included."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1] / "src" / "sev"

#: Each package may import those above it, never those below; CONTRIBUTING has the picture.
ORDER = (
    "typing",
    "exceptions",
    "_native",
    "_optional",
    "_registry",
    "_io",
    "_spreadsheet",
    "core",
    "text",
    "space",
    "references",
    "actions",
    "backends",
    "credibility",
    "libraries",
    "files",
    "plots",
    "explanations",
    "explainers",
    "datasets",
    "testing",
    "training",
    "comparison",
    "reports",
    "batch",
    "app",
    "__init__",
    "demo",
    "cli",
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
        if len(parts) > 1:
            return parts[1]
        return self.name if (PACKAGE / self.name).is_dir() else "__init__"

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.name} from {self.module}"


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _package_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def _imports() -> Iterator[Import]:
    for path in sorted(PACKAGE.rglob("*.py")):
        file = str(path.relative_to(PACKAGE))
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sev":
                for alias in node.names:
                    yield Import(file, node.lineno, _package_of(path), node.module, alias.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] == "sev":
                        yield Import(file, node.lineno, _package_of(path), alias.name, alias.name)


MODULES = {
    "sev." + str(path.relative_to(PACKAGE)).removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
}
IMPORTS = tuple(_imports())
BETWEEN = tuple(one for one in IMPORTS if one.importer != one.imported)


def test_every_package_has_a_place_in_the_order():
    found = {_package_of(path) for path in PACKAGE.rglob("*.py")}
    assert found - set(ORDER) == set()
    assert len(IMPORTS) > 400  # the files are really read


def test_no_import_is_relative():
    """The other tests read imports by their full names."""
    relative = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_the_map_and_the_picture_in_contributing_name_every_package():
    text = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    tree = text[text.index("    src/sev/\n") : text.index("    tests/ ")]
    picture = text[text.index("cli, demo") : text.index("`_registry.py` is the one look-up")]
    packages = [one.name for one in PACKAGE.iterdir() if (one / "__init__.py").exists()] + ["_native"]
    assert len(packages) > 15
    assert [name for name in packages if f"      {name}/ " not in tree] == []
    assert [name for name in ORDER if name != "__init__" and not re.search(rf"\b{name}\b", picture)] == []


def test_imports_point_one_way():
    against = [str(one) for one in BETWEEN if ORDER.index(one.imported) > ORDER.index(one.importer)]
    assert against == [], "\n".join(against)


def test_no_private_module_or_name_of_another_package_is_imported():
    private = [
        str(one)
        for one in BETWEEN
        if any(part.startswith("_") for part in one.module.split(".")[2:])
        or (one.name.startswith("_") and not one.name.startswith("__") and one.name != "_native")
    ]
    assert private == [], "\n".join(private)


def _imported_at_once(path: Path) -> Iterator[str]:
    """Modules of this package that a file imports when it is itself imported: no lazy and no typing imports."""
    for node in _tree(path).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sev":
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in MODULES else node.module


def test_no_module_imports_itself_through_others():
    edges = {
        "sev." + str(path.relative_to(PACKAGE)).removesuffix(".py").replace("/", "."): set(_imported_at_once(path))
        for path in PACKAGE.rglob("*.py")
    }
    for start in edges:
        seen: set[str] = set()
        waiting = list(edges[start])
        while waiting:
            module = waiting.pop()
            assert module != start, f"{start} imports itself through other modules"
            if module not in seen:
                seen.add(module)
                waiting.extend(edges.get(module, ()))


@cache
def _attributes_of_classes(package: str) -> frozenset[str]:
    """Names that the classes of a package define: set on self, as a method, or as a field."""
    names: set[str] = set()
    folder = PACKAGE / package
    for path in folder.rglob("*.py") if folder.is_dir() else [folder.with_suffix(".py")]:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
            elif isinstance(node, ast.ClassDef):
                names |= {one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
                fields = [one.target for one in node.body if isinstance(one, ast.AnnAssign)]
                names |= {target.id for target in fields if isinstance(target, ast.Name)}
    return frozenset(names)


#: Libraries of models that nothing but their folder may name: torch and scikit-learn are also what we compute with.
FOLDERS = ("xgboost", "lightgbm", "catboost", "interpret", "skorch", "treelite")


def _names_in_code(path: Path) -> Iterator[tuple[int, str]]:
    """Imported modules and strings of a file, its docstrings aside."""
    texts = {node.value for node in ast.walk(_tree(path)) if isinstance(node, ast.Expr)}
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in texts:
            yield node.lineno, node.value
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)


def test_a_model_library_is_known_to_its_folder_alone():
    strangers = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        for line, text in _names_in_code(path):
            named = {part for library in FOLDERS for part in text.split(".") if part == library}
            if named - set(parts[:2] if parts[0] == "libraries" else ()) and parts != ("_registry",):
                strangers.append(f"{'/'.join(parts)}:{line} names {text}")
    # 0.1 had a reader of skorch in another place, which still answers
    assert [one for one in strangers if not one.startswith("backends/networks/__init__")] == [], "\n".join(strangers)


#: Not ours: the interface of named tuples, and attributes of CatBoost's and scikit-learn's objects.
FOREIGN = {"_replace", "_fields", "_asdict", "_object", "_baseline_prediction"}


def test_no_private_attribute_of_another_package_is_read():
    private = {name for package in ORDER if package != "_native" for name in _attributes_of_classes(package)}
    read = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(_tree(path)):
            if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.startswith("__"):
                continue
            if node.attr in private - FOREIGN and node.attr not in _attributes_of_classes(_package_of(path)):
                read.append(f"{path.relative_to(PACKAGE)}:{node.lineno} reads {node.attr}")
    assert read == [], "\n".join(read)
