"""The page for everyone: keyboard only, screen readers (axe-core), hostile names, and no request to another host."""

import json
import re
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
import pytest
from browser import requests
from page_driver import Page, pipeline, served
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from sklearn.linear_model import LogisticRegression

import sev

AXE = Path(__file__).parents[2] / "npm/node_modules/axe-core/axe.min.js"
FOCUS = "return document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.innerText ?? ''"


def _press(page, *keys):
    ActionChains(page.driver).send_keys(*keys).perform()


def _tab_to(page, condition, what, most=80):
    for _ in range(most):
        _press(page, Keys.TAB)
        if page.run(f"const node = document.activeElement; return Boolean({condition})"):
            return
    raise AssertionError(f"no way to {what} with the Tab key")


def test_everything_is_done_with_the_keyboard(page):
    page.open()
    page.settled()
    first = page.state()["row"]
    _press(page, Keys.TAB)
    assert page.run(FOCUS) == "Go to the decision"
    _press(page, Keys.ENTER)
    assert page.run("return document.activeElement.className") == "work"
    _press(page, "j")
    page.wait(lambda: page.state()["row"] != first, "the next decision")
    page.settled()
    _press(page, "k")
    page.wait(lambda: page.state()["row"] == first, "the decision before")
    page.settled()
    _press(page, "/")
    assert page.run(FOCUS) == "Search"
    _press(page, "car", Keys.ARROW_DOWN)
    page.wait(lambda: page.run("return document.activeElement.getAttribute('role')") == "listbox", "the list")
    page.wait(lambda: "found among" in page.text(".decisions .note"), "the search")
    _press(page, Keys.HOME)
    _press(page, Keys.ARROW_DOWN)
    chosen = "return document.querySelector('[aria-selected=true]')?.getAttribute('aria-posinset')"
    page.wait(lambda: page.run(chosen) == "2", "the second")
    page.settled()
    _tab_to(page, "node.closest('[data-feature=duration]') && node.type === 'number'", "reach the duration")
    _press(page, Keys.ARROW_UP)
    page.wait(lambda: "duration" in page.state()["edits"], "the edit")
    page.settled()
    _tab_to(page, "node.closest('[data-feature=amount] .lock')", "reach the lock of the amount")
    _press(page, "fix")
    page.wait(lambda: page.state()["limits"].get("amount") == {"frozen": True}, "the lock")
    page.settled()
    _tab_to(page, "node.getAttribute('role') === 'tab'", "reach the tabs")
    _press(page, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.wait(lambda: page.text(".letter"), "the letter")
    _press(page, Keys.END)
    _tab_to(page, "node.closest('.panel form') && node.tagName === 'BUTTON'", "keep a scenario")
    _press(page, Keys.ENTER)
    page.wait(lambda: len(page.state()["scenarios"]) == 1, "the scenario")


def test_the_focus_is_always_visible(page):
    page.open()
    page.settled()
    for _ in range(25):
        _press(page, Keys.TAB)
        outline = page.run(
            "const node = document.activeElement; const style = getComputedStyle(node);"
            "if (node.matches('.score-bar input')) return 'drawn beside it';"
            "const drawn = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;"
            "return node === document.body || drawn ? '' : node.outerHTML"
        )
        assert outline in ("", "drawn beside it")


def test_single_keys_can_be_switched_off(page):
    page.open()
    page.settled()
    row = page.state()["row"]
    page.find(".top .tools button").click()
    page.find("dialog input[type=checkbox]").click()
    page.find("dialog form button").click()
    page.run("document.activeElement.blur()")
    _press(page, "j")
    page.run("return new Promise(done => setTimeout(done, 300))")
    assert page.state()["row"] == row


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(page, scheme, width):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make npm-tools")
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.open()
        page.pick(4)
        page.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text("utf-8")})
        for step in ("path", "curve", "letter", "compare", "scenarios", "list", "groups"):
            key = "view" if step in ("list", "groups") else "tab"
            page.run("document.getElementById('sev').page.store.update({[arguments[0]]: arguments[1]})", key, step)
            page.run("return new Promise(done => setTimeout(done, 500))")
            found = page.driver.execute_async_script(
                "const done = arguments[0]; const told = node => node.html.slice(0, 200) + node.failureSummary;"
                "axe.run(document, {resultTypes: ['violations']}).then(found =>"
                "done(found.violations.map(one => [one.id, one.help, one.nodes.slice(0, 3).map(told)])))"
            )
            assert found == [], f"{step}: {json.dumps(found, indent=1)}"
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_no_request_leaves_the_machine(page):
    page.open()
    page.pick(4)
    page.type('[data-feature="duration"] input[type=number]', "30")
    page.settled()
    for tab in ("curve", "letter", "compare", "scenarios"):
        page.run("document.getElementById('sev').page.store.update({tab: arguments[0]})", tab)
        page.run("return new Promise(done => setTimeout(done, 300))")
    seen = requests(page.driver)
    assert len(seen) > 8
    assert [url for url in seen if not url.startswith((page.address, "data:", "blob:", "about:"))] == []
    # the policy stops what a defect might ask for
    blocked = page.driver.execute_async_script(
        "const done = arguments[0]; fetch('http://192.0.2.1/').then(() => done('went out'), () => done('stopped'))"
    )
    assert blocked == "stopped"
    assert any("Content Security Policy" in entry["message"] for entry in page.driver.get_log("browser"))


SCRIPT = "</script><img src=x onerror='window.pwned=1'>"
MIRROR = "\u202egnorw\u202c \u2067eman"
LONG = "x" * 10_000


@pytest.fixture(scope="module")
def hostile_address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame(
        {
            SCRIPT: rng.normal(0, 1, n).round(2),
            MIRROR: rng.choice([SCRIPT, MIRROR, "=cmd()"], n),
            LONG: rng.normal(0, 1, n).round(2),
            "plain": rng.choice([LONG, "short"], n),
        }
    )
    y = ((X[SCRIPT] + X[LONG] + (X[MIRROR] == SCRIPT)) > 0.3).astype(int).to_numpy()
    model = pipeline(LogisticRegression()).fit(X, y)
    labels = sev.Labels(classes={0: f"{MIRROR}{SCRIPT}", 1: SCRIPT})
    sev.Explainer(model, X, y, labels=labels).save(folder / "hostile.sev")
    X.insert(0, "id", [f"{SCRIPT} {row}" for row in range(n)])
    X.to_csv(folder / "rows.csv", index=False)
    with served(folder / "hostile.sev", "--data", folder / "rows.csv", "--id", "id", "--title", SCRIPT) as address:
        yield address


def _row_whose_sentence_has(address, pattern):
    for row in range(100):
        body = json.dumps({"row": row}).encode()
        asked = Request(f"{address}api/explain", body, {"Content-Type": "application/json"})
        if re.search(pattern, json.load(urlopen(asked))["sentence"]):
            return row
    raise AssertionError("no sentence has it")


def test_a_name_does_not_reorder_the_sentence_around_it(browser, hostile_address):
    """An override that a name leaves open would turn all that follows around."""
    page = Page(browser, hostile_address).open()
    page.settled()
    page.run(
        "document.getElementById('sev').page.store.update({row: arguments[0], values: null, tab: 'letter'})",
        _row_whose_sentence_has(hostile_address, "[\u202e\u2067]"),
    )
    page.settled()
    page.wait(lambda: page.text(".letter"), "the letter")
    for selector in (".answer .sentence", ".letter > p:last-of-type"):
        stops = page.run(
            "const text = document.querySelector(arguments[0]).firstChild; const range = document.createRange();"
            "const left = (place) => { range.setStart(text, place); range.setEnd(text, place + 1);"
            "  return range.getBoundingClientRect().left };"
            "return [left(text.length - 2), left(text.length - 1)]",
            selector,
        )
        assert stops[0] < stops[1], selector  # the full stop stands behind the last letter
    page.run("Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (t) => { window.copied = t }}})")
    page.run("document.querySelector('.panel .tools button').click()")
    assert not re.search(
        "[\u202a-\u202e\u2066-\u2069]", page.wait(lambda: page.run("return window.copied"), "the copy")
    )
    marked = (
        "return [...document.querySelectorAll('.sev :not(option)')].flatMap(one => [...one.childNodes])"
        ".filter(one => one.nodeType === 3 && /[\u202a-\u202e\u2066-\u2069]/.test(one.data))"
        ".map(one => one.data.slice(0, 80))"
    )
    assert page.run(marked) == []


def test_hostile_names_stay_texts(browser, hostile_address):
    page = Page(browser, hostile_address).open()
    page.settled()
    long_row = _row_whose_sentence_has(hostile_address, LONG)
    page.run("document.getElementById('sev').page.store.update({row: arguments[0], values: null})", long_row)
    page.settled()
    page.type(".panel input, .decisions input[type=search]", "img")
    for tab in ("path", "curve", "letter", "compare", "scenarios"):
        page.run("document.getElementById('sev').page.store.update({tab: arguments[0]})", tab)
        page.run("return new Promise(done => setTimeout(done, 400))")
        assert page.run("return document.querySelectorAll('img, iframe, object, script:not([src])').length") == 0
        assert page.run("return document.documentElement.scrollWidth <= window.innerWidth"), tab
        # a name of 10,000 letters is shortened; the letter has all of it, as it goes out
        tall = page.run("return [...document.querySelectorAll('.card')].map(one => one.getBoundingClientRect().height)")
        assert tab == "letter" or max(tall) < 4000, tab
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        assert page.find(".now-bar").is_displayed()
        assert page.run("return document.documentElement.scrollWidth <= window.innerWidth")
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.run("document.getElementById('sev').page.store.update({view: 'groups'})")
    page.wait(lambda: page.texts(".groups tbody tr"), "the groups")
    assert page.run("return document.querySelectorAll('img, iframe, object').length") == 0
    assert page.run("return document.querySelector('.groups').getBoundingClientRect().height") < 4000
    assert page.run("return window.pwned") is None
    page.run("document.getElementById('sev').page.store.update({view: 'list'})")
    assert SCRIPT in page.text(".option .name")
    assert SCRIPT in page.text(".case h2")
    severe = [entry["message"] for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert severe == []
