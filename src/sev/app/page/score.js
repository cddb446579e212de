// The score against the threshold, and how many decisions of the table would turn with another threshold.

import { bdi, h, put, setText, uid } from "./dom.js";
import { markIcon } from "./chart.js";
import { makeLane } from "./session.js";

/** The decision in one line: what it is, its score, and what it was before the edits. */
export function makeVerdict(app) {
  const node = h("p", { class: "verdict" });
  let drawn = "";
  app.on("answer", update);
  function update() {
    const { answer, base } = app.session;
    if (!answer) return;
    const was = base && base.decision && Object.keys(app.store.get().edits).length ? base : null;
    const key = JSON.stringify([answer.decision, answer.positive, answer.score, was?.decision, was?.score]);
    if (key === drawn) return;
    drawn = key;
    const kind = { true: "positive", false: "negative" }[answer.positive] ?? "unknown";
    put(node,
      markIcon(answer.positive),
      h("strong", { class: kind }, bdi(answer.decision ? app.decisionName(answer.decision) : app.t("no_decision"), 100)),
      h("span", { class: "number" }, app.t("score_is", {}, { score: app.format.score(answer.score), threshold: app.format.score(answer.threshold) })),
      // always there, so that the first edit moves nothing
      h("span", { class: "note before" }, was ? app.nodes("was_decided", {}, { decision: bdi(app.decisionName(was.decision), 100), score: app.format.score(was.score) }) : "\u00a0"),
    );
  }
  update();
  return { node, update };
}

function rangeOfScores(model, answer, histogram) {
  if (model.score_kind === "probability") return [0, 1];
  const known = [answer?.threshold, answer?.score, ...(histogram?.edges ?? [])].filter(Number.isFinite);
  const low = Math.min(...known);
  const high = Math.max(...known);
  const spare = (high - low || 1) * 0.05;
  return [low - spare, high + spare];
}

/** The card with the bar. */
export function makeScore(app) {
  const heading = h("h2", { id: uid("score"), class: "visually-hidden" }, app.t("score_title"));
  const verdict = makeVerdict(app);
  const over = h("span", { class: "over" });
  const at = h("span", { class: "at" });
  const before = h("span", { class: "at before" });
  const limit = h("span", { class: "limit" });
  const above = h("span", { class: "label above number" });
  const below = h("span", { class: "label below number" });
  const slider = h("input", { type: "range", step: "any", "aria-label": app.t("threshold_move") });
  const bar = h("div", { class: "score-bar" }, h("div", { class: "rail" }, over), slider, limit, before, at, above, below);
  const field = h("input", { type: "number", step: "0.01", "aria-label": app.t("threshold_field") });
  const turned = h("span", { role: "status" }, h("span", { class: "note" }, app.t("threshold_hint")));
  const back = h("button", { type: "button", class: "square", style: { visibility: "hidden" }, "aria-label": app.t("threshold_back"), title: app.t("threshold_back"), onclick: () => move(app.model().threshold) }, "↺");
  const line = h("div", { class: "threshold-line" }, h("label", { class: "note" }, app.t("threshold_try"), field), back, turned);
  const node = h("section", { class: "card score", "aria-labelledby": heading.id }, heading, verdict.node, bar, app.can("threshold") ? line : null);
  let tried = app.model().threshold;
  let histogram = null;

  const lane = makeLane(app.api, "threshold", (answer) => {
    histogram = answer.histogram ?? histogram;
    const values = { n: answer.become_positive + answer.become_negative };
    const labels = { target: app.decisionName(app.model().target).slice(0, 80), other: app.otherLabel() };
    const counts = { n: app.format.count(values.n), more: app.format.count(answer.become_positive), fewer: app.format.count(answer.become_negative), known: app.format.count(answer.known), ...labels };
    put(turned, app.nodes("turned", values, counts), answer.complete ? null : ` ${app.t("known_so_far", {}, { known: counts.known, total: app.format.count(answer.total) })}`);
    draw();
  }, (error) => setText(turned, error.message));

  function move(value) {
    const [low, high] = rangeOfScores(app.model(), app.session.answer, histogram);
    tried = Math.max(low, Math.min(high, value));
    back.style.visibility = Math.abs(tried - app.model().threshold) < 1e-9 ? "hidden" : "";
    lane.ask({ model: app.store.get().model, value: tried });
    draw();
  }
  function draw() {
    const { answer, base } = app.session;
    const [low, high] = rangeOfScores(app.model(), answer, histogram);
    const place = (node, value) => {
      node.hidden = !Number.isFinite(value);
      node.style.left = `${(100 * (Math.max(low, Math.min(high, value)) - low)) / (high - low)}%`;
    };
    slider.min = low;
    slider.max = high;
    slider.value = tried;
    slider.setAttribute("aria-valuetext", app.format.score(tried));
    if (field.getRootNode().activeElement !== field) field.value = Number(tried.toFixed(4));
    over.style.left = `${(100 * (tried - low)) / (high - low)}%`;
    place(limit, tried);
    place(below, tried);
    setText(below, app.t("threshold_is", {}, { threshold: app.format.score(tried) }));
    place(at, answer?.score ?? NaN);
    place(above, answer?.score ?? NaN);
    setText(above, app.format.score(answer?.score));
    if (answer) put(at, markIcon(answer.positive));
    const moved = base && answer && Math.abs(base.score - answer.score) > 1e-12;
    place(before, moved ? base.score : NaN);
    if (moved) put(before, markIcon(base.positive));
    // the labels stay inside the bar
    for (const label of [above, below]) {
      const share = parseFloat(label.style.left);
      label.style.transform = `translateX(${share < 8 ? "-10%" : share > 92 ? "-90%" : "-50%"})`;
    }
  }
  slider.addEventListener("input", () => move(Number(slider.value)));
  field.addEventListener("input", () => {
    if (field.value !== "" && Number.isFinite(Number(field.value))) move(Number(field.value));
  });
  slider.disabled = !app.can("threshold");
  app.on("answer", draw);
  draw();
  return { node, verdict };
}
