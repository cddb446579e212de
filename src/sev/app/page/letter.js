// Reason codes and sentences as they would go out; copied or printed.

import { bdi, h, put, withoutReordering } from "./dom.js";
import { makeLane, personOf } from "./session.js";

// all of it is in the language of its sentences, whatever that of the page is
function drawLetter(answer, app, words) {
  const lang = answer.language;
  const { format } = words;
  const reasons = answer.reasons.map((reason) => h("li", {}, answer.has_codes && reason.code ? h("span", { class: "code" }, bdi(reason.code, 60), " ") : null, bdi(reason.text, 2000)));
  return h("article", { class: "letter", lang },
    h("h3", {}, words.nodes("letter_title", {}, { person: bdi(app.personName(app.store.get(), words), 100) })),
    h("p", {}, words.nodes("letter_decision", {}, { decision: bdi(answer.decision ? app.decisionName(answer.decision, words) : words.t("no_decision"), 100), score: format.score(answer.score), threshold: format.score(answer.threshold) })),
    reasons.length ? [h("p", {}, words.t("letter_reasons")), h("ol", {}, reasons)] : h("p", {}, words.t("letter_no_reasons")),
    h("p", {}, withoutReordering(answer.sentence)),
    answer.proof ? h("p", { class: "note" }, withoutReordering(answer.proof)) : null,
  );
}

/** The letter as plain text, for the clipboard. */
function letterText(node) {
  return [...node.querySelectorAll("h3, p, li")].map((line) => (line.tagName === "LI" ? `${[...line.parentNode.children].indexOf(line) + 1}. ` : "") + line.textContent.trim()).join("\n\n");
}

/** The panel of the letter. */
export function makeLetter(app) {
  const place = h("div", {}, h("p", { class: "note" }, "…"));
  const notes = h("div", {});
  const copy = h("button", { type: "button", onclick: async () => {
    await app.copy(letterText(place));
    app.say(app.t("copied"));
  } }, app.t("copy"));
  const print = h("button", { type: "button", onclick: () => app.printLetter() }, app.t("print"));
  const node = h("div", { class: "panel-body" }, h("div", { class: "tools" }, copy, print), place, notes);
  let asked = "";
  let newest = null;
  const lane = makeLane(app.api, "reasons", async (answer) => {
    newest = answer;
    const words = await app.wordsOf(answer.language);
    if (answer !== newest) return;
    put(place, drawLetter(answer, app, words));
    const label = (name) => app.feature(name)?.label ?? name;
    put(notes,
      answer.cut.length ? h("p", { class: "note" }, app.nodes("letter_cut", {}, { features: answer.cut.map(label).join(", ").slice(0, 500) })) : null,
      answer.hidden.length ? h("p", { class: "note warn" }, app.nodes("letter_hidden", {}, { features: answer.hidden.map(label).join(", ").slice(0, 500) })) : null,
      answer.has_codes ? null : h("p", { class: "note" }, app.t("letter_no_codes")),
    );
  }, (error) => {
    asked = "";
    put(place, h("p", { class: "note" }, error.message));
  });
  function update() {
    const request = personOf(app.store.get());
    const key = JSON.stringify(request);
    if (key === asked || !app.session.answer) return;
    asked = key;
    lane.ask(request);
  }
  return { node, update };
}
