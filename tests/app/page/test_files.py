"""The files of the page, read as files: texts, weight, modules that can be joined, no markup from data."""

import json
import re
from pathlib import Path

import pytest

import sev

PAGE = Path(sev.__file__).parent / "app" / "page"
MODULES = sorted(PAGE.glob("*.js"))
LANGUAGES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((PAGE / "languages").glob("*.json"))}
#: Texts whose names are put together in the modules: the part before the value, and the values it may have.
FAMILIES = {
    "certainty_": ["proven", "at_least", "none_proven", "none_tried", "undecided", "nothing_to_undo", "error", "tried"],
    "lock_": ["free", "frozen", "up", "down", "range", "relative", "allowed", "low_of", "high_of"],
    "mode_": ["reference", "typical", "any"],
    "no_table_": ["optimal", "feasible", "unexplainable", "undecided", "not_target", "error"],
    "operator_": ["contains", "missing", "present"],
    "reference_": ["default", "mean", "median", "cluster", "nearest", "row", "own"],
    "status_": ["optimal", "feasible", "unexplainable", "undecided", "not_target", "error"],
    "tab_": ["path", "curve", "letter", "compare", "scenarios"],
    "minimise_": ["features", "cost"],
    "order_": ["margin", "closest", "credible"],
    "theme_": ["auto", "light", "dark"],
    "view_": ["list", "groups"],
}


def _used() -> set[str]:
    code = "\n".join(path.read_text("utf-8") for path in MODULES)
    plain = set(re.findall(r'\b(?:t|nodes)\(\s*"([a-z_]+)"', code)) | set(
        re.findall(r'\b((?:column|keys|scenario|groups|error)_[a-z_]+)(?="|:)', code)
    )
    either = {key for pair in re.findall(r'\? "([a-z_]+)" : "([a-z_]+)"', code) for key in pair} & set(LANGUAGES["en"])
    families = {prefix + value for prefix, values in FAMILIES.items() for value in values}
    return plain | either | families | {"previous_row", "next_row", "set_of", "set_of_more", "foot_file"}


def test_there_are_three_languages():
    assert sorted(LANGUAGES) == ["de", "en", "es"]


@pytest.mark.parametrize("code", ["de", "es"])
def test_every_language_has_every_text_with_the_same_places(code):
    english = LANGUAGES["en"]
    assert set(LANGUAGES[code]) == set(english)
    places = {key: set(re.findall(r"\{\w+\}", text)) for key, text in english.items()}
    assert {key: set(re.findall(r"\{\w+\}", text)) for key, text in LANGUAGES[code].items()} == places
    assert all(text.strip() for text in LANGUAGES[code].values())


def _written() -> set[str]:
    """Names of the texts; the two forms of a counted one are one name."""
    names = set(LANGUAGES["en"])
    counted = {key.removesuffix("_other") for key in names if key.endswith("_other")}
    return {key for key in names if key.removesuffix("_one").removesuffix("_other") not in counted} | counted


def test_every_text_that_is_used_is_written_and_every_one_written_is_used():
    assert _used() - _written() == set()
    assert _written() - _used() == set()


def test_the_page_weighs_less_than_two_hundred_kilobytes():
    files = [path for path in PAGE.rglob("*") if path.suffix in {".js", ".css", ".json", ".html"}]
    assert len(files) > 20
    assert sum(path.stat().st_size for path in files) < 200_000


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_data_never_becomes_markup_or_code(path):
    code = path.read_text("utf-8")
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "DOMParser",
        "javascript:",
    ):
        assert word not in code


def test_no_address_of_another_host_is_in_the_files():
    for path in PAGE.rglob("*"):
        if path.is_file():
            found = set(re.findall(r"\b(?:https?|wss?)://[^\s\"'`]+", path.read_text("utf-8")))
            assert found <= {"http://www.w3.org/2000/svg"}, path.name
