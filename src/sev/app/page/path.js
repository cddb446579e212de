// The path of the score through the changes, one at a time; and every combination of a few of them.

import { bdi, h, put } from "./dom.js";
import { hypercubeChart, markIcon, pathChart } from "./chart.js";

/** What a step changes, with both values where the set tells them. */
function stepText(step, changes, app) {
  const change = changes.find((one) => one.feature === step.feature);
  if (!change) return app.nodes("path_step", {}, { feature: bdi(step.label ?? "", 200) });
  return app.nodes("path_step_values", {}, { feature: bdi(change.label, 200), old: bdi(change.old_text, 100), new: bdi(change.new_text, 100) });
}

function stepList(steps, changes, app) {
  return h("ol", { class: "steps", start: 0 }, steps.map((step, index) => h("li", {},
    h("span", {}, markIcon(step.positive)),
    h("span", {}, index === 0 ? app.t("path_start") : stepText(step, changes, app)),
    h("span", { class: "number" }, app.format.score(step.score), index ? h("span", { class: "note" }, ` (${app.format.change(step.score - steps[index - 1].score)})`) : null),
  )));
}

function cubePart(cube, app, width) {
  const names = cube.features;
  const vertices = cube.vertices.map((vertex) => ({ ...vertex, changed: vertex.changed.map((name) => names.indexOf(name)).sort((a, b) => a - b) }));
  const count = vertices.filter((vertex) => !vertex.positive).length;
  const label = app.t("cube_alt", {}, { n: app.format.count(vertices.length), turned: app.format.count(count), decision: app.otherLabel() });
  return [
    h("h3", {}, app.t("cube_title")),
    h("p", { class: "note" }, app.nodes("cube_note", {}, { decision: app.otherLabel() })),
    hypercubeChart({ features: names, vertices, label, format: app.format, width }),
    h("ol", { class: "cube-names note" }, names.map((name) => h("li", {}, bdi(app.feature(name)?.label ?? name, 200)))),
  ];
}

/** The panel of the path. */
export function makePath(app) {
  const node = h("div", { class: "panel-body" });
  let drawn = "";
  function update() {
    const { answer } = app.session;
    const shown = app.currentSet();
    const width = app.chartWidth(node);
    const key = JSON.stringify([Boolean(answer), shown?.path, answer?.cube, app.store.get().set, width]);
    if (key === drawn) return;
    drawn = key;
    const steps = (shown?.path ?? []).filter((step) => step.score !== null);
    if (steps.length < 2) return void put(node, h("p", { class: "note" }, answer ? app.t("path_none") : "…"));
    const described = steps.map((step) => app.format.score(step.score)).join(" → ");
    const fits = answer.cube && shown && answer.cube.features.length === shown.features.length && answer.cube.features.every((name) => shown.features.includes(name));
    put(node,
      pathChart({ steps, threshold: answer.threshold, label: app.t("path_alt", {}, { scores: described }), format: app.format, width }),
      stepList(steps, shown.changes, app),
      fits && shown.features.length > 1 ? cubePart(answer.cube, app, width) : null,
    );
  }
  return { node, update };
}
