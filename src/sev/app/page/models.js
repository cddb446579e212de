// Two or more models beside each other on the same person.

import { bdi, h, put } from "./dom.js";
import { markIcon } from "./chart.js";
import { certaintyText } from "./answer.js";

/** A strip with one button per model: its decision and its smallest change; nothing where there is one model, or a file of answers. */
export function makeModels(app) {
  if (app.about.models.length < 2 || app.host === "file") return null;
  const place = h("div", { class: "models" });
  const node = h("section", { class: "card", "aria-label": app.t("models_title") }, h("h3", {}, app.t("models_title")), place);

  function summary(answer) {
    if (!answer) return h("span", { class: "note" }, "…");
    if (answer.error) return h("span", { class: "note" }, bdi(answer.error.message, 200));
    const labels = answer.sets[0]?.changes.map((change) => change.label.slice(0, 60)).join(", ");
    return [
      h("span", {}, markIcon(answer.positive), " ", bdi(answer.decision ? app.decisionName(answer.decision) : "", 60), " ", h("span", { class: "number" }, app.format.score(answer.score))),
      h("span", { class: "note" }, bdi(labels || certaintyText(answer, app), 200)),
    ];
  }
  function update() {
    const current = app.store.get().model;
    put(place, app.about.models.map((model) => h("button", {
      type: "button",
      "aria-pressed": String(model.index === current),
      // what the other model cannot order by is not asked of it
      onclick: () => app.store.update({ model: model.index, set: 0, prefer: null, ...(model.has_credibility ? {} : { order: "margin", min_credibility: 0 }) }),
    }, h("strong", {}, bdi(model.name, 80)), summary(model.index === current ? app.session.answer : app.session.beside.get(model.index)))));
  }
  app.on("answer", update);
  app.on("beside", update);
  update();
  return node;
}
