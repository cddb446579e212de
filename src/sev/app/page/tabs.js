// Tabs as the ARIA authoring practices have them: arrow keys move, only the open panel is drawn.

import { h, perFrame, uid } from "./dom.js";

/** `parts` is a list of {key, label, make}; `make()` returns {node, update}. */
export function makeTabs(app, parts) {
  const { store } = app;
  const made = new Map();
  const panel = h("div", { class: "panel", role: "tabpanel", tabindex: "0", id: uid("panel") });
  const buttons = parts.map((part) => h("button", { type: "button", role: "tab", id: uid("tab"), "aria-controls": panel.id, onclick: () => store.update({ tab: part.key }) }, part.label));
  const list = h("div", { class: "tablist", role: "tablist", "aria-label": app.t("tabs") }, buttons);
  list.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const open = parts.findIndex((part) => part.key === openKey());
    const to = event.key === "Home" ? 0 : event.key === "End" ? parts.length - 1 : move ? (open + move + parts.length) % parts.length : -1;
    if (to < 0) return;
    event.preventDefault();
    store.update({ tab: parts[to].key });
    buttons[to].focus();
  });
  const openKey = () => (parts.some((part) => part.key === store.get().tab) ? store.get().tab : parts[0].key);

  function update() {
    const key = openKey();
    parts.forEach((part, index) => {
      buttons[index].setAttribute("aria-selected", String(part.key === key));
      buttons[index].tabIndex = part.key === key ? 0 : -1;
      if (part.key === key) panel.setAttribute("aria-labelledby", buttons[index].id);
    });
    if (!made.has(key)) made.set(key, parts.find((part) => part.key === key).make());
    const { node, update: refresh } = made.get(key);
    if (panel.firstChild !== node) panel.replaceChildren(node);
    refresh();
  }
  app.on("answer", update);
  app.owns(store.listen((state, changed) => {
    if (["tab", "set", "curve", "scenarios"].some((name) => changed.has(name))) update();
  }));
  update();
  let width = 0;
  new ResizeObserver(perFrame(() => {
    if (app.alive && panel.clientWidth !== width) update();
    width = panel.clientWidth;
  })).observe(panel);
  return h("section", { class: "card more", "aria-label": app.t("tabs") }, list, panel);
}
