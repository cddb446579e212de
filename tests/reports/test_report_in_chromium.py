"""The report as a person meets it: opened from disk, searched, sorted, paged, printed."""

import base64

import pytest
import show_cases as cases
from browser import chromium, open_page, requests, wait_for

from sev.core import Status
from sev.reports import _data, report
from sev.text import LANGUAGES

STATUS = "return document.getElementById('table-status').textContent"
ROWS = "return [...document.querySelectorAll('#decisions-body tr')].map(line => Number(line.dataset.row))"
CELLS = "return [...document.querySelectorAll('#decisions-body tr')].map(line => line.cells[arguments[0]].textContent)"


@pytest.fixture(scope="module")
def driver():
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def many():
    return cases.loan_explainer().explain(cases.loans()[0][:300], restricted=["amount", "months"])


@pytest.fixture
def page(driver, many, tmp_path):
    open_page(driver, report(many, tmp_path / "report.html"))
    return driver


def _search(driver, words):
    box = driver.find_element("id", "search")
    box.clear()
    box.send_keys(words)


def test_it_opens_without_an_error_or_a_request(page, tmp_path):
    assert page.get_log("browser") == []
    assert [url for url in requests(page) if not url.startswith(("file:", "data:"))] == []
    assert page.execute_script(STATUS) == "Rows 1 to 50 of 300"


def test_it_can_be_searched(page, many):
    _search(page, "optimal income")
    expected = [row for row, one in enumerate(many) if one.status == "optimal" and "income" in one.to_text()]
    wait_for(page, STATUS, f"Rows 1 to {min(50, len(expected))} of {len(expected)} found among 300")
    assert page.execute_script(ROWS) == expected[:50]
    _search(page, "nothing like this")
    wait_for(page, STATUS, "No decision matches.")


def test_it_can_be_narrowed_to_a_status(page, many):
    page.execute_script(
        "const only = document.getElementById('only'); only.value = 'unexplainable';"
        "only.dispatchEvent(new Event('change'))"
    )
    expected = [row for row, status in enumerate(many.statuses) if status == "unexplainable"]
    assert expected
    assert page.execute_script(ROWS) == expected[:50]


@pytest.mark.parametrize(("column", "values"), [("score", "scores"), ("size", "sizes")])
def test_it_can_be_sorted_both_ways_with_missing_values_last(page, many, column, values):
    head = page.find_element("css selector", f"#decisions-table th.{column} button")
    numbers = [float(f"{value:.4g}") for value in getattr(many, values).tolist()]
    known = [row for row, value in enumerate(numbers) if value == value]
    head.click()
    assert page.execute_script(ROWS) == sorted(known, key=lambda row: (numbers[row], row))[:50]
    head.click()
    assert page.execute_script(ROWS) == sorted(known, key=lambda row: (-numbers[row], row))[:50]
    assert page.find_element("css selector", f"#decisions-table th.{column}").get_attribute("aria-sort") == "descending"


def test_it_can_be_paged(page):
    page.find_element("id", "next").click()
    assert page.execute_script(STATUS) == "Rows 51 to 100 of 300"
    assert not page.find_element("id", "previous").get_property("disabled")
    page.find_element("id", "previous").click()
    assert page.execute_script(STATUS) == "Rows 1 to 50 of 300"


def test_it_opens_with_what_was_explained(page, many):
    assert many.statuses[0] == "not_target"  # else the order of the rows would do
    shown = page.execute_script(ROWS)
    assert "not_target" not in set(many.statuses[shown])
    assert shown == sorted(shown)


def test_chosen_decisions_are_linked(page):
    row, label = page.execute_script(
        "const link = document.querySelector('#decisions-body a'); link.click();"
        "return [link.closest('tr').dataset.row, link.textContent]"
    )
    assert page.current_url.endswith(f"#decision-{row}")
    assert page.find_element("css selector", f"#decision-{row} h3").text == f"Decision {label}"


def test_hostile_texts_stay_texts(driver, tmp_path):
    hostile = "</script><img src=x onerror='document.title=1'>"
    many = cases.made([(Status.OPTIMAL, [(0, 1, 6)])] * 3, cases.HOSTILE, target=hostile)
    many._queries.index = [hostile] * 3
    open_page(driver, report(many, tmp_path / "report.html", title="Safe"))
    assert driver.execute_script(CELLS, 0) == [hostile] * 3
    assert driver.title == "Safe"
    assert driver.find_elements("tag name", "img") == []
    assert driver.get_log("browser") == []


def test_a_packed_table_is_unpacked(driver, many, tmp_path, monkeypatch):
    monkeypatch.setattr(_data, "PLAIN_BELOW", 10)
    open_page(driver, report(many, tmp_path / "report.html"))
    assert driver.execute_script(STATUS) == "Rows 1 to 50 of 300"
    assert driver.get_log("browser") == []


def _printed_pages(driver):
    pdf = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    return pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ")


def test_it_prints_each_chosen_decision_on_its_own_page(driver, many, tmp_path):
    open_page(driver, report(many[:60], tmp_path / "none.html", decisions=[]))
    without = _printed_pages(driver)
    open_page(driver, report(many[:60], tmp_path / "nine.html", decisions=range(9)))
    assert _printed_pages(driver) >= without + 9


def test_nothing_is_wider_than_a_small_screen(page):
    page.set_window_size(700, 900)
    wide = "return document.documentElement.scrollWidth <= window.innerWidth + 1"
    try:
        wait_for(page, wide, True, seconds=3)
    finally:
        page.set_window_size(1280, 900)


#: Words of some heads that stand on more than one line.
BROKEN = """
return [...document.querySelectorAll(arguments[0])].flatMap(head => {
  const node = head.firstChild, range = document.createRange();
  return [...node.textContent.matchAll(/\\S+/g)].filter(word => {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    return range.getClientRects().length > 1;
  }).map(word => word[0]);
})"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_head_of_the_table_is_broken_inside_a_word(driver, many, tmp_path, language):
    driver.set_window_size(1200, 900)
    open_page(driver, report(many, tmp_path / "report.html", language=language))
    assert len(driver.find_elements("css selector", "#decisions-table th")) == 8
    assert driver.execute_script(BROKEN, "#decisions-table th button") == []


@pytest.mark.parametrize("width", [1200, 1000, 480])
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_name_of_a_bar_is_broken_inside_a_word(driver, many, tmp_path, language, width):
    driver.set_window_size(width, 900)
    try:
        open_page(driver, report(many, tmp_path / "report.html", language=language))
        assert "unexplainable" in set(many.statuses)
        assert driver.execute_script(BROKEN, "#sizes th") == []
    finally:
        driver.set_window_size(1280, 900)


def test_it_is_searched_by_what_a_status_is_called_in_its_language(driver, many, tmp_path):
    open_page(driver, report(many, tmp_path / "report.html", language="de"))
    stuck = [row for row, status in enumerate(many.statuses) if status == "unexplainable"]
    assert stuck
    _search(driver, "unerklärbar")
    shown = min(50, len(stuck))
    wait_for(driver, STATUS, f"Zeilen 1 bis {shown} von {len(stuck)} gefunden unter 300")
