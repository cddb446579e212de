"""Journeys in a real browser: open, find, edit, lock, keep, reload, print."""

import base64
import json
import re

import pytest
from page_driver import LABELS, loan_rows
from selenium.webdriver.common.keys import Keys

import sev
from sev.text import Speaker

LANE = "document.getElementById('sev').page"
DURATION = '[data-feature="duration"] input[type=number]'


@pytest.fixture(scope="module")
def table():
    return loan_rows(300, seed=1)[0]


@pytest.fixture(scope="module")
def explainer(loan_files):
    return sev.load(loan_files / "loans.sev")


def _refused(explainer, table, size=1):
    """The first refused row whose smallest change has at least this many features."""
    many = explainer.explain(table)
    return next(row for row, found in enumerate(many.sizes) if found >= size)


def _open_row(page, row, **state):
    page.open(_link(page, {"row": row, "view": "one", **state}))
    page.settled()
    return page


def _link(page, state):
    text = base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")
    return f"#s={text}"


def test_it_opens_with_a_decision_that_has_something_to_undo(page, explainer, table):
    page.open()
    page.settled()
    row = page.state()["row"]
    assert row == int((explainer.explain(table).scores >= explainer.threshold).argmax())
    assert page.text(".verdict strong").lower() == "refused"
    assert page.text(".decisions .note") == "300 decisions"
    assert [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_the_page_is_painted_before_its_script_has_come(page):
    page.open()
    page.settled()
    loaded = page.run("return performance.getEntriesByType('resource').map(one => [one.initiatorType, one.name])")
    assert [name.rpartition("/")[2] for kind, name in loaded if kind == "script"] == ["served.js"]
    page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/page/served.js"]})
    try:
        page.driver.get("about:blank")
        page.driver.get(page.address)
        assert page.text("h1") == "What if?"
    finally:
        page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})


def test_a_tab_in_the_background_is_answered_too(page):
    """A browser gives no frames to a tab that nobody sees."""
    no_frames = "window.requestAnimationFrame = () => 0; window.ResizeObserver = class { observe() {} disconnect() {} }"
    kept = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": no_frames})
    try:
        page.open()
        page.settled()
        page.pick(4)
        assert page.state()["row"] == 4
        assert page.text(".verdict strong")
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", kept)


def test_a_decision_is_found_by_search_filter_and_sort(page, explainer, table):
    page.open()
    page.type(".decisions input[type=search]", "education")
    expected = int((table["purpose"] == "education").sum())
    page.wait(lambda: page.text(".decisions .note").startswith(f"{expected} found among 300"), "the search")
    page.type(".decisions input[type=search]", "")
    page.find(".decisions .search button").click()
    status = ".filters .field select"
    page.choose(status, "unexplainable")
    many = explainer.explain(table)
    none = [row for row, found in enumerate(many.statuses) if found == "unexplainable"]
    page.wait(lambda: page.text(".decisions .note").startswith(f"{len(none)} found among 300"), "the filter")
    page.choose(status, "")
    page.choose(".sort-line select", "@score")
    page.find(".sort-line button").click()
    highest = [f"Row {row + 1}" for row in many.scores.argsort()[::-1][:5]]
    page.wait(lambda: page.texts(".option .name")[:5] == highest, "the order")


def test_a_column_is_a_filter(page, table):
    page.open()
    page.find(".decisions .search button").click()
    page.choose(".where select:nth-child(1)", str(list(table).index("duration")))
    page.choose(".where select:nth-child(2)", "<=")
    page.type(".where input", "12")
    expected = int((table["duration"] <= 12).sum())
    page.wait(lambda: page.text(".decisions .note").startswith(f"{expected} found among 300"), "the condition")


def test_every_edit_is_answered(page, explainer, table):
    row = _refused(explainer, table)
    _open_row(page, row)
    before = page.text(".verdict .number")
    edited = table.iloc[[row]].assign(duration=71)
    page.type(DURATION, "71")
    page.settled()
    one = explainer.explain_one(edited)
    assert page.answer()["score"] == pytest.approx(one.score)
    assert page.answer()["sets"][0]["features"] == list(one.features)
    assert page.text(".verdict .number") != before
    assert "before the edits" in page.text(".verdict")
    assert page.text('[data-feature="duration"] .was') == f"was {table['duration'][row]}"
    rows = page.texts(".changes tbody th")
    assert [text.lower() for text in rows] == [LABELS.features.get(name, name) for name in one.features]
    page.find('[data-feature="duration"] .below button').click()
    page.settled()
    assert page.state()["edits"] == {}


def test_the_slider_edits_too_and_a_choice(page, explainer, table):
    row = _refused(explainer, table)
    _open_row(page, row)
    slider = page.find('[data-feature="amount"] input[type=range]')
    slider.send_keys(Keys.HOME)
    page.settled()
    lowest = page.state()["edits"]["amount"]
    choices = page.texts('[data-feature="savings"] .control option')
    page.choose('[data-feature="savings"] .control select', str(choices.index("much")))
    page.settled()
    edited = table.iloc[[row]].assign(amount=lowest, savings="much")
    assert page.answer()["score"] == pytest.approx(explainer.explain_one(edited).score)


def test_a_wrong_number_is_named_and_the_answer_stays(page, explainer, table):
    _open_row(page, _refused(explainer, table))
    score = page.answer()["score"]
    page.find(DURATION).send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.BACKSPACE)
    assert "Not a valid value" in page.text('[data-feature="duration"] .problem')
    page.type(DURATION, "30")
    page.settled()
    assert page.find('[data-feature="duration"] .problem').is_displayed() is False
    assert page.answer()["score"] != score


def test_a_lock_has_the_price_that_was_told(page, explainer, table):
    row = _refused(explainer, table, size=2)
    _open_row(page, row)
    used = page.answer()["sets"][0]["features"][0]
    page.wait(lambda: page.text(".changes .fixing .price") not in ("", "…"), "the price")
    told = page.text(".changes .fixing .price")
    page.find(".changes .fixing button").click()
    page.settled()
    assert page.state()["limits"] == {used: {"frozen": True}}
    locked = explainer.explain_one(table.iloc[[row]], restricted=["age", used])
    size = page.answer()["size"]
    assert size == (None if locked.status == "unexplainable" else locked.size)
    before = explainer.explain_one(table.iloc[[row]]).size
    assert told == (
        "impossible" if size is None else f"still {size}" if size == before else f"{size} instead of {before}"
    )
    page.wait(
        lambda: page.text(f'[data-feature="{used}"] .below .price') == f"without it: {told}", "the price in the form"
    )


def test_directions_and_ranges_limit_the_answer(page, explainer, table):
    row = _refused(explainer, table)
    _open_row(page, row, mode="any")
    page.choose('[data-feature="duration"] .lock select', "up")
    page.choose('[data-feature="income"] .lock select', "range")
    page.settled()
    low = page.find('[data-feature="income"] .lock-more input')
    low.send_keys(Keys.CONTROL, "a", Keys.NULL, "2000", Keys.TAB)
    page.settled()
    assert page.run("return document.activeElement.getAttribute('aria-label')") == "Highest value of the monthly income"
    limits = page.state()["limits"]
    assert limits["duration"] == {"direction": "up"}
    assert limits["income"]["low"] == 2000
    for change in (one for found in page.answer()["sets"] for one in found["changes"]):
        if change["feature"] == "duration":
            assert change["new"] > change["old"]
        if change["feature"] == "income":
            assert limits["income"]["low"] <= change["new"] <= limits["income"]["high"]


def test_how_much_is_enough_is_told_and_marked_on_the_slider(page, explainer, table):
    many = explainer.explain(table, values="any")
    row = next(row for row, one in enumerate(many) if one.status == "optimal" and one.enough.get("duration"))
    _open_row(page, row, mode="any")
    change = next(one for one in page.answer()["sets"][0]["changes"] if one["feature"] == "duration")
    high = change["enough"][1]
    told = page.texts(".changes .instead .note")
    assert change["enough_text"].startswith(f"at most {high:g}")
    assert f"enough: {change['enough_text']}" in told
    ends = page.run(
        "const mark = document.querySelector('[data-feature=duration] .enough').getBoundingClientRect();"
        "const rail = document.querySelector('[data-feature=duration] .spark').getBoundingClientRect();"
        "return [(mark.left - rail.left) / rail.width, (mark.right - rail.left) / rail.width]"
    )
    low, highest = int(explainer.sample["duration"].min()), int(explainer.sample["duration"].max())
    assert ends == pytest.approx([0, (high - low) / (highest - low)], abs=0.03)


def test_the_smallest_changes_are_paged_and_a_feature_comes_first(page, explainer, table):
    many = explainer.explain(table)
    row = next(row for row, one in enumerate(many) if len(one.sets or ()) >= 2)
    _open_row(page, row)
    sets = [found["features"] for found in page.answer()["sets"]]
    assert len(sets) == len(many[row].sets)
    first = page.texts(".changes tbody th")
    page.find(".pager button:nth-of-type(2)").click()
    assert page.texts(".changes tbody th") != first
    assert page.text(".pager .grow") == f"smallest change 2 of {len(sets)}"
    wanted = next(name for name in sets[-1] if name not in sets[0])
    page.choose(".pager select", str(list(table).index(wanted)))
    page.settled()
    assert wanted in page.answer()["sets"][0]["features"]


def test_which_change_is_the_best_can_be_chosen(page, explainer, table):
    least = 0.25
    many = explainer.explain(table, min_credibility=least)
    row = next(row for row, one in enumerate(many) if one.sets and one.size > one.size_without_limit)
    _open_row(page, row)
    first = page.answer()["sets"][0]["features"]
    assert page.run("return document.querySelector('.best').open") is False
    page.find(".best summary").click()
    page.choose(".best .field:nth-child(2) select", str(least))
    page.settled()
    one = many[row]
    assert page.answer()["sets"][0]["features"] == list(one.features) != first
    assert page.answer()["sets"][0]["credibility"] == pytest.approx(one.credibility)
    assert f"more ordinary than {one.credibility:.0%} of real people" in page.text(".facts")
    page.choose(".best .field:nth-child(1) select", "closest")
    page.choose(".compare select:nth-child(1)", "default")
    page.run(f"{LANE}.store.update({{mode: 'any'}})")
    page.choose(".best .field:nth-child(3) select", "cost")
    page.settled()
    wanted = {"values": "any", "minimise": "cost", "order": "closest", "min_credibility": least}
    assert page.answer()["sets"][0]["features"] == list(explainer.explain_one(table.iloc[[row]], **wanted).features)
    state = page.state()
    assert (state["minimise"], state["order"], state["min_credibility"]) == ("cost", "closest", least)


def test_whom_to_compare_with(page, explainer, table):
    row = _refused(explainer, table)
    _open_row(page, row)
    approved = int((explainer.explain(table).scores).argmin())
    page.choose(".compare select", "row")
    page.settled()
    page.type(".compare .lock-more input", str(approved + 1))
    page.settled()
    page.wait(
        lambda: page.answer()["reference"]["row"]["duration"] == int(table["duration"][approved]), "the comparison"
    )
    page.choose(".compare select", "own")
    page.settled()
    page.find(".panel .feature:nth-child(2) input[type=number]").clear()
    page.find(".panel .feature:nth-child(2) input[type=number]").send_keys("7")
    page.settled()
    assert page.state()["reference"]["values"]["duration"] == 7
    assert page.answer()["reference"]["row"]["duration"] == 7


def test_moving_the_threshold_counts_the_decisions_that_turn(page, explainer, table):
    _open_row(page, _refused(explainer, table))
    page.type(".threshold-line input", "0.8")
    scores = explainer.explain(table).scores
    turned = int(((scores >= explainer.threshold) & (scores < 0.8)).sum())
    page.wait(
        lambda: page.text(".threshold-line [role=status]").startswith(f"{turned} of 300 decisions would change"),
        "the count",
    )
    page.find(".threshold-line button").click()
    page.wait(lambda: page.text(".threshold-line [role=status]").startswith("0 of 300"), "the way back")


def test_path_curve_and_letter(page, explainer, table):
    row = _refused(explainer, table, size=2)
    _open_row(page, row)
    steps = page.answer()["sets"][0]["path"]
    assert len(page.texts(".steps li")) == len(steps)
    assert page.run("return document.querySelectorAll('.panel .vertex').length") == 2 ** len(
        page.answer()["sets"][0]["features"]
    )
    tabs = page.driver.find_elements("css selector", "[role=tab]")
    tabs[1].click()
    page.wait(lambda: page.run("return document.querySelector('.panel svg.chart, .panel table')"), "the curve")
    page.choose(".panel select", str(list(table).index("duration")))
    page.wait(lambda: page.run("return document.querySelectorAll('.panel .people').length") > 3, "the histogram")
    tabs[2].click()
    page.wait(lambda: page.text(".letter"), "the letter")
    assert "Decision: refused" in page.text(".letter")
    assert len(page.texts(".letter li")) == min(
        4, len({name for found in page.answer()["sets"] for name in found["features"]})
    )


def test_the_curve_names_values_that_have_the_other_decision(page, explainer, table):
    row = next(
        place for place, one in enumerate(explainer.explain(table)) if one.features and one.features[0] == "duration"
    )
    _open_row(page, row, tab="curve", curve="duration", mode="any")
    page.wait(lambda: page.run("return document.querySelector('.panel svg.chart .mark.negative')"), "the curve")
    found = re.fullmatch(r"approved: between (\d+) and (\d+)", page.texts(".panel .panel-body p")[0])
    low, high = map(int, found.groups())
    rows = table.iloc[[row] * 3].assign(duration=[low, high, high + 1])
    assert explainer.model.predict(rows).tolist() == [0, 0, 1]
    assert "Shaded: approved." in page.text(".panel .note")
    # the mark of the change stands in the shaded part
    change = page.answer()["sets"][0]["changes"][0]
    assert change["feature"] == "duration"
    box = "const one = document.querySelector(arguments[0]).getBoundingClientRect(); return [one.left, one.right]"
    left, right = page.run(box, ".panel .chart .mark.negative")
    shaded = page.run(box, ".panel .chart .turned")
    assert shaded[0] <= (left + right) / 2 <= shaded[1]


def test_cells_are_written_as_in_the_sentences(page, explainer, table):
    edits = {"amount": 4870, "income": 1234.567, "duration": 20000}
    _open_row(page, _refused(explainer, table), tab="compare", edits=edits)
    written = dict(
        page.run(
            "return [...document.querySelectorAll('.panel tbody tr')]"
            ".map(row => [row.cells[0].innerText, row.cells[1].innerText])"
        )
    )
    speaker = Speaker({name: (name,) for name in table}, labels=explainer.labels)
    for name, label in (("amount", "The amount"), ("income", "The monthly income")):
        assert written[label] == speaker.value(name, edits)
    assert written["The duration in months"] == "20,000"


def test_a_line_of_the_list_that_is_too_long_ends_in_an_ellipsis(page):
    """A place at which a long name may be broken elsewhere would cut the line there, as if it ended."""
    page.open()
    page.pick(0)
    wraps = (
        "const what = document.querySelector('.option .what'); const name = what.firstChild;"
        "name.replaceChildren('5: the age, marital_', document.createElement('wbr'), 'status, the monthly income, x');"
        "const range = document.createRange(); range.selectNodeContents(name);"
        "return new Set([...range.getClientRects()].map(one => one.top)).size"
    )
    assert page.run(wraps) == 1  # one line


@pytest.mark.parametrize("is_permitted", [True, False])
def test_the_letter_is_copied_as_text(page, explainer, table, is_permitted):
    """Also where the browser does not permit the clipboard: then by the selection."""
    _open_row(page, _refused(explainer, table), tab="letter")
    page.wait(lambda: page.text(".letter"), "the letter")
    page.run(
        "const write = async (text) => { if (!arguments[0]) throw new Error('no'); window.copied = text };"
        "Object.defineProperty(navigator, 'clipboard', {configurable: true, value: {writeText: write}});"
        "document.execCommand = (name) => { window.copied = `${name}: ${document.activeElement.value}` }",
        is_permitted,
    )
    page.find(".panel .tools button").click()
    copied = page.wait(lambda: page.run("return window.copied"), "the copy")
    if not is_permitted:
        assert copied.startswith("copy: ")
    lines = copied.removeprefix("copy: ").split("\n\n")
    assert lines[0] == page.text(".letter h3")
    assert lines[1].startswith("Decision: refused (score ")
    reasons = [f"{number}. {text}" for number, text in enumerate(page.texts(".letter li"), 1)]
    assert [line for line in lines if re.match(r"\d\. ", line)] == reasons
    assert lines[3 + len(reasons)] == page.texts(".letter > p")[2]  # the sentence
    assert page.text(".toast") == "Copied."
    assert page.run("return document.querySelectorAll('.sev textarea').length") == 0


def test_the_letter_alone_is_printed(page, explainer, table):
    _open_row(page, _refused(explainer, table), tab="letter")
    page.wait(lambda: page.text(".letter"), "the letter")
    page.run("window.print = () => { window.printed = true }")
    buttons = page.driver.find_elements("css selector", ".panel .tools button")
    buttons[1].click()
    assert page.run("return window.printed") is True
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert page.find(".letter").is_displayed()
        shown = page.run(
            "return [...document.querySelectorAll('.sev *')].filter(one => one.checkVisibility() && "
            "[...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()) && !one.closest('.letter'))"
            ".map(one => one.outerHTML.slice(0, 80))"
        )
        assert shown == []
        page.run("dispatchEvent(new Event('afterprint'))")
        assert page.find(".verdict").is_displayed()  # the page itself can be printed again
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_scenario_is_kept_and_the_link_restores_everything(page, explainer, table):
    row = _refused(explainer, table)
    _open_row(page, row, tab="scenarios")
    page.type(DURATION, "40")
    page.settled()
    page.type(".panel form input", "Shorter <b>loan</b>")
    page.find(".panel form button").click()
    page.wait(lambda: "Shorter <b>loan</b>" in page.text(".beside"), "the scenario")
    page.choose('[data-feature="amount"] .lock select', "frozen")
    page.settled()
    page.run("return new Promise(done => setTimeout(done, 400))")  # the link is written after a pause
    state, answer, link = page.state(), page.answer(), page.driver.current_url
    page.address, before = link.split("#")[0], page.address
    page.open("#" + link.split("#")[1])
    page.settled()
    page.address = before
    assert page.state() == state
    assert {**page.answer(), "milliseconds": 0, "sequence": 0} == {**answer, "milliseconds": 0, "sequence": 0}
    page.wait(lambda: "…" not in page.text(".beside"), "the answers of the scenarios")
    assert "Shorter <b>loan</b>" in page.text(".beside")
    assert "the duration in months: 40" in page.text(".beside")


def test_a_scenario_is_opened_as_it_was_kept(page, explainer, table):
    kept = {"mode": "any", "minimise": "cost", "order": "closest", "min_credibility": 0.05, "edits": {"duration": 50}}
    _open_row(page, _refused(explainer, table), tab="scenarios", **kept)
    page.find(".panel form button").click()
    page.wait(lambda: page.texts(".beside thead button"), "the scenario")
    other = {"mode": "reference", "minimise": "features", "order": "margin", "min_credibility": 0, "edits": {}}
    page.run(f"{LANE}.store.update(arguments[0])", other)
    page.settled()
    page.find(".beside thead button").click()
    page.settled()
    assert {name: page.state()[name] for name in kept} == kept


def test_back_returns_to_the_decision_before(page):
    page.open()
    page.pick(3)
    page.pick(7)
    page.driver.back()
    page.wait(lambda: page.state()["row"] == 3, "the decision before")
    page.settled()


@pytest.mark.parametrize(
    "link",
    [
        "#s=!!!",
        "#s=e30",
        "#s="
        + base64.urlsafe_b64encode(b'{"row":"x","edits":[],"model":99,"limits":{"a":1},"view":7}').decode().rstrip("="),
    ],
)
def test_a_damaged_link_opens_an_ordinary_page(page, link):
    page.open(link)
    page.settled()
    assert page.state()["model"] == 0
    assert page.state()["edits"] == {}


def test_an_older_answer_never_overwrites_a_newer_one(page, explainer, table):
    row = _refused(explainer, table)
    _open_row(page, row)
    # the first answer after this is held back until the second has come
    page.run(
        """const real = window.fetch; let held = 0;
        window.fetch = async (url, options) => {
          const answer = await real(url, {...options, signal: undefined});
          if (String(url).endsWith("/api/explain") && held++ === 0) await new Promise(done => setTimeout(done, 1500));
          return answer;
        };"""
    )
    page.run(f"{LANE}.store.update({{edits: {{duration: 66}}}})")
    page.run("return new Promise(done => setTimeout(done, 60))")
    page.run(f"{LANE}.store.update({{edits: {{duration: 5}}}})")
    page.settled()
    page.run("return new Promise(done => setTimeout(done, 2000))")
    assert page.answer()["row"]["duration"] == 5


def test_a_link_to_the_groups_stays_there(page):
    page.open(_link(page, {"view": "groups", "by": "savings"}))
    page.wait(lambda: len(page.texts(".groups tbody tr")) == 3, "the groups")
    page.wait(lambda: page.run("return document.querySelectorAll('.option').length"), "the list")
    assert page.state()["view"] == "groups"


def test_groups(page, explainer, table):
    page.open()
    page.driver.find_elements("css selector", ".views button")[1].click()
    page.choose(".groups select", str(list(table).index("purpose")))
    page.wait(lambda: page.text(".groups [role=status]") == "All 300 rows are counted.", "all rows")
    rows = page.run(
        "return [...document.querySelectorAll('.groups tbody tr')]"
        ".map(row => [row.cells[0].innerText.toLowerCase(), row.cells[1].innerText])"
    )
    assert {name: int(count) for name, count in rows} == table["purpose"].value_counts().to_dict()


def test_two_models_beside_each_other(page, loan_files, explainer, table):
    row = _refused(explainer, table)
    _open_row(page, row)
    other = sev.load(loan_files / "trees.sev").explain_one(table.iloc[[row]])
    page.wait(lambda: f"{other.score:.3f}" in page.texts(".models button")[1], "the other model")
    page.find(".models button:nth-child(2)").click()
    page.wait(lambda: page.answer()["model"] == 1, "the change of model")
    page.settled()
    assert page.answer()["score"] == pytest.approx(other.score)
    page.wait(
        lambda: f"{explainer.explain_one(table.iloc[[row]]).score:.3f}" in page.texts(".models button")[0],
        "the first model",
    )


@pytest.mark.parametrize(("code", "brand", "number"), [("de", "Was wäre, wenn?", ","), ("es", "¿Y si…?", ",")])
def test_the_page_speaks_other_languages(page, explainer, table, code, brand, number):
    _open_row(page, _refused(explainer, table))
    page.choose(".top .tools select", code)
    page.wait(lambda: page.text("h1") == brand, "the language")
    page.settled()
    assert f"0{number}" in page.text(".verdict .number")
    assert page.run("return document.documentElement.lang") == code
    assert page.answer()["language"] == code
    assert page.text(".sentence") == page.answer()["sentence"]
    proof = f"{page.text('.proof .badge')}: {page.text('.proof span:last-child')}"  # the badge has its first word
    assert proof.lower() == page.answer()["proof_beside_sentence"].lower()
    assert (
        page.run("return [...document.querySelectorAll('.sentence, .proof span:last-child')].map(one => one.lang)")
        == [code] * 2
    )
    page.run(f"{LANE}.store.update({{tab: 'letter'}})")
    page.wait(lambda: page.text(".letter"), "the letter")
    assert page.run("return document.querySelector('.letter').lang") == "en"  # as it goes out
    assert page.text(".letter").startswith("Reasons for the decision: Row ")
    assert "Decision: refused (score 0." in page.text(".letter")


@pytest.mark.parametrize("width", [1280, 820, 390])
def test_nothing_is_wider_than_the_screen(page, explainer, table, width):
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        fits = "return document.documentElement.scrollWidth <= window.innerWidth"
        for tab in ("path", "curve", "letter", "compare", "scenarios"):
            _open_row(page, _refused(explainer, table), tab=tab)
            assert page.run(fits), tab
        for view in ("list", "groups"):
            page.run(f"{LANE}.store.update({{view: arguments[0]}})", view)
            assert page.run(fits), view
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", [1280, 820, 390])
def test_prices_are_not_broken_into_letters(page, explainer, table, width):
    cheap = ["free", "costlier", "impossible", "not decided"]
    found = next(
        row
        for row, one in enumerate(explainer.explain(table))
        if one.sets and not explainer.price(table.iloc[[row]], list(one.features))["outcome"][:-1].isin(cheap).all()
    )
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        _open_row(page, found)
        page.wait(lambda: page.texts(".changes .price.more"), "a price")
        lines = (
            "const one = arguments[0];"
            "return one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight)"
        )
        for price in page.driver.find_elements("css selector", ".changes .price"):
            assert page.run(lines, price) < 2.5
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
