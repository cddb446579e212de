// Groups of the table: sizes, reasons and shares without a change, by the values of a column.

import { bdi, h, put } from "./dom.js";
import { bar } from "./chart.js";

/** The page of the groups. */
export function makeGroups(app) {
  const { store } = app;
  // a column of names has a group for each row
  const columns = (app.about.table?.columns ?? []).filter((column) => column.name !== app.about.table.id_column);
  const select = h("select", {}, columns.map((column, index) => h("option", { value: index }, app.labelOfColumn(column.name).slice(0, 80))));
  const status = h("p", { class: "note", role: "status" });
  const place = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": app.t("view_groups") });
  const node = h("div", { class: "groups" }, h("section", { class: "card panel-body" }, h("h2", {}, app.t("groups_title")), h("p", { class: "note" }, app.t("groups_note")),
    h("label", { class: "field narrow" }, app.t("groups_by"), select), status, place));
  select.addEventListener("change", () => store.update({ by: columns[Number(select.value)].name }));
  let asked = 0;

  const cell = (label, ...children) => h("td", { role: "cell", "data-label": label }, children);
  const nothing = () => h("span", { class: "share" }, h("span"), h("span", { class: "number" }, "–"));
  const share = (value, kind, text) => (value === null || value === undefined ? nothing() : h("span", { class: "share" }, bar(value, kind), h("span", { class: "number" }, text)));
  function drawGroup(group, highest, heads) {
    const reasons = group.reasons.slice(0, 3).map((reason) => `${reason.label.slice(0, 50)} ${app.format.share(reason.share)}`).join(", ");
    const positive = group.rows ? group.positive / group.rows : null;
    const without = group.share_without_change;
    const count = cell(heads[1], app.format.count(group.rows));
    count.classList.add("number");
    // the roles are stated because a narrow page lays rows out as blocks, which would take the table's meaning away
    return h("tr", { role: "row" },
      h("th", { scope: "row", role: "rowheader", class: "own-name" }, bdi(group.label, 120)),
      count,
      cell(heads[2], share(positive, "none", app.format.share(positive ?? 0))),
      cell(heads[3], group.mean_size === null ? nothing() : share(group.mean_size / highest, "", app.format.mean(group.mean_size))),
      cell(heads[4], share(without, "none", app.format.share(without ?? 0))),
      cell(heads[5], bdi(reasons || "–", 300)),
    );
  }
  function draw(answer) {
    const highest = Math.max(1, ...answer.groups.map((group) => group.mean_size ?? 0));
    const target = app.decisionName(app.model().target).slice(0, 60);
    const heads = [app.t("groups_value"), app.t("groups_rows"), app.t("groups_positive", {}, { target }), app.t("groups_size"), app.t("groups_without", {}, { target }), app.t("groups_reasons")];
    put(place, h("table", { role: "table", "aria-label": app.t("groups_title") },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map((head, index) => h("th", { scope: "col", role: "columnheader", class: index === 1 ? "number" : "" }, bdi(head))))),
      h("tbody", { role: "rowgroup" }, answer.groups.map((group) => drawGroup(group, highest, heads))),
    ));
    put(status, answer.complete ? app.t("groups_all", {}, { n: app.format.count(answer.total) }) : app.t("known_so_far", {}, { known: app.format.count(answer.known), total: app.format.count(answer.total) }));
  }
  async function update() {
    const state = store.get();
    if (state.view !== "groups" || !columns.length) return;
    const by = columns.find((column) => column.name === state.by) ?? columns.find((column) => column.kind !== "number") ?? columns[0];
    select.value = columns.indexOf(by);
    const mine = ++asked;
    try {
      const answer = await app.api.call("groups", { model: state.model, by: by.name });
      if (mine !== asked) return;
      draw(answer);
      if (!answer.complete) setTimeout(() => mine === asked && app.alive && update(), 700);
    } catch (error) {
      if (mine === asked) put(place, h("p", { class: "note" }, error.message));
    }
  }
  app.owns(store.listen((state, changed) => {
    if (["view", "by", "model"].some((key) => changed.has(key))) update();
  }));
  update();
  return { node };
}
