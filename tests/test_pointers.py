"""A file that a comment, a docstring or the map names is there."""

import io
import re
import tokenize
from pathlib import Path

import pytest

import sev

PACKAGE = Path(sev.__file__).parent
ROOT = PACKAGE.parents[1]
FILES = [
    *(
        path.relative_to(ROOT).as_posix()
        for folder in ("src", "tests", "tools", "benchmarks", "reproduction", "docs", "examples")
        for path in (ROOT / folder).rglob("*")
        if "node_modules" not in path.parts
    ),
    *(path.name for path in ROOT.iterdir()),
]
NAMED = re.compile(r"(?<![\w/*{}.<>-])((?:[\w-]+/)*[\w-]+\.(?:py|hpp|cpp|md|mjs|js))\b")


def comments_of(text):
    """Comments and texts of a Python file."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and "`" in token.string):
            yield token.string


def pointers(path, text):
    """Files that comments of a file name."""
    if path.suffix == ".py":
        text = "\n".join(comments_of(text))
    elif path.suffix in (".hpp", ".cpp"):
        text = "\n".join(line.partition("//")[2] for line in text.splitlines())
    else:
        text = "\n".join(" ".join(found) for found in re.findall(r"`([^`\n]*)`|\]\(([^)#\n]*)", text))
    return NAMED.findall(text)


def is_there(name):
    return any(known == name or known.endswith(f"/{name}") for known in FILES)


def test_files_that_comments_name_are_there():
    checked, missing = 0, []
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".hpp", ".cpp", ".md") and path.name != "CONTRACT.md":  # which has an example
            named = pointers(path, path.read_text("utf-8"))
            checked += len(named)
            missing += [(path.name, name) for name in named if not is_there(name)]
    assert checked > 20  # comments are read
    assert missing == []


def test_files_that_the_map_names_are_there():
    named = pointers(Path("CONTRIBUTING.md"), (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert len(named) > 50
    assert [name for name in named if not is_there(name)] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "x = 1  # see `_proof.py`\n"),
        ("a.py", 'def f():\n    """As ``trees/_collapse.py`` says."""\n'),
        ("a.hpp", "// nodes are packed as trees/packed.hpp says\n"),
        ("a.md", "read `backends/_forms.py`"),
    ],
)
def test_a_stale_pointer_is_found(name, text):
    assert [one for one in pointers(Path(name), text) if not is_there(one)]
