"""Pictures stand on what every user has: no private module and no private attribute of the results."""

import ast
from pathlib import Path

import pytest

from sev import plots

FILES = sorted(Path(plots.__file__).parent.glob("*.py"))


def private_uses(source):
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.module.startswith("sev.plots"):
            found += [node.module] if any(part.startswith("_") for part in node.module.split(".")[2:]) else []
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_only_public_names_are_used(path):
    assert private_uses(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("line", ["from sev.explanations._values import feature_value", "explanations._queries"])
def test_private_names_are_found(line):
    assert private_uses(line)
