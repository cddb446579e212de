"""What a careful eye sees: nothing is cut off, nothing moves, every mark and unit is there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from page_driver import Page, loan_rows, pipeline, served
from selenium.webdriver.common.keys import Keys
from sklearn.linear_model import LogisticRegression

import sev

DURATION = '[data-feature="duration"] input[type=number]'
LABELS = sev.Labels(
    features={
        "age": {"label": "the age", "unit": "years"},
        "duration": {"label": "the duration of the loan that was asked for", "unit": "months"},
        "amount": {"label": "the amount", "unit": "EUR"},
        "rate": "the rate",
    },
    classes={0: "approved", 1: "refused"},
)
#: Milliseconds after which the page shows a decision without its answer (``SLOW`` in main.js).
SLOW = 250
#: Every kind of limit that an explainer may come with.
ACTIONS = {
    "frozen": ["age"],
    "decrease": ["duration"],
    "within": {"amount": ("-50%", "+0%"), "income": sev.actions.between(1000, 9000)},
    "allowed": {"purpose": ["car", "education", "furniture"]},
}
#: By how many pixels the chosen text of a select is wider than its box; the arrow has its place.
CUT = """
const told = [];
for (const one of document.querySelectorAll(arguments[0])) {
  if (!one.checkVisibility() || !one.selectedOptions.length) continue;
  const probe = one.cloneNode();
  probe.style.cssText = "position: absolute; width: auto; max-width: none; min-width: 0";
  probe.append(one.selectedOptions[0].cloneNode(true));
  one.parentNode.append(probe);
  const wide = probe.getBoundingClientRect().width - one.getBoundingClientRect().width;
  probe.remove();
  if (wide > 0.5) told.push(`${one.selectedOptions[0].text}: ${wide}`);
}
return told;
"""


@pytest.fixture(scope="module")
def limited_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page on an explainer with limits, units and a fraction of many figures."""
    folder = tmp_path_factory.mktemp("limited")
    X, y = loan_rows()
    X["rate"] = np.random.default_rng(1).random(len(X)) * 1e-6
    model = pipeline(LogisticRegression(max_iter=1000)).fit(X, y)
    sev.Explainer(model, X, y, labels=LABELS, actions=sev.Actions(**ACTIONS)).save(folder / "limited.sev")
    X.head(100).to_csv(folder / "rows.csv", index=False)
    with served(folder / "limited.sev", "--data", folder / "rows.csv") as address:
        yield address


@pytest.fixture
def limited(browser, limited_address) -> Iterator[Page]:
    """The first refused person."""
    page = Page(browser, limited_address).open(width=1440)
    page.settled()
    yield page
    page.run("localStorage.clear()")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def _show(page: Page, **state: object) -> None:
    page.run("document.getElementById('sev').page.store.update(arguments[0])", state)
    page.settled()


@pytest.mark.parametrize("width", [1440, 820, 390])
@pytest.mark.parametrize("code", ["en", "de", "es"])
def test_no_limit_or_choice_above_the_answer_is_cut_off(limited, code, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    limited.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    limited.choose(".top .tools select", code)
    limited.wait(lambda: limited.run("return document.documentElement.lang") == code, "the language")
    limited.settled()
    _show(limited, mode="any", view="one")
    limited.run("document.querySelector('.best').open = true")
    assert len(limited.texts(".lock select")) == 7
    assert limited.run(CUT, ".lock select, .compare select, .pager select") == []
    names = "return [...document.querySelectorAll('.names label')]"
    assert limited.run(f"{names}.filter(one => one.scrollHeight > one.clientHeight + 1).length") == 0


def test_moving_the_threshold_moves_nothing_else(limited):
    top = "return document.querySelector('.answer-head').getBoundingClientRect().top + scrollY"
    before = limited.run(top)
    assert limited.text(".threshold-line [role=status]").startswith("Move it to see")
    limited.type(".threshold-line input", "0.8")
    limited.wait(lambda: "decisions would change" in limited.text(".threshold-line [role=status]"), "the count")
    assert limited.run(top) == before
    limited.find(".threshold-line button").click()
    limited.wait(lambda: limited.text(".threshold-line [role=status]").startswith("0 of 100"), "the way back")
    assert limited.find(".threshold-line button").is_displayed() is False


def test_numbers_side_by_side_have_their_units(limited):
    _show(limited, tab="compare")
    names = limited.texts(".panel tbody th")
    assert "The amount (EUR)" in names
    assert "The age (years)" in names


def test_a_mark_without_a_decision_is_seen_on_the_curve(limited):
    """Where other features change, too, the new value stands on the curve without the new decision."""
    row = limited.run("return document.getElementById('sev').page.store.get().row")
    for place in range(row, 100):
        _show(limited, row=place, values=None, mode="reference")
        changes = [one for found in limited.answer()["sets"][:1] for one in found["changes"]]
        numbers = [one["feature"] for one in changes if isinstance(one["new"], int | float)]
        if len(changes) > 1 and numbers:
            break
    _show(limited, tab="curve", curve=numbers[0])
    mark = ".panel .chart .mark.unknown"
    limited.wait(lambda: limited.run("return document.querySelector(arguments[0])", mark), "the mark")
    colours = limited.run(
        "const probe = document.createElement('i'); probe.style.color = 'var(--paper)';"
        "document.querySelector('.sev').append(probe); const paper = getComputedStyle(probe).color; probe.remove();"
        "return [getComputedStyle(document.querySelector(arguments[0])).stroke, paper]",
        mark,
    )
    assert colours[0] != colours[1]


def test_what_is_shaded_is_said_only_where_something_is(limited):
    _show(limited, tab="curve", curve="rate")
    limited.wait(lambda: "No value of this feature alone" in limited.text(".panel"), "the curve")
    assert "Shaded" not in limited.text(".panel")


def test_a_long_fraction_fits_its_field_and_is_whole_while_it_is_edited(limited):
    field = limited.find('[data-feature="rate"] input[type=number]')
    shown = field.get_property("value")
    whole = limited.answer()["row"]["rate"]
    assert len(shown) <= 10
    assert float(shown) == pytest.approx(whole, rel=1e-4)
    field.click()
    assert float(field.get_property("value")) == whole
    limited.find(DURATION).click()
    assert field.get_property("value") == shown
    assert limited.state()["edits"] == {}


def test_values_from_the_data_are_written_as_they_are(limited):
    _show(limited, tab="path")
    limited.run("document.getElementById('sev').page.store.update({view: 'groups', by: 'purpose'})")
    limited.wait(lambda: limited.texts(".groups tbody th"), "the groups")
    assert set(limited.texts(".groups tbody th")) == {"car", "education", "furniture", "repairs"}


@pytest.mark.parametrize("what", ["letter", "page"])
def test_paper_is_white_where_the_screen_is_dark(limited, what):
    _show(limited, tab="letter")
    limited.wait(lambda: limited.text(".letter"), "the letter")
    limited.choose(".top .tools select:nth-of-type(2)", "dark")
    if what == "letter":
        limited.run("window.print = () => {}; document.querySelector('.panel .tools button:nth-child(2)').click()")
    limited.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        # what is written on which ground: each text against the nearest ground behind it
        dark = limited.run(
            """
            const light = (colour) => { const [r, g, b, a = 1] = colour.match(/[0-9.]+/g).map(Number);
              return a === 0 ? null : (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255; };
            const told = [];
            for (const one of document.querySelectorAll('.sev .work *')) {
              if (!one.checkVisibility() || one.closest("svg")) continue;
              const style = getComputedStyle(one), ground = light(style.backgroundColor);
              const written = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
              const wrong = (ground !== null && ground < 0.7) || (written && light(style.color) > 0.5);
              if (wrong) told.push(one.outerHTML.slice(0, 120));
            }
            return told;
            """
        )
        assert dark == []
    finally:
        limited.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_an_order_is_no_filter(limited):
    limited.find(".decisions .search button").click()
    limited.choose(".sort-line select", "@score")
    limited.find(".sort-line button").click()
    scores = "return [...document.querySelectorAll('.option > .number')].map(one => Number(one.innerText))"
    limited.wait(lambda: (seen := limited.run(scores)) and seen == sorted(seen, reverse=True), "the order")
    limited.wait(lambda: "known so far" not in limited.text(".decisions .note"), "all rows")
    assert limited.text(".decisions .note") == "100 decisions"
    # the pressed button is under the pointer now: its arrow is still seen
    ink, ground = limited.run(
        "const style = getComputedStyle(document.querySelector('.sort-line button'));"
        "return [style.color, style.backgroundColor].map(one => one.match(/[0-9.]+/g).slice(0, 3).map(Number))"
    )
    assert abs(sum(ink) - sum(ground)) > 300


def test_a_number_alone_is_no_title(browser, tmp_path):
    X, y = loan_rows()
    model = pipeline(LogisticRegression(max_iter=1000)).fit(X, y)
    sev.Explainer(model, X, y).save(tmp_path / "loans.sev")
    X.head(50).reset_index(names="applicant").to_csv(tmp_path / "rows.csv", index=False)
    with served(tmp_path / "loans.sev", "--data", tmp_path / "rows.csv", "--id", "applicant") as address:
        page = Page(browser, address).open()
        page.pick(7)
        assert page.texts(".option .name")[7] == "7"
        assert page.text(".case h2") == "applicant 7"
        page.run("document.getElementById('sev').page.store.update({tab: 'letter'})")
        page.wait(lambda: page.text(".letter"), "the letter")
        assert page.text(".letter h3") == "Reasons for the decision: applicant 7"


def test_a_range_that_ends_before_it_begins_is_not_asked(limited):
    limited.choose('[data-feature="duration"] .lock select', "range")
    limited.settled()
    before, answer = limited.state()["limits"], limited.answer()
    low = limited.find('[data-feature="duration"] .lock-more input')
    low.send_keys(Keys.CONTROL, "a", Keys.NULL, "5000", Keys.TAB)
    limited.wait(lambda: limited.text(".toast").startswith("Not a valid value"), "the message")
    assert low.get_attribute("aria-invalid") == "true"
    assert limited.state()["limits"] == before
    assert limited.answer() == answer
    low.send_keys(Keys.CONTROL, "a", Keys.NULL, "12", Keys.TAB)
    limited.settled()
    assert low.get_attribute("aria-invalid") == "false"
    assert limited.state()["limits"]["duration"]["low"] == 12


def test_only_texts_can_be_asked_whether_they_contain_something(limited):
    limited.find(".decisions .search button").click()
    column, operator = ".where select:nth-child(1)", ".where select:nth-child(2)"
    disabled = "return document.querySelector('.where option[value=contains]').disabled"
    names = ["age", "duration", "amount", "income", "purpose", "savings", "rate"]
    limited.choose(column, str(names.index("purpose")))
    limited.choose(operator, "contains")
    assert limited.run(disabled) is False
    limited.choose(column, str(names.index("amount")))
    assert limited.run(disabled) is True
    assert limited.find(operator).get_property("value") == "="


@pytest.mark.parametrize("width", [1440, 820, 390])
def test_a_decision_that_is_opened_does_not_jump_when_its_answer_comes(limited, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    limited.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    limited.run("document.getElementById('sev').page.store.update({view: 'one'})")
    limited.run("return new Promise(done => setTimeout(done, 400))")  # the link is written after a pause
    # on a busy machine too, the parts wait for the answer: the page's own limit of waiting never ends here
    watch = (
        "const later = window.setTimeout; window.setTimeout = (work, wait, ...rest) =>"
        f" later(work, wait === {SLOW} ? 600000 : wait, ...rest);"
        "window.jumps = []; new PerformanceObserver((list) => window.jumps.push(...list.getEntries()"
        ".flatMap((entry) => entry.sources.map((one) => one.node?.className))))"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    kept = limited.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": watch})
    try:
        limited.driver.refresh()
        limited.wait(lambda: limited.run("return Boolean(document.getElementById('sev')?.page)"), "the page")
        limited.settled()
        limited.run("return new Promise(done => setTimeout(done, 300))")
        parts = {"card", "card form-card", "card more", "threshold-line", "score-bar", "feature used"}
        assert parts.isdisjoint(limited.run("return window.jumps"))
    finally:
        limited.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", kept)
