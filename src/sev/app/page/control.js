// The input of one feature: a number with a slider, a choice, or a date. Used by the form and by a comparison of one's own.

import { h, uid } from "./dom.js";
import { sparkHistogram } from "./chart.js";

// a list of more choices than this is typed into instead of unfolded
const MANY_CHOICES = 300;

const isMissing = (value) => value === null || value === undefined;
export const sameValue = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** The value of a feature in a row: a cell, or an object where the feature has several columns. */
export function valueOf(feature, row) {
  if (feature.columns.length === 1) return row[feature.columns[0]] ?? null;
  return Object.fromEntries(feature.columns.map((column) => [column, row[column] ?? null]));
}

/** The name of a feature above or beside its bare values. */
export const withUnit = (feature) => (feature.unit ? `${feature.label} (${feature.unit})` : feature.label);

/** The columns that a value of a feature sets. */
export const columnsOf = (feature, value) =>
  feature.columns.length === 1 ? { [feature.columns[0]]: value } : { ...value };

/** A round step that divides a range into about two hundred. */
export function stepOf(feature) {
  if (feature.step) return feature.step;
  if (feature.integer) return 1;
  const span = (feature.high ?? 1) - (feature.low ?? 0);
  return span > 0 ? 10 ** Math.floor(Math.log10(span / 100)) : 1;
}

/** The ends of a slider, on multiples of its step. */
export function rangeOf(feature) {
  const step = stepOf(feature);
  const round = (value) => Number(value.toPrecision(12));
  const low = round(Math.floor((feature.low ?? 0) / step + 1e-9) * step);
  const high = round(Math.ceil((feature.high ?? 1) / step - 1e-9) * step);
  return { low, high: high > low ? high : low + step, step };
}

/** The first figures of a long fraction, which a field would cut off. */
const brief = (value) => (String(value).length > 10 && !Number.isInteger(value) ? Number(value.toPrecision(Math.abs(value) >= 1e4 ? 9 : 5)) : value);

function makeNumber(feature, app, id, onEdit) {
  const { low, high, step } = rangeOf(feature);
  const field = h("input", { type: "number", id, step: "any", inputmode: "decimal", autocomplete: "off" });
  const slider = h("input", { type: "range", min: low, max: high, step, "aria-label": app.t("slider_of", { feature: feature.label }) });
  const enough = h("span", { class: "enough", hidden: true });
  const origin = h("span", { class: "origin", hidden: true });
  const place = (node, value) => {
    const share = Math.max(0, Math.min(1, (value - low) / (high - low)));
    node.style.left = `calc(8px + (100% - 16px) * ${share.toFixed(5)})`;
  };
  const spark = feature.histogram ? sparkHistogram(feature.histogram.edges, feature.histogram.counts, low, high) : null;
  const node = h("div", { class: "control" }, h("div", { class: "slider" }, spark, enough, origin, slider), field);
  // all figures are there while the field is edited
  let exact = null;
  const swap = (from, to) => field.value !== "" && Number(field.value) === from && (field.value = to);
  field.addEventListener("focus", () => exact === null || swap(brief(exact), exact));
  field.addEventListener("blur", () => exact === null || swap(exact, brief(exact)));
  field.addEventListener("input", () => {
    const value = field.value === "" ? null : Number(field.value);
    exact = value;
    const wrong = field.validity.badInput || (value === null && !feature.may_be_missing) || (value !== null && !Number.isFinite(value));
    field.setAttribute("aria-invalid", String(wrong));
    if (wrong) return onEdit(undefined);
    if (value !== null) slider.value = value;
    return onEdit(value);
  });
  slider.addEventListener("input", () => {
    const value = Number(Number(slider.value).toPrecision(12));
    exact = value;
    field.value = value;
    field.setAttribute("aria-invalid", "false");
    onEdit(value);
  });
  return {
    node,
    label: field,
    set(value) {
      const focused = field.getRootNode().activeElement === field;
      if (!focused || (field.value !== "" && Number(field.value) !== value && !isMissing(value))) {
        exact = value ?? null;
        field.value = isMissing(value) ? "" : focused ? value : brief(value);
        field.setAttribute("aria-invalid", "false");
      }
      field.placeholder = isMissing(value) ? app.t("missing") : "";
      if (!isMissing(value) && Number(slider.value) !== value) slider.value = value;
      slider.setAttribute("aria-valuetext", app.format.value(value));
      slider.classList.toggle("empty", isMissing(value));
    },
    enable(may) {
      field.readOnly = !may;
      slider.disabled = !may;
    },
    /** Show which values do, and where the row was. */
    mark(change, was) {
      const range = change?.enough;
      enough.hidden = !range;
      if (range) {
        const from = Math.max(low, range[0] ?? low);
        const to = Math.min(high, range[1] ?? high);
        place(enough, from);
        enough.style.width = `calc((100% - 16px) * ${(Math.max(0, to - from) / (high - low)).toFixed(5)})`;
      }
      origin.hidden = isMissing(was);
      if (!isMissing(was)) place(origin, was);
    },
  };
}

function makeSelect(feature, app, id, onEdit) {
  const select = h("select", { id });
  const known = [];
  const add = (value, label) => {
    known.push(value);
    select.append(h("option", { value: known.length - 1 }, label.length > 120 ? `${label.slice(0, 120)}…` : label));
    return known.length - 1;
  };
  feature.choices.forEach((choice) => add(choice.value, choice.label));
  if (feature.may_be_missing && !known.some(isMissing)) add(null, app.t("missing"));
  select.addEventListener("change", () => onEdit(known[Number(select.value)]));
  return {
    node: h("div", { class: "control choice" }, select),
    label: select,
    set(value) {
      let index = known.findIndex((one) => sameValue(one, value));
      if (index < 0) index = add(value, isMissing(value) ? app.t("missing") : app.textOf(feature, value));
      select.value = index;
    },
    enable: (may) => {
      select.disabled = !may;
    },
    mark() {},
  };
}

function makeTyped(feature, app, id, onEdit) {
  const list = uid("choices");
  const byLabel = new Map(feature.choices.map((choice) => [choice.label, choice.value]));
  const field = h("input", { type: "text", id, list, autocomplete: "off" });
  const options = h("datalist", { id: list }, feature.choices.slice(0, 5000).map((choice) => h("option", { value: choice.label })));
  field.addEventListener("input", () => {
    const wrong = !byLabel.has(field.value);
    field.setAttribute("aria-invalid", String(wrong));
    onEdit(wrong ? undefined : byLabel.get(field.value));
  });
  return {
    node: h("div", { class: "control choice" }, field, options),
    label: field,
    set(value) {
      if (field.getRootNode().activeElement !== field) field.value = isMissing(value) ? "" : app.textOf(feature, value);
    },
    enable: (may) => {
      field.readOnly = !may;
    },
    mark() {},
  };
}

function makeDate(feature, app, id, onEdit) {
  const field = h("input", { type: "date", id });
  field.addEventListener("input", () => onEdit(field.value || null));
  return {
    node: h("div", { class: "control choice" }, field),
    label: field,
    set(value) {
      field.value = isMissing(value) ? "" : String(value).slice(0, 10);
    },
    enable: (may) => {
      field.readOnly = !may;
    },
    mark() {},
  };
}

/** The control of one feature; `onEdit(value)` hears each edit, undefined where the input is not valid. */
export function makeControl(feature, app, onEdit) {
  const id = uid("field");
  const make = feature.kind === "date" ? makeDate : feature.kind === "number" ? makeNumber : feature.choices.length > MANY_CHOICES ? makeTyped : makeSelect;
  return { id, ...make(feature, app, id, onEdit) };
}
