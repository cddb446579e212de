// The page in a notebook: questions travel over the widget's own channel.

import { mount } from "./main.js";
import { h } from "./dom.js";

// A kernel answers one call after the other, whether or not somebody still waits for it. So one is sent at a time, and of
// those that wait, edits go first and dropped ones are never sent. After this many milliseconds an answer is given up:
// an interrupted kernel sends none.
const LONGEST = 30000;

/** Calls of the page over the channel of a widget model. */
export function makeApi(model) {
  let waiting = [];
  let sent = null;
  let last = 0;

  function sendNext() {
    if (sent || !waiting.length) return;
    sent = waiting.find((one) => one.name === "explain") ?? waiting[0];
    waiting = waiting.filter((one) => one !== sent);
    const { id, name, params } = sent;
    sent.timer = setTimeout(() => finish(id, { error: { code: "timeout", message: "", field: null, status: 504 } }), LONGEST);
    model.send({ id, name, params });
  }
  function finish(id, { result, error }) {
    if (sent?.id !== id) return;
    const { timer, resolve, reject } = sent;
    clearTimeout(timer);
    sent = null;
    if (error) reject(error);
    else resolve(result);
    sendNext();
  }
  model.on("msg:custom", (message) => finish(message?.id, message ?? {}));
  return {
    call(name, params, { signal } = {}) {
      const id = `${name}-${++last}`;
      return new Promise((resolve, reject) => {
        waiting.push({ id, name, params, resolve, reject });
        signal?.addEventListener("abort", () => {
          waiting = waiting.filter((one) => one.id !== id);
          reject(new DOMException("superseded", "AbortError"));
        });
        sendNext();
      });
    },
  };
}

/** What a notebook calls: `render({model, el})`. */
export const widget = {
  render({ model, el }) {
    // a shadow root keeps the styles of the notebook out and those of the page in
    const place = h("div", { class: "sev-widget", "data-lm-suppress-shortcuts": "true" });
    const shadow = el.appendChild(place).attachShadow({ mode: "open" });
    const inside = h("div", { class: "sev-widget" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(model.get("css"));
    shadow.adoptedStyleSheets = [sheet];
    shadow.append(inside);
    let page = null;
    let ended = false;
    mount(inside, makeApi(model), { host: "widget", texts: model.get("texts"), language: model.get("language") })
      .then((made) => {
        page = made;
        if (ended) page.end();
      })
      .catch((error) => inside.append(h("p", {}, error.message || String(error))));
    return () => {
      ended = true;
      page?.end();
    };
  },
};
