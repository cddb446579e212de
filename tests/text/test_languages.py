"""Every language that comes with the package is complete."""

import math
import re
from dataclasses import replace
from string import Formatter

import pytest
import show_cases as cases

from sev.core import Status
from sev.exceptions import InputError
from sev.text import LANGUAGES, EnoughRange, Speaker, load_language


def _fields(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_has_every_text_and_no_other(code):
    assert load_language(code).keys() == load_language("en").keys()


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_text_uses_the_fields_of_the_english_one(code):
    for name, text in load_language("en").items():
        assert _fields(load_language(code)[name]) == _fields(text), name


#: Words that are the same in English.
SAME = {"de": {"report_backend_linear", "report_status", "status_optimal"}, "es": {"no_text", "status_error"}}


@pytest.mark.parametrize("code", SAME)
def test_a_text_is_translated(code):
    """Marks and texts that hold nothing but fields have no words to translate."""
    english = load_language("en")
    same = {name for name, text in load_language(code).items() if text == english[name]}
    assert {name for name in same if re.search("[A-Za-z]", re.sub(r"\{\w+\}", "", english[name]))} == SAME[code]


#: Ends that are no bound, or the ends of all values, are not told; names of values are, and what is missing.
RANGES = {
    "en": "Had age been between 20.46 and 30 years, income been 7, 8 or 9, debt been at most 4, "
    "rent been at least 300 EUR, grade been fair or good, purpose been 3 or one of 5 others, "
    "tax been between 0 and 50, phone been missing and rooms been {rooms}, with all else equal,",
    "de": "Wäre age 20,46 bis 30 years, income 7, 8 oder 9, debt höchstens 4, "
    "rent mindestens 300 EUR, grade fair oder good, purpose 3 oder einer von 5 anderen Werten, "
    "tax 0 bis 50, phone nicht angegeben und rooms {rooms} gewesen und sonst alles gleich,",
    "es": "Si age hubiera sido de entre 20,46 y 30 years, income hubiera sido 7, 8 o 9, "
    "debt hubiera sido de 4 como máximo, rent hubiera sido de al menos 300 EUR, grade hubiera sido fair o good, "
    "purpose hubiera sido 3 u otro de 5 valores, tax hubiera sido de entre 0 y 50, "
    "phone hubiera constado como «sin dato» y rooms hubiera sido {rooms}, con todo lo demás igual,",
}
WORDING = {
    "age": {"unit": "years"},
    "rent": {"unit": "EUR"},
    "rooms": {"digits": 0},
    "grade": {"values": {1: "poor", 2: "fair", 3: "good"}},
}
ENOUGH = {
    "age": EnoughRange(20.4567, 30.0),
    "income": [7, 8, 9],
    "debt": EnoughRange(-math.inf, 4.0),
    "rent": EnoughRange(300.0, 900.0),
    "grade": EnoughRange(1.5, 3.0),
    "purpose": [1, 2, 3, 4, 5, 6],
    "tax": EnoughRange(0.0, 50.0),
    "rooms": EnoughRange(0.001, 0.0012),
}
LIMITS = {"age": (18.0, 75.0), "rent": (100.0, 900.0), "tax": (0.0, 50.0)}


def _ranges_statement():
    names = ("age", "income", "debt", "rent", "grade", "purpose", "tax", "phone", "rooms")
    [one] = cases.made([(Status.OPTIMAL, [tuple(range(len(names)))])], names).statements()
    changed = {**dict.fromkeys(names, 3.0), "phone": None, "rooms": one.reference["rooms"]}
    return replace(one, reference=changed, enough=ENOUGH, limits=LIMITS, values="any", searched="all")


@pytest.mark.parametrize("code", LANGUAGES)
def test_ranges_are_told_within_what_is_enough(code):
    one = _ranges_statement()
    speaker = Speaker({name: (name,) for name in one.features}, WORDING, code)
    # no number with the digits of rooms lies in its range: the value itself is told
    wanted = RANGES[code].format(rooms=speaker.value("rooms", one.reference))
    assert wanted in speaker.sentence(one)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "at least 300 EUR (now 50 EUR)"),
        ("de", "mindestens 300 EUR (jetzt 50 EUR)"),
        ("es", "al menos 300 EUR (ahora 50 EUR)"),
    ],
)
def test_a_change_states_what_is_now(code, text):
    speaker = Speaker({"rent": ("rent",)}, {"rent": WORDING["rent"]}, code)
    assert speaker.change("rent", {"rent": 50.0}, {"rent": 300.0}, EnoughRange(300.0, 900.0), LIMITS) == text


def test_a_language_that_sets_a_phrase_sets_it_for_ranges_and_missing_values_too():
    one = replace(_ranges_statement(), features=("age", "phone"))
    speaker = Speaker({name: (name,) for name in one.features}, None, {"been": "{label} equal to {value}"})
    assert "Had age equal to between 20.46 and 30 and phone equal to missing," in speaker.sentence(one)


def test_categories_of_a_block_of_columns_are_listed_by_name():
    columns = {"home": ("home_own", "home_rent", "home_free")}
    [one] = cases.made([(Status.OPTIMAL, [(0,)])], ("home",)).statements()
    rows = [dict(zip(columns["home"], cells, strict=True)) for cells in ((0, 1, 0), (1, 0, 0))]
    speaker = Speaker(columns)
    told = replace(one, query=rows[0], reference=rows[1], enough={"home": [(1, 0, 0), (0, 0, 1)]}, values="any")
    assert 'Had home been "own" or "free"' in speaker.sentence(told)


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_no_permitted_value_undoes_is_told_apart_from_the_reference(code):
    [one] = cases.made([(Status.UNEXPLAINABLE, [])]).statements()
    speaker = Speaker({}, language=code)
    every, tried = (replace(one, values="any", searched=searched) for searched in ("all", "candidates"))
    assert speaker.sentence(every) != speaker.sentence(one)
    assert speaker.sentence(tried).endswith(speaker.text("candidates"))
    assert not speaker.sentence(tried).startswith(speaker.sentence(every))
    assert speaker.proof(every) == speaker.text("proof_unexplainable_changes")
    assert speaker.proof(tried) == speaker.text("proof_unexplainable_tried")


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_status_is_told_in_every_language(code):
    many = cases.made([(Status.OPTIMAL, [(0, 1)]), (Status.UNEXPLAINABLE, []), (Status.NOT_TARGET, [])])
    texts = many.to_text(language=code)
    assert len(set(texts)) == 3
    if code != "en":
        assert set(texts).isdisjoint(many.to_text())


def test_a_language_that_does_not_exist_is_named_with_those_that_do():
    with pytest.raises(InputError, match=r"no language 'fr'\. Use one of \['en', 'de', 'es'\]"):
        load_language("fr")
    with pytest.raises(InputError, match=r"file 'fr\.yaml' cannot be read"):
        load_language("fr.yaml")


@pytest.mark.parametrize(
    ("code", "number", "share"), [("en", "0.625", "12.5%"), ("de", "0,625", "12,5 %"), ("es", "0,625", "12,5 %")]
)
def test_numbers_have_the_marks_of_the_language(code, number, share):
    speaker = Speaker({}, language=code)
    assert speaker.number(0.625) == number
    assert speaker.percent(0.125, ".1f") == share


@pytest.mark.parametrize(
    ("code", "name", "text"),
    [
        ("en", "report_more_sets", "One more set of this size is not shown."),
        ("de", "report_more_sets", "Eine weitere Auswahl dieser Größe ist nicht gezeigt."),
        ("es", "report_more_sets", "No se muestra otro conjunto de este tamaño."),
        ("de", "feasible", "Eine kleinere Auswahl ist nicht ausgeschlossen: Mindestens ein Merkmal ist nötig."),
    ],
)
def test_one_thing_is_not_told_as_several(code, name, text):
    speaker = Speaker({}, language=code)
    assert speaker.text(name, n=speaker.count(1)) == text
    assert "2" in speaker.text(name, n=speaker.count(2))


def test_every_text_with_a_count_that_may_be_one_has_a_form_for_one():
    """These are about more than one thing whatever the count, or have a form of their own that is chosen elsewhere."""
    always_several = {"other_sets_many", "undecided_many", "price_many", "not_credible_many", "range_others"}
    always_several |= {"letter_other_sets_many", "letter_price_many", "report_rows_shown", "report_rows_among"}
    always_several |= {"report_page_of", *(f"letter_other_sets_many_{kind}" for kind in ("single", "plus"))}
    english = load_language("en")
    with_count = {name for name, text in english.items() if "{n}" in str(text)} - always_several
    assert {name for name in with_count if f"{name}_one" not in english} == set()


def test_a_language_that_sets_a_text_sets_it_for_one_thing_too():
    speaker = Speaker({}, language={"report_more_sets": "{n} left out"})
    assert speaker.text("report_more_sets", n=1) == "1 left out"


def test_every_field_of_a_text_may_be_used_in_a_language_of_ones_own():
    load_language(dict(load_language("en")))
