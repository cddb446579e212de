// The page as it is served: questions go to the server it came from, and nowhere else.

import { mount } from "./main.js";
import { chooseLanguage } from "./i18n.js";
import { h } from "./dom.js";

const QUERIES = new Set(["about", "rows", "threshold", "groups"]);

/** A token in the fragment is kept for this tab and removed from the address. */
function takeToken() {
  const found = location.hash.match(/[#&]token=([^&]*)/);
  if (found) {
    sessionStorage.setItem("sev-token", decodeURIComponent(found[1]));
    history.replaceState(null, "", location.pathname + location.search + location.hash.replace(/[#&]token=[^&]*/, "").replace(/^&/, "#"));
  }
  return sessionStorage.getItem("sev-token");
}

function queryOf(params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === "" || ["client", "sequence"].includes(name)) continue;
    const several = Array.isArray(value) ? value : [value];
    for (const one of several) query.append(name, name === "where" ? JSON.stringify(one) : String(one));
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}

async function readError(response) {
  const fallback = { code: "internal", message: `${response.status} ${response.statusText}`, field: null };
  const body = await response.json().catch(() => null);
  return { ...fallback, ...body?.error, status: response.status };
}

function makeApi(token) {
  async function call(name, params, { signal } = {}) {
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    let response;
    try {
      response = QUERIES.has(name)
        ? await fetch(`/api/${name}${queryOf(params)}`, { headers, signal })
        : await fetch(`/api/${name}`, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(params), signal });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw { code: "network", message: String(error.message), field: null, status: 0 };
    }
    if (!response.ok) throw await readError(response);
    return name === "scenarios" && params.format === "html" ? response.text() : response.json();
  }
  const about = call("about", {}); // on its way together with the texts
  about.catch(() => {}); // whoever waits for it is told
  return { call: (name, params, options) => (name === "about" ? about : call(name, params, options)) };
}

const loadTexts = async (code) => (await fetch(`/page/languages/${code}.json`)).json();

async function start() {
  const element = document.getElementById("sev");
  try {
    const api = makeApi(takeToken());
    const wanted = chooseLanguage(null);
    const codes = [...new Set(["en", wanted])];
    const texts = Object.fromEntries(await Promise.all(codes.map(async (code) => [code, await loadTexts(code)])));
    element.page = await mount(element, api, { host: "served", texts, loadTexts });
  } catch (error) {
    element.replaceChildren(h("div", { class: "sev" }, h("p", { class: "message", role: "alert" }, error.message || String(error))));
    element.dataset.ready = "failed";
  }
}

start();
