"""What the page says: once, in the reader's language, and where it can be read."""

import base64
import json

import pytest
from page_driver import Page, loan_rows, pipeline, served
from sklearn.linear_model import LogisticRegression

import sev


@pytest.fixture(scope="module")
def table():
    return loan_rows(300, seed=1)[0]


@pytest.fixture(scope="module")
def many(loan_files, table):
    return sev.load(loan_files / "loans.sev").explain(table)


@pytest.fixture
def show(page):
    """A function that opens the page in a state."""

    def open_state(**state):
        text = base64.urlsafe_b64encode(json.dumps({"view": "one", **state}).encode()).decode().rstrip("=")
        page.open(f"#s={text}")
        page.settled()
        return page

    return open_state


def test_why_the_model_failed_is_told_once_and_is_no_decision(show, many):
    row = int(many.sizes.argmax())
    page = show(row=row, edits={"duration": None})
    assert page.answer()["status"] == "error"
    assert page.run("return document.querySelector('.answer').textContent").count(page.answer()["reason"][:60]) == 1
    assert page.text(".verdict strong") == "No decision"
    colours = page.run(
        "return ['.verdict strong', '.sentence'].map(name => getComputedStyle(document.querySelector(name)).color)"
    )
    assert colours[0] == colours[1]  # the colour of a decision would say which


@pytest.mark.parametrize("code", ["en", "de", "es"])
def test_a_badge_that_says_proven_is_not_followed_by_the_word(show, many, table, code):
    row = next(number for number, size in enumerate(many.sizes) if size >= 1)
    page = show(row=row, limits={name: {"frozen": True} for name in table})
    page.choose(".top .tools select", code)
    page.wait(lambda: page.run("return document.documentElement.lang") == code, "the language")
    page.settled()
    badge, proof = page.text(".proof .badge"), page.text(".proof span:last-child")
    word = {"en": "proven", "de": "bewiesen", "es": "demostrado"}[code]
    assert page.answer()["certainty"] == "none_proven"
    assert (badge + proof).lower().count(word) == 1


def test_which_change_comes_first_is_asked_where_there_are_several(show, many):
    several = next(row for row, one in enumerate(many) if len(one.sets or ()) >= 2)
    alone = next(row for row, one in enumerate(many) if len(one.sets or ()) == 1)
    visible = "return getComputedStyle(document.querySelector('.pager .first')).visibility"
    page = show(row=several)
    assert (page.run(visible), page.text(".pager .first").split("\n")[0]) == ("visible", "First those with")
    assert show(row=alone).run(visible) == "hidden"


def test_the_list_says_what_its_number_counts(show, many):
    row = next(number for number, size in enumerate(many.sizes) if size >= 2)
    page = show(row=row)
    page.wait(lambda: page.text(".option[aria-selected=true] .what").startswith("2 changes: "), "the list")


def test_a_score_just_below_the_threshold_is_not_crossed_by_its_line(show, many):
    def share(one):
        """How far below the threshold the last score is, of the way from the first."""
        return (one.threshold - one.result_score) / (one.score - one.result_score)

    row = min((row for row, one in enumerate(many) if one.size == 1), key=lambda row: abs(share(many[row]) - 0.13))
    page = show(row=row)
    page.wait(lambda: page.run("return document.querySelectorAll('.chart .value').length") >= 2, "the picture")
    boxes = page.run(
        "const chart = document.querySelector('.chart');"
        "const line = Number(chart.querySelector('.threshold').getAttribute('y1'));"
        "const boxes = [...chart.querySelectorAll('.value')].map(one => one.getBBox());"
        "return boxes.map(box => [box.y - line, box.y + box.height - line])"
    )
    assert all(top > 0 or bottom < 0 for top, bottom in boxes)


def test_groups_are_named_in_the_language_of_the_page(page, table):
    page.open("#s=" + base64.urlsafe_b64encode(json.dumps({"view": "groups", "by": "amount"}).encode()).decode())
    page.wait(lambda: page.run("return document.querySelectorAll('.groups tbody tr').length") > 1, "the groups")
    page.choose(".top .tools select", "de")
    page.wait(lambda: "Zeilen" in page.text(".groups [role=status]"), "the language")
    page.wait(lambda: page.run("return document.querySelectorAll('.groups tbody tr').length") > 1, "the groups")
    names = page.run("return [...document.querySelectorAll('.groups tbody th')].map(one => one.innerText)")
    highest = f"{table['amount'].max():,.0f}".replace(",", ".")
    assert "." in highest
    assert names[-1].endswith(highest)


def test_a_class_that_is_a_number_and_columns_without_labels_are_shown_as_what_they_are(browser, tmp_path):
    rows, labels = loan_rows()
    model = pipeline(LogisticRegression(max_iter=1000)).fit(rows, labels)
    sev.Explainer(model, rows, labels).save(tmp_path / "plain.sev")
    rows.iloc[labels == 1][:50].to_csv(tmp_path / "rows.csv", index=False)
    with served(tmp_path / "plain.sev", "--data", tmp_path / "rows.csv") as address:
        page = Page(browser, address)
        page.open()
        page.settled()
        assert page.text(".verdict strong") == "Predicted 1"
        assert page.text(".facts li").strip().startswith("then predicted 0, ")
        assert page.text(".changes tbody th") == page.answer()["sets"][0]["features"][0]
