// What the page shows, in one object; and the link that restores it. The part behind # is never sent to a server.

/** Everything a link can restore. */
export const EMPTY = Object.freeze({
  view: "list", // list | one | groups; wide pages show the list beside the decision
  model: 0,
  row: null, // number of a row of the table
  values: null, // or a person of one's own, by column
  edits: {}, // columns that differ from the row
  limits: {}, // by feature, in place of the explainer's own
  reference: { key: "default" },
  mode: "reference",
  minimise: "features",
  order: "margin",
  min_credibility: 0,
  prefer: null,
  set: 0, // which of the smallest changes is shown
  tab: "path",
  curve: null, // feature of the curve
  by: null, // column of the groups
  scenarios: [], // {name, request}
});

/** What a request depends on. */
export const QUESTION = ["model", "row", "values", "edits", "limits", "reference", "mode", "minimise", "order", "min_credibility", "prefer"];

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** A store whose listeners hear which entries have changed. */
export function makeStore(initial = {}) {
  let state = { ...EMPTY, ...initial };
  const listeners = new Set();
  return {
    get: () => state,
    update(patch) {
      const changed = Object.keys(patch).filter((key) => !same(state[key], patch[key]));
      if (changed.length === 0) return;
      state = { ...state, ...patch };
      for (const listener of [...listeners]) listener(state, new Set(changed));
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function toBase64(text) {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
}

/** The state as the fragment of an address: only what differs from an empty page. */
export function encodeLink(state, revision) {
  const kept = Object.entries(state).filter(([key, value]) => key in EMPTY && !same(value, EMPTY[key]));
  return `#s=${toBase64(JSON.stringify({ ...Object.fromEntries(kept), revision }))}`;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// A link comes from anywhere: an entry of another kind than the page writes is left out.
const FITS = {
  view: (value) => ["list", "one", "groups"].includes(value),
  model: Number.isInteger,
  row: (value) => value === null || (Number.isInteger(value) && value >= 0),
  values: (value) => value === null || isObject(value),
  edits: isObject,
  limits: (value) => isObject(value) && Object.values(value).every(isObject),
  reference: (value) => isObject(value) && typeof value.key === "string",
  mode: (value) => ["reference", "typical", "any"].includes(value),
  minimise: (value) => ["features", "cost"].includes(value),
  order: (value) => ["margin", "closest", "credible"].includes(value),
  min_credibility: (value) => typeof value === "number" && value >= 0 && value <= 1,
  prefer: (value) => value === null || typeof value === "string",
  set: (value) => Number.isInteger(value) && value >= 0,
  tab: (value) => typeof value === "string",
  curve: (value) => value === null || typeof value === "string",
  by: (value) => value === null || typeof value === "string",
  scenarios: (value) => Array.isArray(value) && value.every((one) => isObject(one) && typeof one.name === "string" && isObject(one.request)),
};

/** The state that a fragment holds, or null where it holds none. */
export function decodeLink(fragment) {
  const found = fragment.match(/[#&]s=([\w-]+)/);
  if (!found) return null;
  try {
    const { revision, ...rest } = JSON.parse(fromBase64(found[1]));
    const state = Object.fromEntries(Object.entries(rest).filter(([key, value]) => key in EMPTY && FITS[key](value)));
    return { state: { ...EMPTY, ...state }, revision };
  } catch {
    return null;
  }
}
