// The keyboard: single keys that act outside of fields, and the dialog that lists them. They can be switched off.

import { h, uid } from "./dom.js";

const KEYS = [["j", "keys_next"], ["k", "keys_previous"], ["[", "keys_previous_set"], ["]", "keys_next_set"], ["/", "keys_search"], ["?", "keys_help"]];

/** The dialog of the keys; `app.help()` opens it. */
export function makeHelp(app, root) {
  const heading = h("h2", { id: uid("help") }, app.t("keys_title"));
  const on = h("input", { type: "checkbox", checked: app.preferences.get("keys") !== "off" });
  on.addEventListener("change", () => app.preferences.set("keys", on.checked ? "on" : "off"));
  const dialog = h("dialog", { "aria-labelledby": heading.id }, heading,
    h("div", { class: "keys" }, KEYS.map(([key, label]) => [h("kbd", {}, key), h("span", {}, app.t(label))])),
    h("p", { class: "note" }, app.t("keys_list")),
    h("p", {}, h("label", {}, on, " ", app.t("keys_on"))),
    h("form", { method: "dialog" }, h("button", { class: "main" }, app.t("close"))));
  root.append(dialog);
  app.help = () => dialog.showModal();
  app.keysOn = () => on.checked;
}

const isField = (node) => Boolean(node?.closest?.("input:not([type=checkbox], [type=range]), select, textarea, dialog"));

/** Single keys, wherever the focus is but in a field. */
export function listenToKeys(app, root) {
  const acts = {
    j: () => app.list?.step(1),
    k: () => app.list?.step(-1),
    "[": () => app.goSet?.(-1),
    "]": () => app.goSet?.(1),
    "/": () => {
      app.store.update({ view: "list" });
      app.list?.focusSearch();
    },
    "?": () => app.help(),
  };
  const act = (event) => {
    // a notebook must not take the keys that are typed here for its own commands
    if (app.host === "widget") event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !app.keysOn()) return;
    const target = event.composedPath()[0];
    if (!(event.key in acts) || isField(target)) return;
    if (["j", "k"].includes(event.key) && app.store.get().view === "groups") return;
    event.preventDefault();
    acts[event.key]();
  };
  const place = app.host === "widget" ? root : document;
  place.addEventListener("keydown", act);
  app.owns(() => place.removeEventListener("keydown", act));
}
