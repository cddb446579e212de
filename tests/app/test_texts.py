"""Texts of the interface: their language, and what the proof says beside the sentence."""

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.app import Service, Table


def post(client, path, **body):
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def phrases_of(labels):
    """The parts of sentences that labels hold."""
    found = [one.get("been") for one in labels.features.values() if isinstance(one, dict)]
    return [text for one in found if one for text in (one.values() if isinstance(one, dict) else [one])]


def test_sentences_come_in_the_language_of_the_request_and_names_stay(client, loans, refused):
    explainer, _ = loans
    phrases = phrases_of(explainer.labels)
    answers = {row: post(client, "explain", row=row) for row in refused}
    row, own = next((row, one) for row, one in answers.items() if any(text in one["sentence"] for text in phrases))
    german = post(client, "explain", row=row, language="de")
    assert (own["language"], german["language"]) == ("en", "de")
    assert [one["features"] for one in german["sets"]] == [one["features"] for one in own["sets"]]
    assert german["sentence"].startswith("Refused (Wert 0,")
    assert german["sets"][0]["sentence"] == german["sentence"]
    assert german["proof"].startswith("Bewiesen")
    assert german["sets"][0]["changes"][0]["label"] == own["sets"][0]["changes"][0]["label"]
    assert not any(text in german["sentence"] for text in phrases)  # parts of English sentences
    assert post(client, "explain", row=row)["sentence"] == own["sentence"]
    assert client.post("/api/explain", json={"row": row, "language": "xx"}).status_code == 422


def test_letters_and_curves_come_in_the_language_of_the_request(client, refused):
    letter = post(client, "reasons", row=refused[0], language="es")
    assert letter["language"] == "es"
    assert letter["sentence"] != post(client, "reasons", row=refused[0])["sentence"]
    points = post(client, "curve", row=refused[0], feature="credit_amount", language="de")["points"]
    assert any("." in one["label"] and one["value"] >= 10_000 for one in points)


def test_texts_of_the_explainers_own_stay_in_every_language(connect):
    X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    y = [0, 0, 0, 1, 1, 1]
    labels = sev.Labels(language={"proof_optimal": "Checked by the bank."})
    explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y, labels=labels)
    client = connect(Service([("loans", explainer)], Table.of_frame(X)))
    answers = [post(client, "explain", row=4, language=code) for code in (None, "de", "es")]
    assert {one["proof"] for one in answers} == {"Checked by the bank."}
    assert len({one["sentence"] for one in answers}) == 1


def test_the_proof_is_complete_and_beside_the_sentence_it_repeats_nothing(client, refused):
    seen = set()
    for row in refused:
        answer = post(client, "explain", row=row)
        repeated = [part for part in answer["proof"].split(". ") if part.rstrip(".") in answer["sentence"]]
        assert bool(repeated) == (answer["not_permitted"] != "none")
        assert answer["proof_beside_sentence"]
        assert answer["proof"].startswith(answer["proof_beside_sentence"])
        assert not any(part.rstrip(".") in answer["proof_beside_sentence"] for part in repeated)
        seen.add(bool(repeated))
    assert seen == {True, False}


@pytest.mark.parametrize("own", [None, "de"])
def test_a_file_speaks_the_language_of_the_page_and_its_letter_the_one_in_which_it_goes_out(client, refused, own):
    scenarios = [{"name": "As it is", "request": {"row": refused[0], "language": own}}]
    [one] = post(client, "scenarios", format="json", language="es", scenarios=scenarios)["scenarios"]
    assert one["explain"]["language"] == (own or "es")
    assert one["reasons"]["language"] == (own or "en")
    assert one["request"]["language"] == own


@pytest.mark.parametrize("named", [True, False])
def test_the_nearest_person_has_the_name_that_the_list_shows(loans, refused, connect, named):
    explainer, applicants = loans
    client = connect(Service([("loans", explainer)], Table.of_frame(applicants, "applicant" if named else None)))
    columns = list(explainer.feature_names)
    for language, word in ((None, "row"), ("de", "Zeile"), ("es", "fila")):
        answer = post(client, "explain", row=refused[0], reference={"key": "nearest"}, language=language)
        cells = pd.Series(answer["reference"]["row"])[columns]
        [place] = [row for row in range(len(applicants)) if (applicants[columns].iloc[row] == cells).all()]
        shown = applicants["applicant"].iloc[place] if named else place + 1
        assert f" {word} {shown}." in answer["sentence"]


def test_a_cluster_is_named_in_the_language(client, refused):
    german = post(client, "explain", row=refused[0], reference={"key": "cluster"}, language="de")["sentence"]
    english = post(client, "explain", row=refused[0], reference={"key": "cluster"})["sentence"]
    assert "% of the other class" in english
    assert "\N{NO-BREAK SPACE}% der anderen Klasse" in german or " % der anderen Klasse" in german


def test_every_set_has_a_sentence_of_its_own(client, loans, refused):
    explainer, _ = loans
    answers = (post(client, "explain", row=row) for row in refused)
    answer = next(one for one in answers if len(one["sets"]) > 2)
    one = explainer.explain_one(pd.Series(answer["row"])[list(explainer.feature_names)])
    said = {frozenset(some.explanation.features): some.explanation.to_text() for some in one.alternatives(50)}
    assert {frozenset(some["features"]): some["sentence"] for some in answer["sets"]} == said
    assert len(set(said.values())) == len(said)
    assert answer["sentence"] == answer["sets"][0]["sentence"]
