// Several edits of a person, kept under names and compared; saved as one page or as JSON.

import { bdi, h, put, saveFile } from "./dom.js";
import { markIcon } from "./chart.js";
import { certaintyText } from "./answer.js";
import { withUnit } from "./control.js";
import { personOf } from "./session.js";
import { EMPTY, QUESTION } from "./store.js";

/** Answers of kept scenarios by their request: fetched once each, one after the other. */
function makeKeeper(app, onAnswer) {
  const answers = new Map();
  let running = false;
  async function run() {
    if (running) return;
    running = true;
    for (const { request } of app.store.get().scenarios) {
      const key = JSON.stringify(request);
      if (answers.has(key)) continue;
      answers.set(key, null);
      try {
        answers.set(key, await app.api.call("explain", { ...request, with_path: false, with_cube: false, client: `scenario-${Math.random().toString(36).slice(2)}`, sequence: 1 }));
      } catch (error) {
        answers.set(key, { error });
      }
      onAnswer();
    }
    running = false;
  }
  return { run, get: (request) => answers.get(JSON.stringify(request)), put: (request, answer) => answers.set(JSON.stringify(request), answer) };
}

const editText = (app, request) => {
  const model = app.about.models[request.model] ?? app.model();
  const edited = model.features.filter((feature) => feature.columns.some((column) => column in request.edits));
  const cell = (feature) => app.textOf(feature, feature.columns.length === 1 ? request.edits[feature.columns[0]] : request.edits).slice(0, 60);
  return edited.map((feature) => `${withUnit(feature).slice(0, 80)}: ${cell(feature)}`).join("; ");
};

/** The panel of the scenarios. */
export function makeScenarios(app) {
  const { store } = app;
  const name = h("input", { type: "text", maxlength: 200, placeholder: app.t("scenario_name"), "aria-label": app.t("scenario_name") });
  const place = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": app.t("scenario_title") });
  const keeper = makeKeeper(app, () => update());
  const keep = h("form", { class: "tools", onsubmit: (event) => {
    event.preventDefault();
    const state = store.get();
    const request = personOf(state);
    const chosen = name.value.trim() || app.t("scenario_default", {}, { i: state.scenarios.length + 1 });
    if (app.session.answer && !app.session.stale) keeper.put(request, app.session.answer);
    store.update({ scenarios: [...state.scenarios, { name: chosen, request, set: state.set }] });
    name.value = "";
    app.say(app.t("scenario_kept", {}, { name: chosen }));
  } }, name, h("button", { class: "main" }, app.t("scenario_keep")));
  const link = h("button", { type: "button", onclick: async () => {
    await app.copy(app.link());
    app.say(app.t("link_copied"));
  } }, app.t("link_copy"));
  const save = (format) => async () => {
    const kept = store.get().scenarios;
    const scenarios = (kept.length ? kept : [{ name: app.personName(), request: personOf(store.get()) }]).map((one) => ({ name: one.name.slice(0, 200), request: one.request }));
    try {
      const file = await app.api.call("scenarios", { format, title: app.about.title.slice(0, 200), language: app.texts.language, scenarios });
      const text = typeof file === "string" ? file : file.text ?? JSON.stringify(file, null, 1);
      saveFile(`what-if.${format}`, text, format === "html" ? "text/html" : "application/json");
    } catch (error) {
      app.fail(error);
    }
  };
  const downloads = h("div", { class: "tools" }, app.host === "served" ? link : null,
    h("button", { type: "button", onclick: save("html") }, app.t("save_html")), h("button", { type: "button", onclick: save("json") }, app.t("save_json")));
  const node = h("div", { class: "panel-body" }, keep, place, downloads, h("p", { class: "note" }, app.t("scenario_note")));

  function open(one) {
    const kept = Object.fromEntries(QUESTION.map((key) => [key, one.request[key] ?? EMPTY[key]]));
    store.update({ ...kept, set: 0 });
  }
  const cells = {
    column_person: (one) => bdi(app.personName(one.request), 60),
    scenario_edits: (one) => bdi(editText(app, one.request) || app.t("scenario_unchanged"), 300),
    column_decision: (one, answer) => (answer.error ? bdi(answer.error.message, 200) : [markIcon(answer.positive), " ", bdi(answer.decision ? app.decisionName(answer.decision) : "", 60)]),
    column_score: (one, answer) => (answer.error ? "–" : app.format.score(answer.score)),
    scenario_change: (one, answer) => (answer.error ? "–" : bdi(answer.sets.length ? answer.sets[0].changes.map((change) => `${change.label}: ${change.new_text}`).join("; ") : certaintyText(answer, app), 300)),
  };
  const head = (one, index) => h("th", { scope: "col" },
    h("button", { type: "button", class: "quiet", onclick: () => open(one) }, bdi(one.name, 100)),
    h("button", { type: "button", class: "quiet", "aria-label": app.t("scenario_remove_of", { name: one.name }), onclick: () => store.update({ scenarios: store.get().scenarios.filter((other, place) => place !== index) }) }, "×"));
  function update() {
    const { scenarios } = store.get();
    keeper.run();
    if (scenarios.length === 0) return void put(place, h("p", { class: "note" }, app.t("scenario_none")));
    return void put(place, h("table", { class: "beside" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, app.t("scenario_which")), scenarios.map(head))),
      h("tbody", {}, Object.entries(cells).map(([key, cell]) => h("tr", {}, h("th", { scope: "row" }, app.t(key)),
        scenarios.map((one) => {
          const answer = keeper.get(one.request);
          return h("td", {}, answer || cell.length < 2 ? cell(one, answer) : "…");
        })))),
    ));
  }
  return { node, update };
}
