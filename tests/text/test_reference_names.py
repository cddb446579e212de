"""What a row is compared with is told in the language and the names of the labels."""

import numpy as np
import pandas as pd
import pytest
from foreign_words import english_left
from sklearn.linear_model import LogisticRegression

import sev
from sev.text import LANGUAGES, Labels, Speaker, reference_name
from sev.text._reference_names import tell_reference

FIELDS = {"first": "1.5", "last": "30", "share": "40%", "value": "1", "label": "income"}
TOLD = {
    "group": ("Gruppe 1 von 3 (40 % der anderen Klasse)", "grupo 1 de 3 (40 % de la otra clase)"),
    "row": ("Zeile 1", "fila 1"),
    "all": ("alle Zeilen", "todas las filas"),
    "missing": ("das Einkommen nicht angegeben", "das Einkommen sin dato"),
    "at_most": ("das Einkommen höchstens 30", "das Einkommen 30 como máximo"),
    "between": ("das Einkommen über 1,5 bis 30", "das Einkommen más de 1,5 hasta 30"),
    "above": ("das Einkommen über 1,5", "das Einkommen más de 1,5"),
    "equal": ("das Einkommen eins", "das Einkommen eins"),
}


def told(name, language=None, **features):
    labels = Labels(features=features, language=language)
    speaker = Speaker({"income": ("income",), "a, b": ("a, b",)}, labels=labels)
    return tell_reference(name, speaker, labels.wording(speaker.features))


def english_name(about):
    fields = FIELDS | ({"first": 1, "last": 3} if about == "group" else {})
    return reference_name(about, **fields)


def test_every_name_of_the_language_is_tried():
    from sev.text import load_language

    assert {f"reference_{about}" for about in TOLD} == {
        name for name in load_language("en") if name.startswith("reference_")
    }


@pytest.mark.parametrize("about", TOLD)
def test_a_name_is_told_in_each_language(about):
    name = english_name(about)
    assert told(name) == name
    named = {"label": "das Einkommen", "values": {1: "eins"}}
    assert (told(name, "de", income=named), told(name, "es", income=named)) == TOLD[about]


@pytest.mark.parametrize(
    ("name", "german"),
    [
        (
            "income at most 2.5, group 2 of 3 (7% of the other class)",
            "income höchstens 2,5, Gruppe 2 von 3 (7 % der anderen Klasse)",
        ),
        ("a, b above 1e+06, row x, y", "a, b über 1e+06, Zeile x, y"),
        ("all rows, row 7", "alle Zeilen, Zeile 7"),
        ("what a reference of my own calls it", "what a reference of my own calls it"),
    ],
)
def test_names_of_two_parts_and_names_of_others(name, german):
    assert told(name, "de") == german
    assert told(name) == name


@pytest.mark.parametrize("code", [one for one in LANGUAGES if one != "en"])
@pytest.mark.parametrize(
    "reference",
    [
        sev.references.Clusters(3),
        sev.references.By("γ"),
        sev.references.By("α"),
        sev.references.By("γ", sev.references.Nearest(k=2)),
    ],
    ids=["clusters", "by category", "by number", "by category, nearest"],
)
def test_sentences_about_references_have_no_english(reference, code):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"α": rng.normal(size=200).round(2), "β": rng.normal(size=200).round(2)})
    rows["γ"] = rng.choice([0.0, 1.0, 2.0], 200)
    labels = (rows.sum(axis=1) > 1).astype(int)
    explainer = sev.Explainer(
        LogisticRegression().fit(rows, labels), rows, labels, reference=reference, labels=sev.Labels(language=code)
    )
    many = explainer.explain(rows)
    assert any(many.compared_with)
    text = "\n".join(many.to_text())
    assert {"de": "Verglichen mit", "es": "Comparado con"}[code] in text
    assert english_left(text, code) == []
    assert "row " not in text
    assert "group" not in text
