// The person as a form in the types of the columns; every edit is a question.

import { bdi, h, nameKind, setText, uid } from "./dom.js";
import { columnsOf, makeControl, sameValue, valueOf, withUnit } from "./control.js";
import { makeLock } from "./locks.js";

function makeMissingBox(feature, app, onEdit) {
  if (!(feature.kind === "number" && feature.may_be_missing)) return null;
  const box = h("input", { type: "checkbox" });
  box.addEventListener("change", () => {
    const base = app.session.base ? valueOf(feature, app.session.base.row) : null;
    onEdit(box.checked ? null : base ?? feature.quantiles[3] ?? feature.low);
  });
  return { box, node: h("label", { class: "missing-box" }, box, app.t("missing")) };
}

function makeFeature(feature, app) {
  const { store } = app;
  const problem = h("p", { class: "problem", hidden: true, id: uid("problem") });

  let invalid = false;

  function edit(value) {
    invalid = value === undefined;
    problem.hidden = !invalid;
    if (invalid) return setText(problem, app.t("input_problem"));
    const edits = { ...store.get().edits };
    const base = app.session.base?.row ?? app.rowNow();
    for (const [column, cell] of Object.entries(columnsOf(feature, value))) {
      if (base && sameValue(base[column], cell)) delete edits[column];
      else edits[column] = cell;
    }
    return store.update({ edits, set: 0 });
  }
  const control = makeControl(feature, app, edit);
  const missing = makeMissingBox(feature, app, edit);
  const lock = app.can("edit") ? makeLock(feature, app) : null;
  const was = h("span", { class: "was" });
  const undo = h("button", { type: "button", class: "quiet", hidden: true, "aria-label": app.t("undo_of", { feature: feature.label }), onclick: () => edit(valueOf(feature, app.session.base.row)) }, app.t("undo"));
  const label = h("label", { for: control.id, class: nameKind(feature.label, feature.name), title: feature.label.length > 60 ? feature.label.slice(0, 500) : undefined }, bdi(withUnit(feature)));
  control.label.setAttribute("aria-describedby", problem.id);
  const node = h("div", { class: "feature", role: "group", "aria-label": feature.label.slice(0, 200), dataset: { feature: feature.name.slice(0, 200) } },
    h("div", { class: "names" }, label, missing?.node),
    h("div", { class: "limit-of" }, lock?.node),
    control.node, lock?.more, problem,
    // this line is always there: an edit does not move what is below
    app.can("edit") ? h("div", { class: "below" }, was, undo, lock?.price) : null,
  );
  control.enable(app.can("edit"));
  if (missing && !app.can("edit")) missing.box.disabled = true;

  return {
    feature,
    node,
    update() {
      const row = app.rowNow();
      if (!row) return;
      const value = valueOf(feature, row);
      control.set(value);
      if (missing) missing.box.checked = value === null;
      lock?.update();
    },
    /** Marks from the answer: where the row was, which values do. */
    mark(change) {
      const row = app.rowNow();
      const base = app.session.base?.row;
      const edited = Boolean(base && row) && !sameValue(valueOf(feature, base), valueOf(feature, row));
      node.classList.toggle("edited", edited);
      node.classList.toggle("used", Boolean(change));
      undo.hidden = !edited || !app.can("edit");
      setText(was, edited ? app.t("was", {}, { value: app.textOf(feature, valueOf(feature, base)).slice(0, 60) }) : "");
      control.mark(change, edited ? valueOf(feature, base) : null);
    },
    price: (found) => lock?.showPrice(found),
    fail(error) {
      if (invalid) return;
      const mine = error && (error.field === feature.name || feature.columns.includes(error.field));
      problem.hidden = !mine;
      if (mine) setText(problem, error.message);
    },
  };
}

/** The form of the current person. */
export function makeForm(app) {
  const { store } = app;
  const features = app.model().features.map((feature) => makeFeature(feature, app));
  const reset = h("button", { type: "button", class: "quiet", onclick: () => store.update({ edits: {}, set: 0 }) }, app.t("undo_all"));
  const release = h("button", { type: "button", class: "quiet", onclick: () => store.update({ limits: {}, set: 0 }) }, app.t("limits_reset"));
  const find = h("input", { type: "search", placeholder: app.t("find_feature"), "aria-label": app.t("find_feature") });
  find.addEventListener("input", () => {
    const words = find.value.toLocaleLowerCase(app.format.locale);
    for (const one of features) one.node.hidden = !one.feature.label.toLocaleLowerCase(app.format.locale).includes(words);
  });
  const heading = h("h2", { id: uid("form") }, app.t("form_title"));
  const node = h("section", { class: "card form-card", "aria-labelledby": heading.id, tabindex: "-1" },
    h("div", { class: "form-head" }, heading, app.can("edit") ? h("span", { class: "tools" }, release, reset) : null),
    features.length > 12 ? h("div", { class: "find" }, find) : null,
    app.can("edit") ? h("p", { class: "note" }, app.t("form_note")) : null,
    h("div", { class: "form" }, features.map((one) => one.node)),
  );
  const updateValues = () => {
    features.forEach((one) => one.update());
    const state = store.get();
    reset.disabled = Object.keys(state.edits).length === 0;
    release.disabled = Object.keys(state.limits).length === 0;
  };
  const updateMarks = () => {
    const changes = new Map((app.currentSet()?.changes ?? []).map((change) => [change.feature, change]));
    const error = app.session.error;
    for (const one of features) {
      one.mark(changes.get(one.feature.name));
      one.fail(error);
    }
  };
  app.on("answer", () => {
    updateValues();
    updateMarks();
  });
  app.on("prices", () => features.forEach((one) => one.price(app.session.prices.get(one.feature.name))));
  app.owns(store.listen((state, changed) => {
    if (["edits", "limits", "row", "values"].some((key) => changed.has(key))) updateValues();
    if (changed.has("set")) updateMarks();
  }));
  updateValues();
  updateMarks();
  return { node };
}
