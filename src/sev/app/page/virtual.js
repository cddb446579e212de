// A list of any length of which only the visible rows exist: pages are fetched as they come into view.

import { h, perFrame, uid } from "./dom.js";

const PAGE = 100;
const ROW = 52;
// browsers cannot lay out an element higher than about 33 million pixels; beyond this the scroll bar is scaled
const TALLEST = 8_000_000;
const SPARE = 6;

/**
 * A listbox over `fetchPage(offset, limit)`, which resolves to {total, items, again}; `again` is after how many milliseconds a
 * visible page is fetched anew, 0 for never. `draw(item)` makes the content of a row.
 */
export function makeVirtualList({ label, fetchPage, draw, onChoose, onError, emptyText }) {
  const spacer = h("div", { class: "spacer" });
  const box = h("div", { class: "virtual", role: "listbox", tabindex: "0", "aria-label": label }, spacer);
  const note = h("p", { class: "note empty", hidden: true }, emptyText);
  const prefix = uid("option");
  let pages = new Map();
  let total = 0;
  let chosen = -1;
  let generation = 0;

  const height = () => Math.min(total * ROW, TALLEST);
  const scale = () => (total * ROW <= TALLEST ? 1 : (height() - box.clientHeight) / (total * ROW - box.clientHeight));
  const item = (index) => pages.get(Math.floor(index / PAGE))?.[index % PAGE];

  async function load(page, again = false) {
    if (pages.has(page) && !again) return;
    if (!again) pages.set(page, null);
    const mine = generation;
    try {
      const answer = await fetchPage(page * PAGE, PAGE);
      if (mine !== generation) return;
      pages.set(page, answer.items);
      if (answer.total !== total) {
        total = answer.total;
        spacer.style.height = `${height()}px`;
      }
      note.hidden = total > 0;
      render();
      if (answer.again) setTimeout(() => mine === generation && box.isConnected && isVisible(page) && load(page, true), answer.again);
    } catch (error) {
      if (mine !== generation) return;
      if (!again) pages.delete(page);
      onError(error);
    }
  }

  function isVisible(page) {
    const start = box.scrollTop / scale() / ROW;
    return page * PAGE <= start + box.clientHeight / ROW && (page + 1) * PAGE >= start;
  }

  function drawRow(index, top) {
    const data = item(index);
    const row = h("div", {
      class: "option",
      role: "option",
      id: `${prefix}-${index}`,
      "aria-selected": String(index === chosen),
      "aria-setsize": total,
      "aria-posinset": index + 1,
      onclick: () => choose(index),
    });
    row.style.transform = `translateY(${top}px)`;
    row.append(...(data ? draw(data) : [h("span", { class: "waiting" }, "…")]));
    return row;
  }

  function render() {
    const start = box.scrollTop / scale();
    const first = Math.max(0, Math.floor(start / ROW) - SPARE);
    const last = Math.min(total, Math.ceil((start + box.clientHeight) / ROW) + SPARE);
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page += 1) load(page);
    const rows = [];
    for (let index = first; index < last; index += 1) rows.push(drawRow(index, index * ROW - start + box.scrollTop));
    spacer.replaceChildren(...rows);
    if (chosen >= first && chosen < last) box.setAttribute("aria-activedescendant", `${prefix}-${chosen}`);
    else box.removeAttribute("aria-activedescendant");
    if (pages.size > 60) for (const page of pages.keys()) if (Math.abs(page * PAGE - first) > 20 * PAGE) pages.delete(page);
  }

  function show(index) {
    const top = index * ROW;
    const start = box.scrollTop / scale();
    if (top < start) box.scrollTop = top * scale();
    else if (top + ROW > start + box.clientHeight) box.scrollTop = (top + ROW - box.clientHeight) * scale() + (scale() < 1 ? 1 : 0);
  }

  async function choose(index) {
    if (total === 0) return;
    chosen = Math.max(0, Math.min(total - 1, index));
    show(chosen);
    render();
    if (!item(chosen)) await load(Math.floor(chosen / PAGE));
    if (item(chosen)) onChoose(item(chosen), chosen);
  }

  box.addEventListener("scroll", perFrame(render), { passive: true });
  new ResizeObserver(perFrame(render)).observe(box);
  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total };
    if (event.key in moves && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      choose(chosen + moves[event.key]);
    }
  });

  return {
    node: h("div", { class: "virtual-frame" }, box, note),
    box,
    /** Fetch from the start: the question has changed. Rows stay on screen until the answer is there. */
    async reload() {
      generation += 1;
      pages = new Map();
      chosen = -1;
      box.scrollTop = 0;
      await load(0);
      render();
    },
    /** The item at an index, fetched where it has not been yet. */
    async fetch(index) {
      if (!item(index)) await load(Math.floor(index / PAGE), true);
      return item(index);
    },
    step: (by) => choose(chosen < 0 ? 0 : chosen + by),
    choose,
    mark(index) {
      chosen = index;
      if (index >= 0) show(index);
      render();
    },
    get total() {
      return total;
    },
    get chosen() {
      return chosen;
    },
    item,
  };
}
