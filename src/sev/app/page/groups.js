// Groups of the table: sizes, reasons and shares without a change, by the values of a column.

import { bdi, h, put } from "./dom.js";
import { bar } from "./chart.js";

/** The page of the groups. */
export function makeGroups(app) {
  const { store } = app;
  const columns = app.about.table?.columns ?? [];
  const select = h("select", {}, columns.map((column, index) => h("option", { value: index }, app.labelOfColumn(column.name).slice(0, 80))));
  const status = h("p", { class: "note", role: "status" });
  const place = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": app.t("view_groups") });
  const node = h("div", { class: "groups" }, h("section", { class: "card panel-body" }, h("h2", {}, app.t("groups_title")), h("p", { class: "note" }, app.t("groups_note")),
    h("label", { class: "field narrow" }, app.t("groups_by"), select), status, place));
  select.addEventListener("change", () => store.update({ by: columns[Number(select.value)].name }));
  let asked = 0;

  const shareCell = (share, kind) => h("td", {}, share === null || share === undefined ? "–" : h("span", { class: "share" }, bar(share, kind), h("span", { class: "number" }, app.format.share(share))));
  function drawGroup(group, highest) {
    const reasons = group.reasons.slice(0, 3).map((reason) => `${reason.label.slice(0, 50)} ${app.format.share(reason.share)}`).join(", ");
    return h("tr", {},
      h("th", { scope: "row" }, bdi(group.label, 120)),
      h("td", { class: "number" }, app.format.count(group.rows)),
      shareCell(group.rows ? group.positive / group.rows : null, "none"),
      h("td", {}, group.mean_size === null ? "–" : h("span", { class: "share" }, bar(group.mean_size / highest, ""), h("span", { class: "number" }, app.format.number(Number(group.mean_size.toFixed(2)))))),
      shareCell(group.share_without_change, "none"),
      h("td", {}, bdi(reasons || "–", 300)),
    );
  }
  function draw(answer) {
    const highest = Math.max(1, ...answer.groups.map((group) => group.mean_size ?? 0));
    const target = app.model().target.label.slice(0, 60);
    const heads = [["groups_value", ""], ["groups_rows", "number"], ["groups_positive", ""], ["groups_size", ""], ["groups_without", ""], ["groups_reasons", ""]];
    put(place, h("table", {},
      h("thead", {}, h("tr", {}, heads.map(([key, kind]) => h("th", { scope: "col", class: kind }, app.nodes(key, {}, { target }))))),
      h("tbody", {}, answer.groups.map((group) => drawGroup(group, highest))),
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
