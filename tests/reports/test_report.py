import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest
import show_cases as cases

import sev
from sev.core import Status
from sev.exceptions import InputError
from sev.reports import _data, report
from sev.reports._overview import overview
from sev.reports._pages import page_of, representative_rows
from sev.reports._permitted import permitted_changes
from sev.text import Speaker


def _overview(many, about=None):
    speaker = Speaker(many.columns)
    return overview(many, many.to_text(), speaker, about)


class _Elements(HTMLParser):
    """Names of all elements and addresses of all that a page would load."""

    def __init__(self, text):
        super().__init__()
        self.names, self.loads, self.handlers = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        for name, value in attributes:
            if name in ("src", "href") and not (tag == "a" and value.startswith("#")):
                self.loads.append(value)
            if name.startswith("on"):
                self.handlers.append(name)


def _embedded(text):
    form, data = re.search(r'data-form="(\w+)">([^<]*)</script>', text).groups()
    return json.loads(data if form == "json" else gzip.decompress(b64decode(data)))


def test_the_page_holds_every_decision(tmp_path):
    many = cases.every_status()
    text = report(many, tmp_path / "r.html").read_text("utf-8")
    data = _embedded(text)
    assert data["text"] == many.to_text()
    assert [data["statuses"][code] for code in data["status"]] == many.statuses.tolist()
    assert data["size"] == [1, 2, 3, None, None, None, None]
    assert data["sets"][1] == [0, 1]


def test_hostile_names_values_and_titles_stay_text(tmp_path):
    hostile = "</script><img src=x onerror=alert(1)>"
    many = cases.made([(Status.OPTIMAL, [(0, 1, 6)])], cases.HOSTILE, target=hostile)
    many._queries.index = [hostile]
    text = report(many, tmp_path / "r.html", title=hostile, wording={cases.HOSTILE[1]: hostile}).read_text("utf-8")
    elements = _Elements(text)
    assert "img" not in elements.names
    assert elements.names.count("script") == 2
    assert elements.handlers == []
    assert _embedded(text)["features"] == [cases.HOSTILE[0], hostile, *cases.HOSTILE[2:]]


def test_the_page_loads_nothing(tmp_path):
    text = report(cases.every_status(), tmp_path / "r.html").read_text("utf-8")
    assert _Elements(text).loads == ["data:,"]
    assert "http://" not in text
    assert "https://" not in text
    assert "default-src 'none'" in text


def test_the_same_decisions_give_the_same_bytes(tmp_path):
    many = cases.loan_explainer().explain(cases.loans()[0][:50])
    assert report(many, tmp_path / "a").read_bytes() == report(many, tmp_path / "b").read_bytes()


def test_large_tables_are_packed_and_come_back(monkeypatch, tmp_path):
    monkeypatch.setattr(_data, "PLAIN_BELOW", 10)
    many = cases.every_status()
    text = report(many, tmp_path / "r.html").read_text("utf-8")
    assert 'data-form="gzip"' in text
    assert _embedded(text)["text"] == many.to_text()
    monkeypatch.setattr("time.time", lambda: 1e9)  # the hour is not part of the file
    assert report(many, tmp_path / "later.html").read_text("utf-8") == text


def test_overview_counts_what_has_no_reason():
    many = cases.every_status(restricted=("debt",))
    shown = _overview(many)
    assert dict(shown["cards"])["unexplainable"] == "1"
    assert dict(shown["cards"])["of the class being explained"] == "6"
    assert {bar["label"]: bar["number"] for bar in shown["sizes"]} == {
        "1": "1 (16.7%)",
        "2": "1 (16.7%)",
        "3": "1 (16.7%)",
        "unexplainable": "1 (16.7%)",
        "undecided": "1 (16.7%)",
        "error": "1 (16.7%)",
    }
    assert [line["status"] for line in shown["without"]] == ["unexplainable", "undecided", "error"]
    assert [bar["number"] for bar in shown["shares"]][-1] == "restricted"


def test_overview_of_nothing_explained(tmp_path):
    many = cases.made([(Status.NOT_TARGET, [])])
    assert dict(_overview(many)["cards"])["with a reason"] == "0"
    assert "Every decision" in report(many, tmp_path / "r.html").read_text("utf-8")


def test_overview_names_model_and_hashes():
    explainer = cases.loan_explainer()
    many = explainer.explain(cases.loans()[0][:5])
    facts = {label: value for label, value, _ in _overview(many, many.source.about())["facts"]}
    assert facts["Model"] == "Pipeline ending in LogisticRegression"
    assert facts["Background"] == "400 rows"
    assert len(facts["Hash of background"]) == 64


def test_explanations_from_a_file_can_be_reported(tmp_path):
    many = cases.loan_explainer().explain(cases.loans()[0][:40])
    stored = sev.Explanations.from_json(many.to_json())
    assert "were read from a file" in report(stored, tmp_path / "a.html").read_text("utf-8")
    text = report(stored, tmp_path / "b.html", explainer=cases.loan_explainer()).read_text("utf-8")
    assert "Pipeline ending in LogisticRegression" in text
    assert _embedded(text)["text"] == many.to_text()


def test_no_rows_and_labels_of_several_levels_are_fine(tmp_path):
    nothing = cases.made([])
    assert _embedded(report(nothing, tmp_path / "r.html").read_text("utf-8"))["id"] == []
    many = cases.every_status()
    many._queries.index = pd.MultiIndex.from_product([["north"], range(7)])
    data = _embedded(report(many, tmp_path / "r.html").read_text("utf-8"))
    assert data["id"][0] == "north, 0"


def test_chosen_decisions_have_pages(tmp_path):
    many = cases.every_status()
    text = report(many, tmp_path / "r.html", decisions=[1, -1]).read_text("utf-8")
    assert re.findall(r'id="decision-(\d+)"', text) == ["1", "6"]
    with pytest.raises(InputError, match="names row 7"):
        report(many, tmp_path / "r.html", decisions=[7])


def test_pages_show_what_changes():
    many = cases.every_status()
    page = page_of(many[1], 1, 1, Speaker(many.columns))
    assert page["sets"] == ["With the change (1)", "With the change (2)"]
    assert [(line["label"], line["cells"]) for line in page["lines"]] == [
        ("age", ["-1.50", ""]),
        ("income", ["-2.50", "-2.50"]),
        ("debt", ["", "-3.50"]),
    ]
    assert page["scores"]["threshold"] == 50.0
    assert [mark["at"] for mark in page["scores"]["marks"]] == [75.0, 25.0]


def test_a_page_says_nothing_twice():
    many = cases.every_status()
    one = replace(many[1], restricted=("age",), min_credibility=0.05, _compare=lambda: "equal")
    page = page_of(one, 1, 1, Speaker(many.columns))
    sentences = [*re.split(r"(?<=\.) ", page["proof"]), *re.split(r"(?<=\.) ", page["text"])]
    assert len(sentences) == len(set(sentences))
    assert f"{page['proof']} {page['text']}".count("may not be used") == 1
    assert f"{page['proof']} {page['text']}".count("less ordinary") == 1


def test_rows_that_differ_are_chosen():
    many = cases.made([(Status.OPTIMAL, [(0,)])] * 20 + [(Status.UNEXPLAINABLE, []), (Status.OPTIMAL, [(0, 1)])])
    assert representative_rows(many, 4) == [0, 1, 20, 21]
    assert representative_rows(cases.made([(Status.NOT_TARGET, [])]), 4) == []


def test_wording_and_language_reach_the_page(tmp_path):
    path = report(
        cases.every_status(),
        tmp_path / "r.html",
        wording={"age": {"label": "the age", "unit": "years"}},
        language={"predicted": "Refused"},
    )
    assert _embedded(path.read_text("utf-8"))["text"][0].startswith("Refused because the age is 0 years.")


def test_a_missing_folder_is_named_and_a_failure_leaves_no_file(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="does not exist: create it first"):
        report(cases.every_status(), tmp_path / "no" / "r.html")
    monkeypatch.setattr("os.replace", lambda *_, **__: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        report(cases.every_status(), tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_chosen_decisions_differ_in_their_features():
    same, other = (Status.OPTIMAL, [(0,)]), (Status.OPTIMAL, [(1,)])
    many = cases.made([same, same, same, other, same])
    assert representative_rows(many, 2) == [0, 3]


@pytest.mark.parametrize(("language", "heading"), [("de", "Alle Entscheidungen"), ("es", "Todas las decisiones")])
def test_the_whole_page_is_in_one_language(tmp_path, language, heading):
    many = cases.every_status()
    text = report(many, tmp_path / "r.html", language=language).read_text("utf-8")
    assert f'<html lang="{language}">' in text
    assert heading in text
    visible = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)
    for english in (
        "Overview",
        "All decisions",
        "Without a reason",
        "threshold",
        "Made by",
        "Feature<",
        "This decision",
    ):
        assert english not in visible


def test_numbers_of_a_german_report_have_commas(tmp_path):
    many = cases.made([(Status.OPTIMAL, [(0,), (1,), (2,)]), (Status.OPTIMAL, [(0, 1)]), (Status.UNEXPLAINABLE, [])])
    speaker = Speaker(many.columns, language="de")
    shown = overview(many, many.to_text(language="de"), speaker, None)
    assert dict(shown["cards"])["Merkmale im Mittel, wo es einen Grund gibt"] == "1,50"
    assert [bar["number"] for bar in shown["sizes"]] == ["1 (33,3 %)", "1 (33,3 %)", "1 (33,3 %)"]
    assert shown["without_note"].startswith("Eine zu erklärende Entscheidung hat")
    assert shown["without"][0]["score"] == "0,75"
    page = page_of(many[0], 0, 0, speaker)
    assert [mark["text"] for mark in page["scores"]["marks"]] == ["diese Entscheidung 0,75", "mit der Änderung 0,25"]
    assert "0.5" not in page["scores"]["words"]
    text = report(many, tmp_path / "r.html", language="de").read_text("utf-8")
    assert _embedded(text)["texts"]["decimal"] == ","


def test_facts_of_a_german_report_are_german():
    explainer = cases.loan_explainer()
    many = explainer.explain(cases.loans()[0][:5])
    facts = {
        label: value
        for label, value, _ in overview(
            many, [""] * 5, Speaker(many.columns, language="de"), {**many.source.about(), "backend": "trees"}
        )["facts"]
    }
    assert facts["Suche"] == "Entscheidungsbäume"
    assert len(facts["Prüfsumme: Hintergrund"]) == 64


def test_permitted_changes_are_told_with_the_names_of_the_labels():
    actions = sev.Actions(
        within={"debt": sev.between(0.5, 1200), "income": ("-20%", "+0%")}, allowed={"age": [20, 30.5]}
    ).to_plain()
    labels = {"debt": {"label": "the debt", "unit": "EUR"}, "age": {"values": {20: "twenty"}}}
    many = cases.made([(Status.OPTIMAL, [(0,)])])
    about = {"actions": actions}
    lines = dict(permitted_changes(many, about, Speaker(many.columns, labels, "de"))["permitted"])
    assert list(lines.values()) == ["the debt: 0,50 EUR bis 1200 EUR; income: -20%, +0%", "age: twenty, 30,50"]
