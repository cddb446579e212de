"""SEV- and SEV+ are spelt in one way, in one place."""

import ast
from pathlib import Path

import pytest
import show_cases as cases

import sev
from sev.core import Status, kind_label

SOURCES = sorted(Path(sev.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize(("kind", "label"), [("minus", "SEV-"), ("plus", "SEV+")])
def test_results_and_pictures_agree(kind, label):
    many = cases.made([(Status.OPTIMAL, [(0,)])], kind=kind)
    assert kind_label(kind) == label
    assert label in repr(many)
    assert label in repr(many[0])
    assert many.summary().name == label
    assert label in "".join(map(str, many[0].to_frame().index))
    assert f"({label})" in many.plot_sizes().get_title(loc="left")


def test_the_minus_is_a_hyphen_in_every_source():
    other = "SEV" + chr(0x2212)
    files = [path for path in SOURCES if other in path.read_text(encoding="utf-8")]
    html = [path for path in Path(sev.__file__).parent.rglob("*.html") if other in path.read_text(encoding="utf-8")]
    assert files + html == []


def test_no_other_file_chooses_between_the_two():
    choosing = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.IfExp) and {"'SEV-'", "'SEV+'", "'-'", "'+'"} & {
                ast.unparse(node.body),
                ast.unparse(node.orelse),
            }:
                choosing.append(path.name)
    assert choosing == []
