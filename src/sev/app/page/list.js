// The list of decisions: search, sort, filters, next and previous.

import { afterPause, bdi, h, setText, uid } from "./dom.js";
import { markIcon } from "./chart.js";
import { makeVirtualList } from "./virtual.js";

const STATUSES = ["optimal", "feasible", "unexplainable", "undecided", "not_target", "error"];
const OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "contains", "missing", "present"];

function field(label, control, wide = false) {
  return h("label", { class: wide ? "field wide" : "field" }, label, control);
}

/** Filters as selects; `read()` returns their part of the query. */
function makeFilters(app, onChange) {
  const { columns } = app.about.table;
  const { features } = app.model();
  const option = (value, label) => h("option", { value }, label.length > 70 ? `${label.slice(0, 70)}…` : label);
  const status = h("select", {}, option("", app.t("any")), STATUSES.map((one) => option(one, app.t(`status_${one}`))));
  const size = h("select", {}, option("", app.t("any")), Array.from({ length: Math.min(12, features.length) }, (_, index) => option(index + 1, app.format.count(index + 1))));
  const uses = h("select", {}, option("", app.t("any")), features.map((feature, index) => option(index, feature.label)));
  const sort = h("select", {}, option("", app.t("sort_table")), option("@score", app.t("column_score")), option("@size", app.t("sort_size")), option("@status", app.t("sort_status")),
    columns.map((column, index) => option(index, app.labelOfColumn(column.name))));
  const down = h("button", { type: "button", class: "square", "aria-pressed": "false", "aria-label": app.t("descending"), title: app.t("descending") }, "↓");
  const column = h("select", { "aria-label": app.t("where_column") }, option("", app.t("where_none")), columns.map((one, index) => option(index, app.labelOfColumn(one.name))));
  const operator = h("select", { "aria-label": app.t("where_operator") }, OPERATORS.map((one) => option(one, /[a-z]/.test(one) ? app.t(`operator_${one}`) : one)));
  const value = h("input", { type: "text", "aria-label": app.t("where_value") });
  const where = h("div", { class: "where" }, column, operator, value);
  const node = h("div", { class: "filters", hidden: true },
    field(app.t("filter_status"), status), field(app.t("filter_size"), size), field(app.t("filter_uses"), uses, true),
    h("div", { class: "wide sort-line" }, field(app.t("sort"), sort), down),
    h("div", { class: "wide", role: "group", "aria-label": app.t("where") }, h("span", { class: "field" }, app.t("where")), where),
    h("p", { class: "wide field" }, app.t("list_note")));
  const showWhere = () => {
    // only texts contain something
    const contains = operator.options[OPERATORS.indexOf("contains")];
    contains.disabled = column.value !== "" && columns[Number(column.value)].kind !== "text";
    if (contains.disabled && contains.selected) operator.value = "=";
    operator.hidden = column.value === "";
    value.hidden = column.value === "" || ["missing", "present"].includes(operator.value);
  };
  showWhere();
  for (const one of [status, size, uses, sort, column, operator]) one.addEventListener("change", () => {
    showWhere();
    onChange();
  });
  value.addEventListener("input", afterPause(onChange, 150));
  down.addEventListener("click", () => {
    down.setAttribute("aria-pressed", String(down.getAttribute("aria-pressed") !== "true"));
    onChange();
  });
  function conditions() {
    if (column.value === "") return [];
    const one = columns[Number(column.value)];
    if (["missing", "present"].includes(operator.value)) return [[one.name, operator.value, null]];
    if (value.value === "") return [];
    const number = Number(value.value.replace(",", "."));
    const cell = one.kind === "number" && operator.value !== "contains" ? number : one.kind === "boolean" ? ["true", "1", app.t("yes")].includes(value.value) : value.value;
    return Number.isNaN(cell) ? [] : [[one.name, operator.value, cell]];
  }
  return {
    node,
    read: () => ({
      status: status.value ? [status.value] : [],
      size: size.value ? [Number(size.value)] : [],
      uses: uses.value === "" ? null : features[Number(uses.value)].name,
      sort: sort.value === "" ? null : sort.value.startsWith("@") ? sort.value : columns[Number(sort.value)].name,
      descending: down.getAttribute("aria-pressed") === "true",
      where: conditions(),
    }),
  };
}

/** What a line says below its name. */
function summaryText(item, app) {
  if (!item.known) return "…";
  const labels = (item.features ?? []).map((name) => (app.feature(name)?.label ?? name).slice(0, 40));
  if (labels.length) return app.t("list_changes", { n: item.size }, { n: app.format.count(item.size), features: labels.join(", ") });
  return item.status ? app.t(`status_${item.status}`) : "";
}

/** The column with the list. */
export function makeList(app) {
  const { store } = app;
  const heading = h("h2", { id: uid("list") }, app.t("list_title"));
  const search = h("input", { type: "search", placeholder: app.t("search"), "aria-label": app.t("search"), maxlength: 200 });
  const status = h("p", { class: "note number", role: "status" });
  let filters;
  const query = () => ({ model: store.get().model, search: search.value, ...filters.read() });
  // an order finds nothing: it is no filter
  const filtered = () => JSON.stringify({ ...filters.read(), sort: null, descending: false });
  const isFiltered = () => Boolean(search.value) || filtered() !== untouched;

  const list = makeVirtualList({
    label: app.t("list_title"),
    emptyText: app.t("list_empty"),
    onError: (error) => app.fail(error),
    async fetchPage(offset, limit) {
      const answer = await app.api.call("rows", { ...query(), offset, limit });
      const { format } = app;
      const counted = isFiltered() ? app.t("list_found", { n: answer.total }, { n: format.count(answer.total), all: format.count(answer.table_rows) }) : app.t("list_count", { n: answer.total }, { n: format.count(answer.total) });
      setText(status, answer.complete ? counted : `${counted} ${app.t("known_so_far", {}, { known: format.count(answer.known), total: format.count(answer.table_rows) })}`);
      return { total: answer.total, items: answer.rows, again: answer.pending ? 300 : answer.complete ? 0 : 1000 };
    },
    draw: (item) => [
      markIcon(item.positive),
      h("span", { class: "name" }, bdi(app.nameOf(item), 120)),
      h("span", { class: "number" }, item.known ? app.format.score(item.score) : ""),
      h("span", { class: "what" }, bdi(summaryText(item, app))),
    ],
    onChoose: (item) => app.open(item),
  });
  const reload = () => list.reload();
  filters = makeFilters(app, reload);
  const untouched = filtered();
  search.addEventListener("input", afterPause(reload, 120));
  const toggle = h("button", { type: "button", "aria-expanded": "false", onclick: () => {
    filters.node.hidden = !filters.node.hidden;
    toggle.setAttribute("aria-expanded", String(!filters.node.hidden));
  } }, app.t("filters"));
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      list.box.focus();
      list.choose(0);
    }
  });
  const node = h("section", { class: "decisions", "aria-labelledby": heading.id, id: app.ids.list, tabindex: "-1" }, heading,
    h("div", { class: "search" }, search, toggle), filters.node, status, list.node);
  list.reload().then(async () => {
    const { row } = store.get();
    if (row !== null && !isFiltered() && row < list.total) {
      list.mark(row);
      const item = await list.fetch(row);
      if (item?.row === store.get().row) {
        app.opened = item;
        app.emit("opened");
      }
    }
    // where there is space for both, the first decision that has something to undo is opened beside the list
    if (row === null && store.get().values === null && store.get().view !== "groups" && app.isWide()) {
      const first = Array.from({ length: Math.min(100, list.total) }, (_, index) => index).find((index) => list.item(index)?.positive);
      list.choose(first ?? 0);
    }
  });
  return { node, focusSearch: () => search.focus(), focusList: () => list.box.focus(), step: (by) => list.step(by), reload };
}
