// Elements from data. Text only ever becomes a text node: nothing in this page parses markup.

const SVG = "http://www.w3.org/2000/svg";
let counter = 0;

/** An id that is unique in this document, for labels and descriptions. */
export const uid = (prefix) => `sev-${prefix}-${++counter}`;

function setProperty(node, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (name === "style") for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
  else if (name === "dataset") Object.assign(node.dataset, value);
  else if (["value", "checked", "disabled", "selected", "readOnly", "indeterminate"].includes(name)) node[name] = value;
  else node.setAttribute(name, value === true ? "" : String(value));
}

function fill(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/** An HTML element: h("p", {class: "note"}, "text", node, …). */
export function h(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  // a range or number needs its limits before its value, or the browser clips the value
  const { value, ...rest } = properties;
  for (const [name, one] of Object.entries(rest)) setProperty(node, name, one);
  fill(node, children);
  setProperty(node, "value", value);
  return node;
}

/** An SVG element. */
export function s(tag, properties = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, one] of Object.entries(properties)) setProperty(node, name, one);
  return fill(node, children);
}

/** Replace what an element holds; it keeps its children when they are the same nodes. */
export function put(node, ...children) {
  node.replaceChildren();
  return fill(node, children);
}

/**
 * A text without the marks that reorder all that follows (embeddings, overrides, isolates). A name from the data may hold
 * one that it never closes; letters of right-to-left languages need none.
 */
export const withoutReordering = (text) => String(text).replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

/** Change a text only when it differs, so that live regions do not repeat themselves. */
export function setText(node, text) {
  const shown = withoutReordering(text);
  if (node.textContent !== shown) node.textContent = shown;
}

/** A name or value from the data: isolated, so that its letters do not reorder what is around it. */
export const bdi = (text, limit = 0) => {
  const whole = withoutReordering(text);
  const shown = limit && whole.length > limit ? `${whole.slice(0, limit)}…` : whole;
  // a narrow column breaks "radio/television" after the stroke, not inside a word
  const node = h("bdi", {}, shown.split(/(?<=[/_])/).map((part, index) => (index ? [h("wbr"), part] : part)));
  if (limit && whole.length > limit) node.title = whole.slice(0, 500);
  return node;
};

// A tab in the background is given no frames: work is done after this many milliseconds then.
const LONGEST_FRAME = 100;

/** Call at most once in a frame, with the newest arguments. */
export function perFrame(work) {
  let waiting = false;
  let newest;
  return (...args) => {
    newest = args;
    if (waiting) return;
    waiting = true;
    const once = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      waiting = false;
      work(...newest);
    };
    const frame = requestAnimationFrame(once);
    const timer = setTimeout(once, LONGEST_FRAME);
  };
}

/** Call when nothing has happened for some milliseconds. */
export function afterPause(work, pause) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), pause);
  };
}

/** Hand a text to the user as a file. */
export function saveFile(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Class of the place where a feature is named: the name of a column stands there as it is, a label begins with a capital. */
export const nameKind = (label, name) => (label === name ? "own-name" : "");
