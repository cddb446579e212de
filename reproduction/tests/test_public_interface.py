"""Experiments stand on what every user has: no private module or attribute of the other packages."""

import ast
from pathlib import Path

import pytest

import sev_reproduction

FILES = sorted(Path(sev_reproduction.__file__).parent.rglob("*.py"))
OWN = "sev_reproduction"


def private_uses(source):
    found = []
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names if not node.module.startswith(OWN)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if not alias.name.startswith(OWN)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            # modules of this package are private to it, and it may use them
            names = [] if node.value.id.startswith("_") or node.value.id in ("self", "cls") else [node.attr]
        found += [name for name in names if any(private(part) for part in name.split("."))]
    return found


def private(part):
    return part.startswith("_") and not part.startswith("__")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_only_public_names_are_used(path):
    assert private_uses(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line", ["from sev.training._quality import Measure", "import sev.space._onehot", "explainer._sample"]
)
def test_private_names_are_found(line):
    assert private_uses(line)
