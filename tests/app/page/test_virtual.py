"""The list of any length: only what is visible exists, and every row can be reached."""

MAKE = """
const done = arguments[0];
import("/page/virtual.js").then(({ makeVirtualList }) => {
  window.asked = [];
  window.list = makeVirtualList({
    label: "rows", emptyText: "none", onError: done,
    onChoose: (item, index) => { window.chosen = index; },
    draw: (item) => [document.createTextNode(String(item.number))],
    fetchPage: async (offset, limit) => {
      window.asked.push(offset);
      const items = Array.from({ length: limit }, (_, index) => ({ number: offset + index }));
      return { total: 1_000_000, items, again: 0 };
    },
  });
  const place = document.querySelector(".sev").appendChild(document.createElement("div"));
  Object.assign(place.style, { position: "fixed", inset: "0 auto auto 0", width: "300px", height: "500px" });
  Object.assign(place.style, { display: "flex", flexDirection: "column" });
  place.append(window.list.node);
  window.list.reload().then(() => done(null));
});
"""
SHOWN = "return [...window.list.node.querySelectorAll('.option')].map(one => one.innerText)"


def test_a_million_rows_without_loading_them(page):
    page.open()
    page.driver.set_script_timeout(20)
    assert page.driver.execute_async_script(MAKE) is None
    page.wait(lambda: page.run(SHOWN)[:2] == ["0", "1"], "the first rows")
    page.run("window.list.choose(999_999)")
    page.wait(lambda: page.run("return window.chosen") == 999_999, "the last row")
    page.wait(lambda: page.run(SHOWN)[-1] == "999999", "the end of the list")
    last = page.run(
        "const box = window.list.box.getBoundingClientRect();"
        "const row = window.list.node.querySelector('[aria-selected=true]').getBoundingClientRect();"
        "return row.top >= box.top - 1 && row.bottom <= box.bottom + 1"
    )
    assert last, "the chosen row is outside of the visible part"
    page.run("window.list.box.scrollTop = window.list.box.scrollHeight / 2")
    page.wait(lambda: all(text != "…" and 490_000 < int(text) < 510_000 for text in page.run(SHOWN)), "the middle")
    assert len(page.run(SHOWN)) < 40
    assert len(page.run("return window.asked")) < 10
