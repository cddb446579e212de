// The page's own texts. Data is put in as isolated nodes, never as markup.

import { bdi, withoutReordering } from "./dom.js";

export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español" };

/** The language of the page: chosen before, else the browser's, else English. */
export function chooseLanguage(wanted) {
  const tags = [wanted, ...(navigator.languages || [])].filter(Boolean).map((tag) => tag.split("-")[0]);
  return tags.find((tag) => tag in LANGUAGES) || "en";
}

/** Lookup of the texts of one language: `t` returns a text, `nodes` isolates what is filled in. */
export function makeTexts(language, table) {
  const plural = new Intl.PluralRules(language);

  function pattern(key, values) {
    const counted = typeof values.n === "number" ? `${key}_${plural.select(values.n) === "one" ? "one" : "other"}` : key;
    const found = table[counted] ?? table[key];
    if (found === undefined) throw new Error(`no text for ${key} in ${language}`);
    return found;
  }
  return {
    language,
    t: (key, values = {}, shown = values) =>
      pattern(key, values).replace(/\{(\w+)\}/g, (whole, name) => (name in shown ? withoutReordering(shown[name]) : whole)),
    nodes: (key, values = {}, shown = values) =>
      pattern(key, values)
        .split(/(\{\w+\})/)
        .filter(Boolean)
        .map((part) => {
          const name = part.match(/^\{(\w+)\}$/)?.[1];
          if (name === undefined || !(name in shown)) return part;
          return shown[name] instanceof Node ? shown[name] : bdi(shown[name], 300);
        }),
  };
}
