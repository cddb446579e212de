"""What a source file of the package takes from other packages: by imports, by names in strings, by private attributes.

Lazy imports and those for types only count like all others. ``tests/test_architecture.py`` compares what is found here
with the order of packages.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1] / "src" / "sev"
FILES = tuple(sorted(PACKAGE.rglob("*.py")))
MODULES = frozenset(
    ".".join(("sev", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__") for path in FILES
) | {"sev._native"}

#: Functions that take the name of an attribute as a string.
_BY_NAME = {"getattr", "hasattr", "setattr", "delattr", "attrgetter", "methodcaller"}


class Use(NamedTuple):
    """One name that a file takes from a module of this package."""

    file: str
    line: int
    module: str  # where the name is taken from
    name: str

    @property
    def importer(self) -> str:
        return package_of(self.file)

    @property
    def imported(self) -> str:
        """The package that holds the name: the first part below ``sev``."""
        parts = f"{self.module}.{self.name}".split(".")
        return parts[1] if self.module != "sev" or f"sev.{self.name}" in MODULES else "__init__"

    @property
    def is_private(self) -> bool:
        """Whether the name, or a module on the way to it, is private to its package."""
        path = f"{self.module}.{self.name}".split(".")
        return any(part.startswith("_") and not part.startswith("__") for part in path[2:])

    def __str__(self) -> str:
        return f"{self.file}:{self.line} takes {self.name} from {self.module}"


def package_of(file: str) -> str:
    """The package, or the module of the top level, that a file below ``src/sev`` belongs to."""
    return file.partition("/")[0].removesuffix(".py")


@dataclass(frozen=True)
class Source:
    """One file, by its path below ``src/sev`` and its text."""

    file: str
    text: str

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of its syntax."""
        return tuple(ast.walk(ast.parse(self.text)))

    @property
    def package(self) -> str:
        return package_of(self.file)

    @property
    def module(self) -> str:
        return ".".join(("sev", *self.file.removesuffix(".py").split("/"))).removesuffix(".__init__")

    @property
    def imported_modules(self) -> Iterator[tuple[int, str]]:
        """Lines and modules of all imports, also of other packages than this one."""
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom):
                yield node.lineno, node.module or ""
            elif isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)

    @property
    def strings(self) -> Iterator[tuple[int, str]]:
        """Lines and strings, docstrings aside."""
        documents = {node.value for node in self.nodes if isinstance(node, ast.Expr)}
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documents:
                yield node.lineno, node.value

    @cached_property
    def imports(self) -> tuple[Use, ...]:
        """Imports of this package, wherever in the file they stand."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sev":
                found += [Use(self.file, node.lineno, node.module or "", alias.name) for alias in node.names]
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.partition(".")[0] == "sev":
                        module, _, name = alias.name.rpartition(".")
                        found.append(Use(self.file, node.lineno, module or "sev", name))
        return tuple(found)

    @cached_property
    def names_in_strings(self) -> tuple[Use, ...]:
        """Modules of this package that a string names, as `import_module`, the registry and annotations do."""
        found = [
            Use(self.file, node.lineno, "sev", "?")
            for node in self.nodes
            if isinstance(node, ast.Call) and _chain(node.func)[-1:] in (["__import__"], ["import_module"])
            if isinstance(node.args[0], ast.Constant) and node.args[0].value == "sev"
        ]
        for line, text in self.strings:
            if re.fullmatch(r"sev\.(:\w*)?", text):
                found.append(Use(self.file, line, "sev", "?"))  # the rest is put together where it runs
            for module, name in _modules_in(text):
                found.append(Use(self.file, line, module, name or "?"))
        return tuple(found)

    @cached_property
    def bound_modules(self) -> Mapping[str, str]:
        """Names of this file that stand for modules of this package."""
        bound = {}
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if f"{node.module}.{alias.name}" in MODULES:
                        bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.partition(".")[0] == "sev":
                        bound[alias.asname or "sev"] = alias.name if alias.asname else "sev"
        return bound

    @cached_property
    def reads_of_modules(self) -> tuple[Use, ...]:
        """Attributes read from modules of this package: ``sev.core.Status``, or ``core.Status``."""
        found = []
        for node in self.nodes:
            chain = _chain(node)
            if len(chain) > 1 and chain[0] in self.bound_modules:
                parts = [*self.bound_modules[chain[0]].split("."), *chain[1:]]
                found.append(Use(self.file, node.lineno, ".".join(parts[:-1]), parts[-1]))
        return tuple(found)

    @cached_property
    def private_reads(self) -> tuple[tuple[int, str, str], ...]:
        """Private attributes that are read or set, with their line and the object's expression."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Attribute):
                if not set(_chain(node)[:1]) & set(self.bound_modules):
                    found.append((node.lineno, node.attr, ast.unparse(node.value)))
            elif isinstance(node, ast.Call) and _chain(node.func)[-1:] and _chain(node.func)[-1] in _BY_NAME:
                of = ast.unparse(node.args[0]) if len(node.args) > 1 else ""
                for one in node.args:
                    if isinstance(one, ast.Constant) and isinstance(one.value, str):
                        found += [(node.lineno, name, of) for name in one.value.split(".")]
            elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                whole = ast.unparse(node.value)
                if whole.endswith(".__dict__") or whole.startswith("vars("):
                    of = whole.removesuffix(".__dict__").removeprefix("vars(").removesuffix(")")
                    found.append((node.lineno, str(node.slice.value), of))
        return tuple(one for one in found if one[1].startswith("_") and not one[1].startswith("__"))

    @cached_property
    def objects_of_others(self) -> Mapping[str, str]:
        """Names that the file annotates with, or makes by calling, a class it imports from another package."""
        classes = {one.name: one.imported for one in self.imports if one.imported != self.package}
        found: dict[str, set[str]] = {}
        for node in self.nodes:
            if isinstance(node, ast.arg):
                name, kind = node.arg, node.annotation
            elif isinstance(node, ast.AnnAssign):
                name, kind = ast.unparse(node.target), node.annotation
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                name, kind = ast.unparse(node.targets[0]), node.value.func
            else:
                continue
            text = "" if kind is None else ast.unparse(kind).strip("'\"").removesuffix(" | None")
            home = classes.get(text, "")
            found.setdefault(name, set()).add(home)
        return {name: homes.pop() for name, homes in found.items() if len(homes) == 1 and homes != {""}}

    @cached_property
    def attributes(self) -> frozenset[str]:
        """Names that its classes define: set on an object, as a method, or as a field."""
        names: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names |= {node.attr} if ast.unparse(node.value) in ("self", "cls") else set()
            elif isinstance(node, ast.ClassDef):
                for one in node.body:
                    if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                        names.add(one.name)
                    elif isinstance(one, ast.Assign | ast.AnnAssign):
                        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
                        names |= {target.id for target in targets if isinstance(target, ast.Name)}
        return frozenset(names)

    def imported_at_once(self) -> Iterator[str]:
        """Modules of this package that it imports when it is itself imported: no lazy and no typing imports."""
        waiting: list[ast.AST] = [ast.parse(self.text)]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                waiting += node.orelse
                continue
            waiting += ast.iter_child_nodes(node)
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sev":
                for alias in node.names:
                    submodule = f"{node.module}.{alias.name}"
                    yield submodule if submodule in MODULES else node.module or ""
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == "sev")


@cache
def sources() -> tuple[Source, ...]:
    """Every file of the package."""
    return tuple(Source(path.relative_to(PACKAGE).as_posix(), path.read_text("utf-8")) for path in FILES)


@cache
def attributes_of(package: str) -> frozenset[str]:
    """Names that the classes of a package define."""
    return frozenset[str]().union(*(one.attributes for one in sources() if one.package == package))


def _modules_in(text: str) -> list[tuple[str, str]]:
    """Modules of this package, each with a name of it, in a route (``"sev.core:Status"``) or an annotation."""
    if re.search(r"\w \w", text):  # a sentence
        return []
    found = re.findall(r"\bsev((?:\.\w+)+):?(\w*)", text)
    return [("sev" + path, name) for path, name in found if "sev." + path.split(".")[1] in MODULES]


def _chain(node: ast.AST) -> list[str]:
    """``a.b.c`` as its parts; empty where it is something else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else []
