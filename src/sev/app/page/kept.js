// The one-file page: the scenarios that it holds, in place of the list.

import { bdi, h } from "./dom.js";

/** A choice among the kept scenarios. */
export function makeKept(app) {
  const { scenarios } = app.kept;
  const select = h("select", {}, scenarios.map((one, index) => h("option", { value: index }, one.name.slice(0, 120))));
  select.addEventListener("change", () => app.showKept(Number(select.value)));
  select.value = app.api.chosen;
  return h("div", { class: "case" },
    h("h2", {}, bdi(app.about.title, 200)),
    app.about.models.length > 1 ? h("span", { class: "note" }, bdi(app.model().name, 80)) : null,
    scenarios.length > 1 ? h("label", { class: "field" }, app.t("scenario_which"), select) : bdi(scenarios[0].name, 200));
}
