// Whom the person is compared with, and what changed values may be.

import { bdi, h, nameKind, put } from "./dom.js";
import { columnsOf, makeControl, valueOf, withUnit } from "./control.js";

// Least credibilities to choose from; a link may hold any other.
const SHARES = [0, 0.05, 0.1, 0.25, 0.5];

/** Whom a model or a person compares with, in the words of the page where it has any. */
function referenceName(reference, app) {
  const { key = "default", name } = reference;
  const known = key === "default" ? name : key;
  return ["mean", "median", "cluster", "nearest", "row", "own"].includes(known) ? app.t(`reference_${known}`) : name;
}

/** Which of several answers is the best: how many changes or how far, which first, and how ordinary the result must be. */
function makeBest(app) {
  const { store } = app;
  const model = app.model();
  const chooser = (entry, values) => {
    const select = h("select", {}, values.map((value) => h("option", { value }, app.t(`${entry}_${value}`))));
    select.addEventListener("change", () => store.update({ [entry]: select.value, set: 0 }));
    return select;
  };
  const minimise = chooser("minimise", ["features", "cost"]);
  const order = chooser("order", model.has_credibility ? ["margin", "closest", "credible"] : ["margin", "closest"]);
  const share = h("select", {});
  share.addEventListener("change", () => store.update({ min_credibility: Number(share.value), set: 0 }));
  const node = h("details", { class: "best" }, h("summary", {}, app.t("best_title")), h("div", { class: "compare" },
    h("label", { class: "field" }, app.t("order"), order),
    model.has_credibility ? h("label", { class: "field", title: app.t("credibility_help") }, app.t("min_credibility"), share) : null,
    model.has_cost ? h("label", { class: "field" }, app.t("minimise"), minimise) : null));
  return {
    node,
    update() {
      const state = store.get();
      const shares = [...new Set([...SHARES, state.min_credibility])].sort((one, other) => one - other);
      if (share.options.length !== shares.length) put(share, shares.map((value) => h("option", { value }, value ? app.t("min_credibility_share", {}, { share: app.format.share(value) }) : app.t("min_credibility_none"))));
      share.value = state.min_credibility;
      order.value = state.order;
      minimise.value = state.minimise;
      // a choice that is in force is not hidden
      if (state.order !== "margin" || state.min_credibility > 0 || state.minimise !== "features") node.open = true;
      for (const select of [share, order, minimise]) select.disabled = !app.can("edit");
    },
  };
}

/** The choices above the answer. */
export function makeCompare(app) {
  const { store } = app;
  const references = app.model().references.filter((one) => one.key !== "row" || app.about.table);
  const who = h("select", {}, references.map((one) => h("option", { value: one.key }, app.t(`reference_${one.key}`, {}, { name: referenceName({ name: one.label }, app).slice(0, 60) }))));
  const mode = h("select", {}, app.model().values.map((value) => h("option", { value }, app.t(`mode_${value}`))));
  const more = h("div", { class: "lock-more", hidden: true });
  const best = makeBest(app);
  who.addEventListener("change", () => {
    const start = { row: { key: "row", row: store.get().row ?? 0 }, own: { key: "own", values: app.session.answer?.reference.row ?? {} } };
    store.update({ reference: start[who.value] ?? { key: who.value }, set: 0, ...(who.value === "own" ? { tab: "compare" } : {}) });
  });
  mode.addEventListener("change", () => store.update({ mode: mode.value, set: 0 }));
  let drawn = "";
  function update() {
    const { reference, mode: chosen } = store.get();
    best.update();
    who.value = reference.key;
    mode.value = chosen;
    const found = references.find((one) => one.key === reference.key);
    const key = reference.key;
    more.hidden = !(key === "row" || (key === "cluster" && found?.rows.length > 1));
    if (key === drawn) return;
    drawn = key;
    if (key === "row") {
      const field = h("input", { type: "number", min: 1, step: 1, max: app.about.table.rows, value: (reference.row ?? 0) + 1 });
      field.addEventListener("input", () => {
        const row = Number(field.value) - 1;
        if (Number.isInteger(row) && row >= 0 && row < app.about.table.rows) store.update({ reference: { key: "row", row }, set: 0 });
      });
      put(more, h("label", {}, app.t("reference_row_number"), field));
    } else if (key === "cluster" && found?.rows.length > 1) {
      const select = h("select", {}, h("option", { value: "" }, app.t("cluster_nearest")), found.rows.map((row, index) => h("option", { value: index }, found.row_labels[index] ?? app.t("cluster_one", {}, { i: index + 1 }))));
      select.value = reference.cluster ?? "";
      select.addEventListener("change", () => store.update({ reference: { key: "cluster", cluster: select.value === "" ? null : Number(select.value) }, set: 0 }));
      put(more, h("label", {}, app.t("cluster_which"), select));
    } else put(more);
  }
  app.owns(store.listen((state, changed) => {
    if (["reference", "mode", "minimise", "order", "min_credibility"].some((key) => changed.has(key))) update();
  }));
  update();
  const may = app.can("edit");
  who.disabled = !may;
  mode.disabled = !may;
  return h("div", { class: "compare" },
    references.length > 1 ? h("label", { class: "field" }, app.t("compare_with"), who) : null,
    app.model().values.length > 1 ? h("label", { class: "field" }, app.t("mode"), mode) : null,
    more,
    best.node,
  );
}

/** The panel that shows both side by side; the values of one's own are edited here. */
export function makeComparePanel(app) {
  const { store } = app;
  const title = h("p", {});
  const place = h("div", { class: "scroll" });
  const node = h("div", { class: "panel-body" }, title, place);
  let controls = null;

  function drawOwn() {
    if (controls) return;
    controls = app.model().features.map((feature) => {
      const control = makeControl(feature, app, (value) => {
        if (value === undefined) return;
        store.update({ reference: { key: "own", values: { ...store.get().reference.values, ...columnsOf(feature, value) } }, set: 0 });
      });
      return { feature, control };
    });
    put(place, controls.map(({ feature, control }) => h("div", { class: "feature" }, h("div", { class: "names" }, h("label", { for: control.id, class: nameKind(feature.label, feature.name) }, bdi(withUnit(feature), 200))), control.node)));
  }
  function update() {
    const { answer } = app.session;
    if (!answer) return;
    const { reference } = store.get();
    put(title, app.nodes("compared_with", {}, { name: bdi(referenceName(answer.reference, app), 200), score: app.format.score(answer.reference.score) }));
    if (reference.key === "own" && app.can("edit")) {
      drawOwn();
      for (const { feature, control } of controls) control.set(valueOf(feature, { ...answer.reference.row, ...reference.values }));
      return;
    }
    controls = null;
    const rows = app.model().features.map((feature) => [feature, app.textOf(feature, valueOf(feature, answer.row)), app.textOf(feature, valueOf(feature, answer.reference.row))]);
    put(place, h("table", {},
      h("thead", {}, h("tr", {}, ["column_feature", "column_person", "column_reference"].map((key) => h("th", { scope: "col" }, app.t(key))))),
      h("tbody", {}, rows.map(([feature, mine, other]) => h("tr", { class: mine === other ? "same" : "" }, h("th", { scope: "row", class: nameKind(feature.label, feature.name) }, bdi(withUnit(feature), 200)), h("td", {}, bdi(mine, 200)), h("td", {}, bdi(other, 200))))),
    ));
  }
  return { node, update };
}
