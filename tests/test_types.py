"""Types at the seams: functions that packages export take and return something with a name, not ``Any``."""

import ast
import inspect
from pathlib import Path

from sev.batch import PartitionExplainer
from sev.batch._partition import PartitionOptions

PACKAGE = Path(__file__).parents[1] / "src" / "sev"

#: Exported functions and methods with a bare ``Any``, by package; the others have none. A number may only fall.
STILL_ANY = {
    "core": 1,
    "plots": 2,
}

#: All places that name ``Any``, by package or module; a number may only fall. What stays is of libraries without types,
#: of tables with an entry for each type, of caches and queues that hold anything, or belongs to a package above.
ALL_ANY = {
    "__init__.py": 1,
    "_registry.py": 4,
    "app": 10,
    "backends": 3,
    "batch": 1,
    "cli": 3,
    "comparison": 2,
    "core": 2,
    "exceptions.py": 2,
    "explainers": 1,
    "explanations": 5,
    "files": 4,
    "libraries": 1,
    "plots": 8,
    "text": 1,
    "training": 1,
    "typing.py": 5,
}


def _exported(package: Path) -> set[str]:
    for node in ast.parse((package / "__init__.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def _has_any(function: ast.FunctionDef) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    notes = [one.annotation for one in arguments] + [function.returns]
    return any(isinstance(note, ast.Name) and note.id == "Any" for note in notes)


def _functions_with_any(package: Path) -> list[str]:
    found = []
    for path in sorted(package.rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in _exported(package):
                inner = node.body if isinstance(node, ast.ClassDef) else [node]
                public = [one for one in inner if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
                found += [f"{path.relative_to(PACKAGE)}:{one.lineno} {one.name}" for one in public if _has_any(one)]
    return found


def test_exported_functions_have_types_that_mean_something():
    packages = [one for one in sorted(PACKAGE.iterdir()) if (one / "__init__.py").exists()]
    assert len(packages) > 15
    found = {one.name: _functions_with_any(one) for one in packages}
    counts = {name: len(functions) for name, functions in found.items() if functions}
    assert counts == STILL_ANY, "\n".join(line for functions in found.values() for line in functions)


def _names_of_any(path: Path) -> int:
    """How often a module names ``Any``; annotations in quotes count as well."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    quoted = [one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    named = sum(isinstance(one, ast.Name) and one.id == "Any" for one in nodes)
    return named + sum("[Any" in text and "\n" not in text for text in quoted)


def test_any_stays_where_nothing_else_is_known():
    counts: dict[str, int] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        first = path.relative_to(PACKAGE).parts[0]
        counts[first] = counts.get(first, 0) + _names_of_any(path)
    assert sum(counts.values()) > 10
    more = {name: count for name, count in counts.items() if count > ALL_ANY.get(name, 0)}
    assert more == {}, "say what these values are"


def test_the_type_of_the_options_of_a_batch_names_them_all():
    parameters = set(inspect.signature(PartitionExplainer).parameters)
    assert set(PartitionOptions.__annotations__) == parameters - {"archive", "trust_pickle"}
