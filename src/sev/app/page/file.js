// The page as one file: it holds its answers, and asks nobody.

import { mount } from "./main.js";

/** Answers from what the file holds. */
function makeApi(document) {
  const refuse = (name) => {
    throw { code: "read_only", message: `${name}: this file holds only what was kept`, field: null, status: 403 };
  };
  const api = {
    chosen: 0,
    choose: (index) => {
      api.chosen = index;
    },
    async call(name, params) {
      const kept = document.scenarios[api.chosen];
      const found = {
        about: () => document.about,
        explain: () => kept.explain,
        reasons: () => kept.reasons,
        price: () => kept.prices,
        curve: () => kept.curves[params.feature],
      }[name]?.();
      return found ?? refuse(name);
    },
  };
  return api;
}

const data = JSON.parse(document.getElementById("sev-data").textContent);
const element = document.getElementById("sev");
mount(element, makeApi(data.document), { host: "file", texts: data.texts, language: data.language, kept: data.document }).catch((error) => {
  element.textContent = error.message || String(error);
});
