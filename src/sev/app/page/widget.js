// The page in a notebook: questions travel over the widget's own channel.

import { mount } from "./main.js";
import { h } from "./dom.js";

function makeApi(model) {
  const waiting = new Map();
  let last = 0;
  model.on("msg:custom", (message) => {
    const one = waiting.get(message?.id);
    if (!one) return;
    waiting.delete(message.id);
    if (message.error) one.reject(message.error);
    else one.resolve(message.result);
  });
  return {
    call(name, params, { signal } = {}) {
      const id = `${name}-${++last}`;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        signal?.addEventListener("abort", () => {
          waiting.delete(id);
          reject(new DOMException("superseded", "AbortError"));
        });
        model.send({ id, name, params });
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
