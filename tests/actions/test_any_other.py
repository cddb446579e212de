"""Where every category but the row's own does: the words say so, wherever the answer is shown."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sev
from sev.text import LANGUAGES, Speaker, enough_in_text, menu_table

TEXTS = {
    "en": ("Had town been any other value,", 'any other value (now "a")'),
    "de": ("Wäre town irgendein anderer Wert gewesen", "irgendein anderer Wert (jetzt „a“)"),
    "es": ("Si town hubiera sido cualquier otro valor,", "cualquier otro valor (ahora «a»)"),
}


def explainer_of(towns="abcde", actions=None, labels=None):
    """Rows of the first town are positive, all others negative."""
    rows = pd.DataFrame({"town": list(towns) * 40, "debt": np.tile(np.arange(len(towns) * 4.0), 10)})
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough"), LogisticRegression(C=100.0)
    ).fit(rows, rows["town"] == towns[0])
    return sev.Explainer(model, rows, rows["town"] == towns[0], actions=actions, labels=labels), rows.iloc[0]


@pytest.mark.parametrize("code", LANGUAGES)
def test_any_other_category_is_told_as_such(code):
    explainer, row = explainer_of(labels=sev.Labels(language=code))
    one = explainer.explain_one(row, values="any")
    assert one.enough == {"town": ("b", "c", "d", "e")}
    assert one.enough["town"].is_any_other
    sentence, change = TEXTS[code]
    assert sentence in one.to_text()
    menu = explainer.menu(row, max_size=1)
    assert menu_table(menu, explainer.labels).set_index("features").loc["town", "changes"] == change
    speaker = Speaker({"town": ("town",)}, labels=explainer.labels)
    assert speaker.change("town", row, one.result, enough_in_text(one.enough["town"])) == change


def test_the_words_survive_a_file_and_another_process(tmp_path):
    explainer, row = explainer_of()
    many = explainer.explain(row.to_frame().T.infer_objects(), values="any")
    path = tmp_path / "answers.json"
    many.to_json(path)
    for again in (sev.Explanations.from_json(path)[0], pickle.loads(pickle.dumps(many))[0]):
        assert again.to_text() == many[0].to_text()
        assert "any other value" in again.to_text()
    assert many[0].to_dict()["changes"]["town"]["enough"] == {"values": ["b", "c", "d", "e"], "any_other": True}


@pytest.mark.parametrize(
    ("towns", "actions"),
    [
        ("abc", None),  # two others are shorter by name
        ("abcde", sev.Actions(allowed={"town": ["b", "c", "d"]})),  # what is not permitted was not searched
    ],
)
def test_some_categories_are_told_by_name(towns, actions):
    explainer, row = explainer_of(towns, actions)
    text = explainer.explain_one(row, values="any").to_text()
    assert "any other" not in text
    assert 'been "b"' in text


def test_listed_numbers_are_told_by_name():
    rows = pd.DataFrame({"grade": [1, 2, 3, 4, 5] * 40})
    labels = rows["grade"] == 1
    actions = sev.Actions(allowed={"grade": [2, 3, 4, 5]})
    explainer = sev.Explainer(LogisticRegression(C=1e4).fit(rows, labels), rows, labels, actions=actions)
    one = explainer.explain_one(rows.iloc[0], values="any")
    assert one.enough == {"grade": (2.0, 3.0, 4.0, 5.0)}
    assert "2, 3, 4 or 5" in one.to_text()
