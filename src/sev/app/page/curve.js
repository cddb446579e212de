// How the score moves with one feature while the others stay, over the people of the background.

import { bdi, h, put } from "./dom.js";
import { bar, curveChart, markIcon } from "./chart.js";
import { makeLane, personOf } from "./session.js";

function numberCurve(answer, app, feature, width) {
  const points = answer.points.filter((point) => typeof point.value === "number" && point.score !== null);
  if (points.length < 2) return h("p", { class: "note" }, app.t("curve_none"));
  const change = app.currentSet()?.changes.find((one) => one.feature === feature.name);
  const ranges = answer.ranges.filter((range) => !range.positive);
  const said = ranges.map((range) => range.text).join("; ");
  const decision = app.otherLabel();
  return [
    curveChart({
      points, histogram: answer.histogram, threshold: answer.threshold, format: app.format, width,
      now: typeof answer.now === "number" ? [answer.now, app.session.answer?.positive] : null,
      // where other features change, too, the curve does not pass through the new score
      instead: typeof change?.new === "number" ? [change.new, app.currentSet().changes.length === 1 ? false : null] : null,
      label: app.t("curve_alt", {}, { feature: feature.label.slice(0, 100), decision, ranges: said || app.t("curve_nowhere") }),
    }),
    h("p", {}, ranges.length ? app.nodes("curve_turned", {}, { decision, ranges: bdi(said, 300) }) : app.t("curve_nowhere")),
    h("p", { class: "note" }, app.t("curve_note"), ranges.length ? [" ", app.nodes("curve_shaded", {}, { decision })] : null),
  ];
}

function choiceCurve(answer, app, feature) {
  const highest = Math.max(1, ...answer.counts);
  const now = JSON.stringify(answer.now);
  return h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, bdi(feature.label, 80)), h("th", { scope: "col", class: "number" }, app.t("column_score")), h("th", { scope: "col" }, app.t("curve_people")))),
    h("tbody", {}, answer.points.slice(0, 200).map((point, index) => h("tr", { class: point.permitted ? "" : "same" },
      h("th", { scope: "row" }, markIcon(point.positive), " ", bdi(point.label, 120), JSON.stringify(point.value) === now ? h("span", { class: "note" }, ` (${app.t("curve_now")})`) : null),
      h("td", { class: "number" }, app.format.score(point.score)),
      h("td", {}, h("span", { class: "share" }, bar((answer.counts[index] ?? 0) / highest, ""), h("span", { class: "number" }, app.format.count(answer.counts[index] ?? 0)))),
    ))),
  );
}

/** The panel of the curve. */
export function makeCurve(app) {
  const { store } = app;
  const { features } = app.model();
  const select = h("select", {}, features.map((feature, index) => h("option", { value: index }, feature.label.slice(0, 80))));
  const place = h("div", { class: "panel-body" }, h("p", { class: "note" }, "…"));
  const node = h("div", { class: "panel-body" }, h("label", { class: "field" }, app.t("curve_of"), select), place);
  select.addEventListener("change", () => store.update({ curve: features[Number(select.value)].name }));
  let asked = "";
  const lane = makeLane(app.api, "curve", (answer) => {
    const feature = app.feature(answer.feature);
    if (feature) put(place, answer.kind === "number" ? numberCurve(answer, app, feature, app.chartWidth(place)) : choiceCurve(answer, app, feature));
  }, (error) => {
    asked = "";
    put(place, h("p", { class: "note" }, error.message));
  });
  function update() {
    const chosen = store.get().curve ?? app.currentSet()?.features[0] ?? features.find((feature) => app.kept?.curves?.[feature.name])?.name;
    const feature = app.feature(chosen) ?? features[0];
    select.value = features.indexOf(feature);
    const request = { ...personOf(store.get()), feature: feature.name };
    const key = JSON.stringify([request, app.chartWidth(place), app.currentSet()?.changes.find((one) => one.feature === feature.name)?.new]);
    if (key === asked || !app.session.answer) return;
    asked = key;
    lane.ask(request);
  }
  return { node, update };
}
