import pytest
import show_cases as cases

from sev.core import Status
from sev.exceptions import InputError, UnknownFeatureError
from sev.text import block_value, format_value

GERMAN = """\
decimal: ","
thousands: "."
missing: unbekannt
list_and: " und "
predicted: "Abgelehnt (Score {score})"
otherwise: "wäre der Antrag angenommen worden"
is: "{label} {value} ist"
been: "{label} {value}"
minus: "{predicted}, weil {reasons}. Mit {changes} {otherwise}."
other_sets_one: "Es gibt einen weiteren Grund dieser Größe."
"""


def test_each_status_has_its_sentence():
    sentences = cases.every_status(restricted=("debt",)).to_text()
    assert sentences == [
        "Predicted 'bad' (score 0.75, at least 0.5) because age is 0. Had age been -1.50, with all else equal, the "
        "prediction would not have been 'bad'.",
        "Predicted 'bad' (score 0.75, at least 0.5) because age is 1 and income is 11. Had age been -1.50 and income "
        "been -2.50, with all else equal, the prediction would not have been 'bad'. There is one other set of "
        "the same size that does the same.",
        "Predicted 'bad' (score 0.75, at least 0.5) because age is 2, income is 12 and debt is 22. Had age been -1.50, "
        "income been -2.50 and debt been -3.50, with all else equal, the prediction would not have been 'bad'. A "
        "smaller set was not ruled out: at least 3 are needed.",
        "Predicted 'bad' (score 0.75, at least 0.5); no change of features to the values of the reference undoes "
        "that without using debt.",
        "Predicted 'bad' (score 0.75, at least 0.5); the search stopped before it found a reason, which takes at least "
        "one feature.",
        "Not predicted 'bad' (score 0.25, below 0.5): there is nothing to explain.",
        "No explanation: the model raised.",
    ]


def test_plus_has_its_own_sentences():
    rows = [(Status.OPTIMAL, [(2,)]), (Status.OPTIMAL, [()])]
    one, nothing = cases.made(rows, kind="plus").to_text()
    assert one == (
        "Predicted 'bad' (score 0.75, at least 0.5) because debt is 20: this alone, with all else as in the "
        "reference, is enough."
    )
    assert "no feature of this row is needed" in nothing


def test_a_list_that_was_cut_short_says_at_least():
    many = cases.made([(Status.OPTIMAL, [(0,), (1,), (2,)])], complete=False)
    assert many.to_text()[0].endswith("There are at least 2 other sets of the same size that do the same.")


def test_a_batch_says_what_each_explanation_says():
    explainer = cases.loan_explainer()
    many = explainer.explain(cases.loans()[0][:60])
    wording = {"amount": {"label": "the amount", "unit": "EUR", "digits": 0}}
    assert many.to_text(wording=wording) == [one.to_text(wording=wording) for one in many]
    assert any("the amount is" in text and "EUR" in text for text in many.to_text(wording=wording))


def test_wording_gives_the_sentence_a_customer_understands():
    many = cases.made([(Status.OPTIMAL, [(0,)])], ("checking", "age"))
    text = many[0].to_text(
        wording={
            "checking": {
                "label": "the checking account",
                "values": {0: "empty"},
                "been": {-1.5: "there been no checking account"},
            }
        },
        language={"predicted": {"bad": "Refused"}, "otherwise": "the application would have passed"},
    )
    assert text == (
        "Refused because the checking account is empty. Had there been no checking account, with all else equal, the "
        "application would have passed."
    )


def test_a_language_file_changes_sentences_numbers_and_joins(tmp_path):
    path = tmp_path / "german.yaml"
    path.write_text(GERMAN, encoding="utf-8")
    one = cases.every_status()[1]
    assert one.to_text(language=path) == (
        "Abgelehnt (Score 0,75), weil age 1 ist und income 11 ist. Mit age -1,50 und income -2,50 wäre der Antrag "
        "angenommen worden. Es gibt einen weiteren Grund dieser Größe."
    )
    assert format_value(1234567.5, decimal=",", thousands=".") == "1,23e+06"
    assert format_value(12345.5, decimal=",", thousands=".") == "12.345,50"


def test_wording_may_be_a_file_too(tmp_path):
    path = tmp_path / "words.yaml"
    path.write_text("age: {label: the age, unit: years}\n", encoding="utf-8")
    assert "the age is 0 years" in cases.every_status()[0].to_text(wording=path)


def test_a_text_may_be_left_out():
    texts = {"other_sets_one": "", "predicted": "Refused", "otherwise": "it would have passed"}
    assert cases.every_status()[1].to_text(language=texts).endswith("it would have passed.")


@pytest.mark.parametrize("name", cases.HOSTILE)
def test_hostile_names_stay_as_they_are(name):
    many = cases.made([(Status.OPTIMAL, [(0,)])], (name, "age"))
    assert f"because {name} is 0." in many.to_text()[0]
    assert f"because {name} is 0." in many.to_text(wording={name: name})[0]


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ({"predictd": "x"}, "did you mean 'predicted'"),
        ({"minus": "{nobody}"}, "cannot be filled in"),
        ({"minus": "{"}, "cannot be filled in"),
        ({"minus": 3}, "expected text"),
        ("no-such-file.yaml", "cannot be read"),
    ],
)
def test_a_wrong_language_is_refused(language, message):
    with pytest.raises(InputError, match=message):
        cases.every_status()[0].to_text(language=language)


@pytest.mark.parametrize(
    ("wording", "error", "message"),
    [
        ({"agee": "x"}, UnknownFeatureError, "did you mean 'age'"),
        ({"age": {"lable": "x"}}, InputError, "did you mean 'label'"),
        ({"age": {"is": "{nobody}"}}, InputError, "cannot be filled in"),
        ({"age": 3}, InputError, "give a name"),
    ],
)
def test_wrong_wording_is_refused(wording, error, message):
    with pytest.raises(error, match=message):
        cases.every_status()[0].to_text(wording=wording)


@pytest.mark.parametrize(
    ("text", "message"), [("- a\n- b\n", "holds list"), ("a: {", "not YAML"), ("a: b\na: c\n", "twice")]
)
def test_a_file_that_is_no_map_is_refused(tmp_path, text, message):
    path = tmp_path / "words.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        cases.every_status()[0].to_text(wording=path)


def test_values_are_written_for_people():
    assert [format_value(v) for v in (None, True, 3.0, 0.5, 1e-9, 20000)] == [
        *("missing", "yes", "3", "0.50", "1e-09", "20,000")
    ]
    assert block_value("colour", {"colour_red": 0, "colour_blue": 1}, ("colour_red", "colour_blue")) == "blue"
    assert block_value("x", {"a": 1, "b": 1}, ("a", "b")) == "(a 1, b 1)"
