// What a feature may become: fixed, only up, only down, a range, some values; and what fixing it costs.

import { bdi, h, put, setText } from "./dom.js";

const plain = (limits) => !limits.frozen && (limits.direction ?? "any") === "any" && isOpen(limits.low) && isOpen(limits.high) && !limits.relative && !limits.allowed && !limits.moves;
const isOpen = (value) => value === null || value === undefined;

/** Which kind of limit is in force. */
export function kindOf(limits, restricted = false) {
  if (restricted || limits.frozen) return "frozen";
  if (limits.allowed || limits.moves) return "allowed";
  if (limits.relative) return "relative";
  if (!isOpen(limits.low) || !isOpen(limits.high)) return "range";
  if (limits.direction === "up" || limits.direction === "down") return limits.direction;
  return "free";
}

/** Whether a request may name this feature's value as permitted: numbers and features of one column. */
const listable = (feature) => feature.kind === "choice" && feature.columns.length === 1 && feature.choices.length <= 300;

function describe(feature, app) {
  const { limits } = feature;
  if (limits.relative) return app.t("lock_by", {}, { low: limits.relative[0], high: limits.relative[1] });
  if (!isOpen(limits.low) || !isOpen(limits.high)) {
    return `${isOpen(limits.low) ? "" : app.format.value(limits.low)} … ${isOpen(limits.high) ? "" : app.format.value(limits.high)}`;
  }
  return app.t(`lock_${kindOf(limits, feature.restricted)}`);
}

/** What a price means, in few words. */
export function priceText(price, app) {
  if (!price) return "";
  if (price.outcome === "impossible") return app.t("price_impossible");
  if (price.outcome === "undecided") return app.t("price_undecided");
  if (price.outcome === "free") return app.t("price_free", {}, { size: app.format.count(price.size_with ?? 0) });
  return app.t("price_more", {}, { size: app.format.count(price.size_with), before: app.format.count(price.size_without) });
}

/** The lock of one feature in the form. */
export function makeLock(feature, app) {
  const { store } = app;
  const ownKind = kindOf(feature.limits, feature.restricted);
  const kinds = ["free", "frozen"];
  if (feature.kind === "number" || (feature.kind === "choice" && feature.ordered)) kinds.push("up", "down");
  if (feature.kind === "number") kinds.push("range");
  if (listable(feature)) kinds.push("allowed");
  const own = ownKind === "free" ? app.t("lock_free") : app.t("lock_preset", {}, { limit: describe(feature, app) });
  const select = h(
    "select",
    { "aria-label": app.t("lock_of", { feature: feature.label }) },
    h("option", { value: "own" }, own),
    kinds.filter((kind) => kind !== ownKind).map((kind) => h("option", { value: kind }, app.t(`lock_${kind}`))),
  );
  const price = h("span", { class: "price", "aria-live": "polite" });
  const more = h("div", { class: "lock-more", hidden: true });
  const node = h("div", { class: "lock" }, select);

  const set = (limits) => {
    const all = { ...store.get().limits };
    if (limits === null) delete all[feature.name];
    else all[feature.name] = limits;
    store.update({ limits: all, set: 0 });
  };
  const current = () => store.get().limits[feature.name];

  select.addEventListener("change", () => {
    const value = app.valueNow(feature);
    const start = {
      own: null,
      free: {},
      frozen: { frozen: true },
      up: { direction: "up" },
      down: { direction: "down" },
      range: { low: feature.low, high: feature.high },
      allowed: { allowed: feature.choices.map((choice) => choice.value) },
    };
    if (select.value === "range" && typeof value === "number") {
      start.range = { low: Math.min(feature.low ?? value, value), high: Math.max(feature.high ?? value, value) };
    }
    set(start[select.value]);
  });

  function numberField(name) {
    const field = h("input", { type: "number", step: "any", "aria-label": app.t(`lock_${name}_of`, { feature: feature.label }) });
    field.addEventListener("change", () => {
      const limits = { ...current(), [name]: field.value === "" ? null : Number(field.value) };
      const ends = [limits.low, limits.high];
      const wrong = !ends.some(isOpen) && ends[0] > ends[1];
      field.setAttribute("aria-invalid", wrong);
      if (wrong) app.say(app.t("input_problem"));
      else set(limits);
    });
    return field;
  }
  const ends = { low: numberField("low"), high: numberField("high") };

  function choiceBox(choice, limits) {
    const box = h("input", { type: "checkbox", checked: limits.allowed.includes(choice.value) });
    box.addEventListener("change", () => {
      const allowed = feature.choices.map((one) => one.value).filter((one) => (one === choice.value ? box.checked : current().allowed.includes(one)));
      set({ allowed });
    });
    return h("label", {}, box, bdi(choice.label, 120));
  }

  let drawn = "";
  return {
    node,
    more,
    price,
    update() {
      const limits = current();
      const kind = limits === undefined ? "own" : kindOf(limits);
      const value = limits === undefined || (kind === ownKind && plain(limits) === plain(feature.limits) && kind === "free" && !feature.restricted) ? "own" : kind;
      if (![...select.options].some((option) => option.value === value)) select.append(h("option", { value }, app.t(`lock_${kind}`)));
      select.value = value;
      select.title = select.selectedOptions[0].label; // a narrow form cuts a long limit off
      node.classList.toggle("set", limits !== undefined && value !== "own");
      more.hidden = !(kind === "range" || (kind === "allowed" && limits?.allowed));
      if (kind === "range" && limits) for (const [name, field] of Object.entries(ends)) {
        field.value = limits[name] ?? "";
        field.setAttribute("aria-invalid", false);
      }
      if (kind !== drawn) {
        drawn = kind;
        if (kind === "range") put(more, app.t("lock_from"), ends.low, app.t("lock_to"), ends.high);
        else if (kind === "allowed" && limits?.allowed) put(more, feature.choices.map((choice) => choiceBox(choice, limits)));
        else put(more);
      }
    },
    showPrice(found) {
      const locked = current()?.frozen;
      setText(price, locked && found ? app.t("price_form", {}, { price: priceText(found, app) }) : "");
      price.className = `price ${locked && found ? found.outcome : ""}`;
    },
    enable(may) {
      select.disabled = !may;
    },
  };
}
