"""Letters to the people concerned have no words of those who look after the model, in any language."""

from dataclasses import replace

import pytest
import show_cases as cases

from sev import Labels
from sev.core import Status
from sev.text import LANGUAGES, Speaker

WORDS_OF_MODELS = {"en": ("score", " set"), "de": ("Wert ", "Auswahl"), "es": ("puntuaci", "conjunto")}
LABELS = {code: Labels(classes={"bad": "refused", "good": "approved"}, language=code) for code in LANGUAGES}


def statements():
    """Every kind of sentence that a notice may hold."""
    [one] = cases.made([(Status.OPTIMAL, [(0, 1), (0, 2), (1, 2)])]).statements()
    yield one
    yield replace(one, n_sets=2)
    yield replace(one, n_sets=2, sets_complete=False)
    yield replace(one, status=Status.FEASIBLE)
    yield replace(one, status=Status.FEASIBLE, minimise="cost")
    yield replace(one, highest="probability", other="good")
    yield replace(one, min_credibility=0.05, size_without_limit=1)
    for what in ("smaller", "equal", "only"):
        yield replace(one, not_permitted=what, restricted=("age",))
    for searched in ("all", "candidates"):
        for minimise in ("features", "cost"):
            yield replace(one, values="any", searched=searched, minimise=minimise, has_actions=True)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("code", LANGUAGES)
def test_letters_have_no_words_of_models(code, named):
    labels = LABELS[code] if named else Labels(language=code)
    columns = {name: (name,) for name in ("age", "income", "debt")}
    plain, letters = (Speaker(columns, labels=labels, letters=letters) for letters in (False, True))
    for statement in statements():
        for told in (letters.sentence(statement), letters.proof(statement)):
            assert not [word for word in WORDS_OF_MODELS[code] if word in told], told
            assert "  " not in told
        assert any(word in plain.sentence(statement) for word in WORDS_OF_MODELS[code])


ONE_CHANGE = {
    "en": ("One other change would have led", "Each of 2 other changes", "A change of something that may not be"),
    "de": ("Eine andere Änderung hätte", "Jede von 2 anderen Änderungen", "Auch eine Änderung bei Angaben"),
    "es": ("Otro cambio habría llevado", "Cualquiera de otros 2 cambios", "También habría bastado un cambio"),
}
SEVERAL_CHANGES = {
    "en": ("fewer", "changes"),
    "de": ("weniger", "vieler Änderungen"),
    "es": ("menos cambios", "mismo número de cambios"),
}


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_letter_about_one_change_does_not_compare_it_with_fewer(code):
    [one] = cases.made([(Status.OPTIMAL, [(0,)])]).statements()
    letters = Speaker({name: (name,) for name in ("age", "income", "debt")}, labels=LABELS[code], letters=True)
    for statement in (one, replace(one, values="any", searched="candidates", has_actions=True)):
        assert letters.proof(statement, beside_sentence=True) == ""
    told = (
        letters.sentence(replace(one, n_sets=2)),
        letters.sentence(replace(one, n_sets=3)),
        letters.sentence(replace(one, not_permitted="equal", restricted=("debt",))),
    )
    for text, part in zip(told, ONE_CHANGE[code], strict=True):
        assert part in text
    several = letters.sentence(replace(one, n_sets=2, sets_complete=False))
    assert not [part for part in SEVERAL_CHANGES[code] if part in several]
    two = replace(one, features=("age", "income"))
    assert SEVERAL_CHANGES[code][0] in letters.proof(two, beside_sentence=True).lower()


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_letter_about_what_is_enough_speaks_of_no_changes(code):
    [one] = cases.made([(Status.OPTIMAL, [(0, 1)])], kind="plus").statements()
    letters = Speaker({name: (name,) for name in ("age", "income", "debt")}, labels=LABELS[code], letters=True)
    for statement in (
        one,
        replace(one, n_sets=2),
        replace(one, n_sets=3, sets_complete=False),
        replace(one, status=Status.FEASIBLE),
        *(replace(one, not_permitted=what, restricted=("debt",)) for what in ("smaller", "equal", "only")),
    ):
        told = f"{letters.sentence(statement)} {letters.proof(statement)}"
        assert not [word for word in ("change", "Änderung", "cambio") if word in told], told


def test_a_letter_text_that_a_user_sets_is_used_for_one_change_too():
    [one] = cases.made([(Status.OPTIMAL, [(0,)])]).statements()
    columns = {name: (name,) for name in ("age", "income", "debt")}
    own = {"letter_proof_optimal": "This was checked."}
    assert Speaker(columns, language=own, letters=True).proof(one, beside_sentence=True) == "This was checked."


def test_a_text_that_a_user_sets_is_used_in_letters_too():
    [one] = cases.made([(Status.OPTIMAL, [(0,)])]).statements()
    columns = {name: (name,) for name in ("age", "income", "debt")}
    own = {"predicted": "We had to say no"}
    assert Speaker(columns, language=own, letters=True).sentence(one).startswith("We had to say no because")
    both = {**own, "letter_predicted": "Dear applicant, we had to say no"}
    assert Speaker(columns, language=both, letters=True).sentence(one).startswith("Dear applicant")
    assert Speaker(columns, language=both).sentence(one).startswith("We had")


def test_a_proof_beside_a_sentence_does_not_repeat_it():
    [one] = cases.made([(Status.OPTIMAL, [(0,)])]).statements()
    one = replace(one, not_permitted="equal", restricted=("age",), min_credibility=0.05)
    speaker = Speaker({name: (name,) for name in ("age", "income", "debt")})
    assert "may not be used" in speaker.proof(one)
    beside = speaker.proof(one, beside_sentence=True)
    assert beside == "Proven: no smaller set of the permitted features does this."


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_proof_beside_a_sentence_is_empty_where_the_sentence_says_it(code):
    letters = Speaker({name: (name,) for name in ("age", "income", "debt")}, language=code, letters=True)
    statements = {one.status: one for one in cases.every_status().statements()}
    told = {status: letters.proof(one, beside_sentence=True) for status, one in statements.items()}
    assert {status for status, text in told.items() if text} == {Status.OPTIMAL, Status.UNEXPLAINABLE}
    tried = replace(statements[Status.UNEXPLAINABLE], values="any", searched="candidates")
    assert letters.proof(tried, beside_sentence=True) == ""
    assert all(letters.proof(one) for one in statements.values())


#: The German verb is the same for one name and for several.
WHAT_STAYS = {
    "en": "without using {names}.",
    "de": "solange Folgendes unverändert bleibt: {names}.",
    "es": "sin cambiar {names}.",
}


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_has_to_stay_may_be_one_or_several(code):
    [one] = cases.made([(Status.UNEXPLAINABLE, [])]).statements()
    speaker = Speaker({name: (name,) for name in ("age", "income", "debt")}, labels=LABELS[code], letters=True)
    for restricted in (("debt",), ("debt", "age")):
        names = speaker.join(list(restricted), "list_and")
        told = speaker.sentence(replace(one, has_actions=True, values="any", restricted=restricted))
        assert WHAT_STAYS[code].format(names=names) in told
