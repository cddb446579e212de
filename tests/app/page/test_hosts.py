"""The same page in its other two hosts: one file on disk, and a notebook widget."""

import json

import pytest
from browser import requests
from page_driver import Page

pytest.importorskip("fastapi", reason="the extra app is not installed")
from sev.app._join import join_modules, page_styles, page_texts

READY = "return document.getElementById('sev')?.dataset.ready"


@pytest.fixture
def kept(page, tmp_path):
    """Two scenarios of one person as a file, and their answers as the served page has them."""
    page.open()
    page.settled()
    state = page.state()
    asked = [
        {"name": "As it is", "request": {"row": state["row"]}},
        {"name": "<i>Edited</i>", "request": {"row": state["row"], "edits": {"duration": 60}}},
    ]
    script = (
        "const done = arguments[1]; document.getElementById('sev').page.app.api"
        ".call('scenarios', arguments[0]).then(done, error => done(JSON.stringify(error)))"
    )
    text = page.driver.execute_async_script(script, {"format": "html", "title": "A <b>title</b>", "scenarios": asked})
    document = page.driver.execute_async_script(script, {"format": "json", "scenarios": asked})
    path = tmp_path / "what-if.html"
    path.write_text(text, encoding="utf-8")
    return path, document


def test_one_file_holds_everything_and_asks_nobody(browser, kept):
    path, document = kept
    page = Page(browser, path.as_uri())
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(path.as_uri())
    page.wait(lambda: page.run(READY) == "true", "the page")
    page.wait(lambda: page.text(".sentence"), "the answer")
    first, second = document["scenarios"]
    assert page.text(".sentence") == first["explain"]["sentence"]
    assert page.text(".case h2") == "A <b>title</b>"
    # the other model has no answers in the file
    assert page.driver.find_elements("css selector", ".models") == []
    assert page.text(".case .note") == "loans"
    assert "…" not in page.text(".sev")
    assert page.driver.find_elements("css selector", ".decisions, .lock, .pager select, .feature .below") == []
    assert page.find('[data-feature="duration"] input[type=number]').get_property("readOnly") is True
    page.choose(".case select", "1")
    page.wait(lambda: page.text(".sentence") == second["explain"]["sentence"], "the second scenario")
    assert page.find('[data-feature="duration"] input[type=number]').get_property("value") == "60"
    for number, wanted in ((1, ".panel .chart, .panel table"), (2, ".letter"), (3, ".panel table")):
        page.driver.find_elements("css selector", "[role=tab]")[number].click()
        page.wait(lambda wanted=wanted: page.run("return document.querySelector(arguments[0])", wanted), wanted)
    assert [url for url in requests(browser) if not url.startswith(("file:", "data:"))] == []
    assert browser.get_log("browser") == []


def test_the_widget_asks_over_its_own_channel(page):
    page.open()
    page.settled()
    # the channel of a notebook, played by the served interface
    model = """
    const given = JSON.parse(arguments);
    window.sent = [];
    const handlers = [];
    const model = {
      get: (name) => given[name],
      on: (name, handler) => handlers.push(handler),
      send: async ({ id, name, params }) => {
        window.sent.push(name);
        const api = document.getElementById("sev").page.app.api;
        const reply = await api.call(name, params).then((result) => ({ id, result }), (error) => ({ id, error }));
        handlers.forEach((handler) => handler(reply));
      },
    };
    const place = document.body.appendChild(document.createElement("div"));
    place.id = "cell";
    place.style.width = "700px";
    window.end = $entry.widget.render({ model, el: place });
    """
    given = json.dumps(json.dumps({"texts": page_texts(), "language": "en", "css": page_styles()}))
    model = model.replace("JSON.parse(arguments)", f"JSON.parse({given})")
    code = f"(() => {{ {join_modules('widget.js')} {model} }})()"
    found = page.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": code})
    assert "exceptionDetails" not in found, found
    inside = "const root = document.querySelector('#cell > div').shadowRoot;"
    page.wait(lambda: page.run(inside + "return root.querySelectorAll('.option .name').length") > 3, "the list")
    page.run(inside + "root.querySelectorAll('.option')[4].click()")
    page.wait(lambda: page.run(inside + "return root.querySelector('.sentence')?.innerText"), "the answer")
    assert page.run(inside + "return getComputedStyle(root.querySelector('.layout > .decisions')).display") == "none"
    field = "root.querySelector('[data-feature=duration] input[type=number]')"
    page.run(inside + f"const one = {field}; one.value = 12; one.dispatchEvent(new Event('input'))")
    page.wait(
        lambda: page.run(inside + "return root.querySelector('[data-feature=duration] .was').innerText"), "the edit"
    )
    assert {"about", "rows", "explain"} <= set(page.run("return window.sent"))
    # keys that are pressed here are not the notebook's
    heard = "window.heard = 0; document.addEventListener('keydown', () => { window.heard += 1 });"
    page.run(
        heard
        + inside
        + f"{field}.dispatchEvent(new KeyboardEvent('keydown', {{key: 'd', bubbles: true, composed: true}}))"
    )
    assert page.run("return window.heard") == 0
    page.run("window.end()")


def test_the_widget_sends_one_call_at_a_time_and_never_those_that_were_dropped(page):
    """A kernel works through its calls in order: what nobody waits for any more must not stand in front."""
    page.open()
    play = """
    const model = { sent: [], on: (name, handler) => { model.reply = handler }, send: (call) => model.sent.push(call) };
    const names = () => model.sent.map((call) => call.params.number).join();
    const api = $entry.makeApi(model);
    const told = [];
    const ask = (name, number, stop = new AbortController()) => {
      const fail = (error) => told.push(error.name ?? error.code);
      api.call(name, { number }, { signal: stop.signal }).then((result) => told.push(result), fail);
      return stop;
    };
    const steps = [];
    ask("explain", 1);
    ask("price", 2);
    const dropped = ask("explain", 3);
    ask("explain", 4);
    steps.push(names());
    dropped.abort();
    model.reply({ id: model.sent[0].id, result: "one" });
    steps.push(names());
    model.reply({ id: "explain-99", result: "of somebody else" });
    model.reply({ id: model.sent[1].id, error: { code: "bad_input" } });
    steps.push(names());
    model.reply({ id: model.sent[2].id, result: "two" });
    window.played = new Promise((resolve) => setTimeout(() => resolve(JSON.stringify([steps, told])), 0));
    """
    code = f"(() => {{ {join_modules('widget.js')} {play} return window.played; }})()"
    found = page.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": code, "awaitPromise": True})
    assert "exceptionDetails" not in found, found
    steps, told = json.loads(found["result"]["value"])
    assert steps == ["1", "1,4", "1,4,2"]
    assert told == ["AbortError", "one", "bad_input", "two"]
