"""Every language that comes with the package is complete."""

from string import Formatter

import pytest
import show_cases as cases

from sev.core import Status
from sev.text import LANGUAGES, load_language


def _fields(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_has_every_text_and_no_other(code):
    assert load_language(code).keys() == load_language("en").keys()


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_text_uses_the_fields_of_the_english_one(code):
    for name, text in load_language("en").items():
        assert _fields(load_language(code)[name]) == _fields(text), name


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_status_is_told_in_every_language(code):
    many = cases.made([(Status.OPTIMAL, [(0, 1)]), (Status.UNEXPLAINABLE, []), (Status.NOT_TARGET, [])])
    texts = many.to_text(language=code)
    assert len(set(texts)) == 3
    if code != "en":
        assert set(texts).isdisjoint(many.to_text())
