// The answer: "now, instead", a sentence, how certain it is, and every other smallest change.

import { bdi, h, nameKind, put, setText, uid } from "./dom.js";
import { markIcon } from "./chart.js";
import { columnsOf } from "./control.js";
import { priceText } from "./locks.js";

const KINDS = { proven: "proven", at_least: "open", none_proven: "none", none_tried: "open", undecided: "open", nothing_to_undo: "open", error: "open" };

/** The short name of how certain an answer is. */
export function certaintyText(answer, app) {
  const n = app.format.count(answer.lower_bound ?? 0);
  if (answer.certainty === "proven" && answer.scope === "tried") return app.t("certainty_tried");
  return app.t(`certainty_${answer.certainty}`, {}, { n });
}

// letters of one word of the sentence; a category without a space may have thousands
const LONGEST_WORD = 200;
const shortened = (text) => text.replace(new RegExp(`\\S{${LONGEST_WORD + 1},}`, "gu"), (word) => `${word.slice(0, LONGEST_WORD)}…`);

/** What a proof says beside its badge: a badge that says "proven" is not followed by "Proven:". */
function proofText(badge, proof, app) {
  const first = [badge, app.t("certainty_proven")].find((word) => badge.includes(word) && proof.toLowerCase().startsWith(`${word.toLowerCase()}: `));
  if (!first) return proof;
  const rest = proof.slice(first.length + 2);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

function makeRow(change, app) {
  const price = h("span", { class: "price" });
  const found = app.feature(change.feature);
  const fix = h("button", { type: "button", class: "quiet", "aria-label": app.t("fix_of", { feature: change.label }), onclick: () => app.fix(change.feature) }, app.t("fix"));
  const take = h("button", { type: "button", class: "quiet", "aria-label": app.t("take_of", { feature: change.label, value: change.new_text }), onclick: () => {
    app.store.update({ edits: { ...app.store.get().edits, ...columnsOf(found, change.new) }, set: 0 });
  } }, app.t("take"));
  const range = change.enough_text;
  const enough = range && range !== change.new_text ? h("span", { class: "note" }, app.nodes("enough", {}, { range: bdi(range, 200) })) : null;
  // the roles are stated because a narrow page lays rows out as blocks, which would take the table's meaning away
  const node = h("tr", { role: "row" },
    h("th", { scope: "row", role: "rowheader", class: nameKind(change.label, change.feature) }, bdi(change.label, 200)),
    h("td", { role: "cell", "data-label": app.t("column_now") }, bdi(change.old_text, 200)),
    h("td", { role: "cell", class: "instead", "data-label": app.t("column_instead") }, bdi(change.new_text, 200), enough, app.can("edit") ? take : null),
    app.can("price") ? h("td", { role: "cell", class: "fixing", "data-label": app.t("column_price") }, price, app.can("edit") ? fix : null) : null,
  );
  return { node, showPrice: (one) => {
    setText(price, one ? priceText(one, app) : app.session.pricing ? "…" : "");
    price.className = `price ${one?.outcome ?? ""}`;
  } };
}

/** The table of one set, and a function that fills in the prices. */
function makeTable(set, app) {
  const rows = set.changes.map((change) => [change.feature, makeRow(change, app)]);
  const heads = ["column_feature", "column_now", "column_instead", ...(app.can("price") ? ["column_price"] : [])];
  const node = h("table", { class: "changes", role: "table", "aria-label": app.t("answer_caption") },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map((key) => h("th", { scope: "col", role: "columnheader" }, app.t(key))))),
    h("tbody", { role: "rowgroup" }, rows.map(([, row]) => row.node)),
  );
  return { node, showPrices: (prices) => rows.forEach(([name, row]) => row.showPrice(prices.get(name))) };
}

function setFacts(set, app) {
  const { format } = app;
  const becomes = set.becomes ? [markIcon(false), " ", ...app.nodes("then", {}, { decision: bdi(app.decisionName(set.becomes), 100), score: format.score(set.result_score) })] : app.nodes("then_score", {}, { score: format.score(set.result_score) });
  return h("ul", { class: "facts" },
    h("li", {}, becomes),
    typeof set.credibility === "number" ? h("li", { title: app.t("credibility_help") }, app.t("credibility", {}, { share: format.share(set.credibility) })) : null,
    typeof set.distance?.largest === "number" ? h("li", {}, app.t("distance", {}, { largest: format.rough(set.distance.largest) })) : null,
  );
}

/** Pages through the smallest changes, and puts those with a chosen feature first. */
function makePager(app) {
  const { store } = app;
  const go = (by) => store.update({ set: Math.max(0, Math.min((app.session.answer?.sets.length ?? 1) - 1, store.get().set + by)) });
  const text = h("span", { class: "grow", role: "status" });
  const previous = h("button", { type: "button", class: "square", "aria-label": app.t("previous_set"), onclick: () => go(-1) }, "‹");
  const next = h("button", { type: "button", class: "square", "aria-label": app.t("next_set"), onclick: () => go(1) }, "›");
  const prefer = h("select", {}, h("option", { value: "" }, app.t("prefer_none")),
    app.model().features.map((feature, index) => h("option", { value: index }, feature.label.slice(0, 60))));
  const first = h("label", { class: "first" }, app.t("prefer"), prefer);
  prefer.addEventListener("change", () => store.update({ prefer: prefer.value === "" ? null : app.model().features[Number(prefer.value)].name, set: 0 }));
  const node = h("div", { class: "pager", hidden: true }, previous, next, text, app.can("edit") ? first : null);
  return {
    node,
    go,
    update() {
      const { answer } = app.session;
      const count = answer?.sets.length ?? 0;
      const shown = Math.min(store.get().set, count - 1);
      node.hidden = count === 0;
      // which one comes first is no question where there is one; its place is kept, so that nothing moves
      first.style.visibility = count > 1 || store.get().prefer ? "" : "hidden";
      previous.disabled = shown <= 0;
      next.disabled = shown >= count - 1;
      const n = app.format.count(count);
      setText(text, count === 1 && answer.sets_complete ? app.t("only_set") : app.t(answer?.sets_complete ? "set_of" : "set_of_more", {}, { i: app.format.count(shown + 1), n }));
      const index = app.model().features.findIndex((feature) => feature.name === store.get().prefer);
      prefer.value = index < 0 ? "" : index;
    },
  };
}

/** The card with the answer. */
export function makeAnswer(app, compare) {
  const heading = h("h2", { id: uid("answer") }, app.t("answer_title"));
  const sentence = h("p", { class: "sentence" });
  const place = h("div", { class: "scroll" }, h("p", { class: "note" }, "…"));
  const facts = h("div", {});
  const badge = h("span", { class: "badge" });
  const proof = h("p", { class: "proof", hidden: true }, badge, h("span", {}));
  const notes = h("div", {});
  const live = h("p", { class: "visually-hidden", "aria-live": "polite" });
  const pager = makePager(app);
  const body = h("div", { class: "answer" }, place, facts, pager.node, sentence, proof, notes);
  const node = h("section", { class: "card", "aria-labelledby": heading.id }, h("div", { class: "answer-head" }, heading, compare), body, live);
  let table = null;
  let drawn = "";

  function showNotes(answer) {
    const lines = [];
    if (answer.broken_rules.length) lines.push(app.nodes("broken_rules", {}, { rules: answer.broken_rules.join("; ").slice(0, 500) }));
    if (answer.unfamiliar.length) {
      const names = answer.unfamiliar.map((column) => app.labelOfColumn(column)).join(", ");
      lines.push(app.nodes("unfamiliar", {}, { features: names.slice(0, 500) }));
    }
    if (answer.reason && !answer.sentence.includes(answer.reason)) lines.push([bdi(answer.reason, 500)]);
    put(notes, lines.map((line) => h("p", { class: "note" }, line)));
  }

  function update() {
    const { answer, error } = app.session;
    body.classList.remove("stale");
    if (error || !answer) return;
    const shown = app.currentSet();
    const key = JSON.stringify([shown?.changes, shown?.result_score, answer.status]);
    if (key !== drawn) {
      drawn = key;
      table = shown ? makeTable(shown, app) : null;
      put(place, table ? table.node : h("p", { class: "nothing" }, app.nodes(`no_table_${answer.status}`, {}, { decision: answer.decision ? app.decisionName(answer.decision) : "" })));
      put(facts, shown ? setFacts(shown, app) : null);
    }
    table?.showPrices(app.session.prices);
    pager.update();
    setText(sentence, shortened(shown && app.store.get().set > 0 ? shown.sentence : answer.sentence));
    proof.hidden = false;
    proof.dataset.kind = KINDS[answer.certainty];
    setText(badge, certaintyText(answer, app));
    setText(proof.lastChild, proofText(badge.textContent, answer.proof_beside_sentence, app));
    for (const one of [sentence, proof.lastChild]) one.lang = answer.language;
    showNotes(answer);
    setText(live, app.t("live_answer", {}, { decision: answer.decision ? app.decisionName(answer.decision).slice(0, 100) : "", score: app.format.score(answer.score), proof: certaintyText(answer, app) }));
  }
  app.on("answer", update);
  app.on("prices", () => table?.showPrices(app.session.prices));
  app.on("slow", () => body.classList.add("stale"));
  app.owns(app.store.listen((state, changed) => {
    if (changed.has("set")) update();
  }));
  update();
  return { node, go: pager.go };
}
