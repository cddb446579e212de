// The page: one front end for the served page, the one-file page and the notebook widget.

import { bdi, h, put, setText, uid } from "./dom.js";
import { makeFormat } from "./format.js";
import { LANGUAGES, chooseLanguage, makeTexts } from "./i18n.js";
import { EMPTY, QUESTION, decodeLink, encodeLink, makeStore } from "./store.js";
import { makeSession } from "./session.js";
import { valueOf } from "./control.js";
import { makeAnswer } from "./answer.js";
import { makeCompare, makeComparePanel } from "./compare.js";
import { makeCurve } from "./curve.js";
import { makeForm } from "./form.js";
import { makeGroups } from "./groups.js";
import { makeHelp, listenToKeys } from "./keys.js";
import { makeLetter } from "./letter.js";
import { makeList } from "./list.js";
import { makeModels } from "./models.js";
import { makePath } from "./path.js";
import { makeScenarios } from "./scenarios.js";
import { makeScore, makeVerdict } from "./score.js";
import { makeTabs } from "./tabs.js";
import { makeKept } from "./kept.js";

const SLOW = 250;

/** Preferences of the reader; a page without storage works without. */
const preferences = {
  get: (key) => {
    try {
      return localStorage.getItem(`sev-${key}`);
    } catch {
      return null;
    }
  },
  set: (key, value) => {
    try {
      localStorage.setItem(`sev-${key}`, value);
    } catch {
      // storage is switched off: the choice holds until the page is closed
    }
  },
};

function startState(about, link) {
  const table = about.table && about.table.rows > 0;
  const model = about.models[link?.model ?? 0] ? link?.model ?? 0 : 0;
  const state = { ...EMPTY, ...link, model };
  if (state.row !== null && !(table && state.row < about.table.rows)) state.row = null;
  if (state.row === null && state.values === null && !table) {
    state.values = about.models[model].references.find((one) => one.rows.length)?.rows[0] ?? null;
    state.view = "one";
  }
  return state;
}

/** The state that shows a kept scenario. */
export const keptState = (request) => ({ ...EMPTY, view: "one", ...Object.fromEntries(QUESTION.filter((key) => key in request).map((key) => [key, request[key]])) });

// answers with sentences for whoever reads the page; letters stay in the language in which they go out
const SPOKEN = ["explain", "price", "curve", "groups"];
const speaking = (api, language) => ({ ...api, call: (name, params, more) => api.call(name, SPOKEN.includes(name) ? { ...params, language } : params, more) });

/** What every part of the page is given. */
function makeContext({ element, api, about, store, host, texts, options }) {
  const handlers = new Map();
  const ends = [];
  const app = {
    element, api, about, store, host, texts, options, preferences, alive: true,
    ids: { list: uid("list"), work: uid("work"), answer: uid("answers") },
    t: texts.t,
    nodes: texts.nodes,
    format: makeFormat(texts.language, texts),
    on: (name, handler) => handlers.set(name, [...(handlers.get(name) ?? []), handler]),
    emit: (name) => (handlers.get(name) ?? []).forEach((handler) => handler()),
    owns: (end) => ends.push(end),
    end() {
      app.alive = false;
      ends.forEach((end) => end());
    },
    can(what) {
      if (host === "file") return false;
      if (what === "threshold" || what === "list") return Boolean(about.table);
      return !about.readonly || what === "price";
    },
    model: () => about.models[store.get().model],
    feature: (name) => app.model().features.find((feature) => feature.name === name),
    /** What the decision that is not being explained is called. */
    otherLabel: () => (app.model().other ? app.decisionName(app.model().other) : app.t("not_target", {}, { target: app.model().target.label })).slice(0, 100),
    /** A decision in words; a class that is a bare number says nothing alone. */
    decisionName: (decision, words = app) => (typeof decision.value === "string" || decision.label !== String(decision.value) ? decision.label : words.t("predicted", {}, { label: decision.label })),
    labelOfColumn: (column) => app.model().features.find((feature) => feature.columns.length === 1 && feature.columns[0] === column)?.label ?? column,
    // without a column of names, the number of the row is the name, counted from one
    nameOf: (item, { t, format } = app) => (about.table?.id_column === null || item.id === null || item.id === undefined ? t("row_name", {}, { i: format.count(item.row + 1) }) : String(item.id)),
    personName(request = store.get(), words = app) {
      if (request.row === null || request.row === undefined) return words.t("own_person");
      if (app.opened?.row !== request.row) return words.t("row_name", {}, { i: words.format.count(request.row + 1) });
      const name = app.nameOf(app.opened, words);
      // a number alone is no title
      return /^[\d.,]+$/.test(name) ? `${about.table.id_column} ${name}` : name;
    },
    /** Texts and numbers of a language, for what is not written for the reader of the page. */
    async wordsOf(code) {
      if (code === texts.language) return app;
      const table = options.texts[code] ?? (await options.loadTexts?.(code));
      if (!table) return app;
      options.texts[code] ??= table;
      const other = makeTexts(code, table);
      return { t: other.t, nodes: other.nodes, format: makeFormat(code, other) };
    },
    textOf(feature, value) {
      const found = feature.choices.find((choice) => JSON.stringify(choice.value) === JSON.stringify(value));
      if (found) return found.label;
      return typeof value === "object" && value !== null ? Object.values(value).map(app.format.value).join(", ") : app.format.value(value);
    },
    rowNow() {
      const state = store.get();
      const base = app.session?.base?.row ?? state.values ?? (app.opened?.row === state.row ? app.opened?.cells : null) ?? (app.session?.answer?.row || null);
      return base ? { ...base, ...state.edits } : null;
    },
    valueNow: (feature) => {
      const row = app.rowNow();
      return row ? valueOf(feature, row) : null;
    },
    currentSet() {
      const sets = app.session.answer?.sets ?? [];
      return sets[Math.min(store.get().set, sets.length - 1)] ?? null;
    },
    open(item) {
      app.opened = item;
      store.update({ row: item.row, values: null, edits: {}, prefer: null, set: 0, view: "one" });
    },
    /** Width for a picture in a node: its own, so that text keeps its size. */
    chartWidth: (node) => Math.max(280, Math.min(620, Math.round(node.clientWidth) || 560)),
    isWide: () => element.clientWidth > 1120,
    fix(name) {
      store.update({ limits: { ...store.get().limits, [name]: { frozen: true } }, set: 0 });
    },
    link: () => location.href.split("#")[0] + encodeLink(store.get(), about.revision),
    async copy(text) {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // no permission, or not a secure context: the older way
        const area = h("textarea", { class: "visually-hidden" });
        area.value = text;
        element.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
    },
    printLetter() {
      const root = element.querySelector(".sev") ?? element;
      root.classList.add("printing-letter");
      addEventListener("afterprint", () => root.classList.remove("printing-letter"), { once: true });
      print();
    },
  };
  return app;
}

function makeHeader(app, remount) {
  const { store, about } = app;
  const go = (view) => h("button", { type: "button", dataset: { view }, onclick: () => store.update({ view }) }, app.t(`view_${view}`));
  const views = app.can("list") ? [go("list"), go("groups")] : [];
  const language = h("select", { "aria-label": app.t("language") }, Object.entries(LANGUAGES).filter(([code]) => app.options.loadTexts || app.options.texts[code]).map(([code, name]) => h("option", { value: code, lang: code }, name)));
  language.value = app.texts.language;
  language.addEventListener("change", () => {
    app.preferences.set("language", language.value);
    remount(language.value);
  });
  const theme = h("select", { "aria-label": app.t("theme") }, ["auto", "light", "dark"].map((one) => h("option", { value: one }, app.t(`theme_${one}`))));
  theme.value = app.preferences.get("theme") ?? "auto";
  theme.addEventListener("change", () => {
    app.preferences.set("theme", theme.value);
    app.setTheme(theme.value);
  });
  const help = h("button", { type: "button", class: "square", "aria-label": app.t("keys_title"), title: app.t("keys_title"), onclick: () => app.help() }, "?");
  const update = () => {
    const { view } = store.get();
    views.forEach((button) => {
      const current = view === button.dataset.view || (view === "one" && button.dataset.view === "list");
      if (current) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    });
  };
  app.owns(store.listen(update));
  update();
  return h("header", { class: "top" },
    h("div", { class: "brand" }, h("h1", {}, app.t("brand")), h("span", { class: "note" }, bdi(about.title, 120))),
    views.length ? h("nav", { class: "views", "aria-label": app.t("views") }, views) : null,
    h("div", { class: "tools" }, language, theme, app.host === "file" ? null : help));
}

function makeCase(app, list) {
  const title = h("h2", {});
  const button = (key, arrow, act) => h("button", { type: "button", title: `${app.t(`${key}_row`)} (${key === "next" ? "j" : "k"})`, "aria-label": app.t(`${key}_row`), onclick: act }, arrow, h("span", { class: "word" }, ` ${app.t(`${key}_row`)}`));
  const back = h("button", { type: "button", class: "back", onclick: () => {
    app.store.update({ view: "list" });
    list.focusList();
  } }, "‹ ", app.t("back"));
  const update = () => put(title, bdi(app.personName(), 300));
  app.on("opened", update);
  app.owns(app.store.listen((state, changed) => (changed.has("row") || changed.has("values")) && update()));
  update();
  return h("div", { class: "case" }, list ? back : null, title,
    list ? [button("previous", "↑", () => list.step(-1)), button("next", "↓", () => list.step(1))] : null);
}

function makeWork(app, list) {
  const empty = h("div", { class: "card" }, h("p", {}, app.t("choose_first")), h("p", { class: "note" }, app.t("nothing_leaves")));
  const place = h("div", { class: "work-body" });
  const node = h("section", { class: "work", id: app.ids.work, tabindex: "-1", "aria-label": app.t("case") }, empty, place);
  let built = null;
  const show = () => {
    place.style.visibility = "";
  };

  function build() {
    const model = app.store.get().model;
    const shown = Boolean(app.session.answer || app.rowNow());
    const { row, values } = app.store.get();
    empty.hidden = shown || row !== null || values !== null;
    if (!shown || built === model) return;
    built = model;
    const tabs = [
      { key: "path", make: () => makePath(app) }, { key: "curve", make: () => makeCurve(app) }, { key: "letter", make: () => makeLetter(app) },
      { key: "compare", make: () => makeComparePanel(app) }, ...(app.can("edit") ? [{ key: "scenarios", make: () => makeScenarios(app) }] : []),
    ].map((tab) => ({ ...tab, label: app.t(`tab_${tab.key}`) }));
    const answer = makeAnswer(app, makeCompare(app));
    app.goSet = answer.go;
    const bar = makeVerdict(app).node;
    bar.classList.add("now-bar");
    // its parts grow with the first answer: they are shown together, unless that takes long
    place.style.visibility = app.session.answer ? "" : "hidden";
    setTimeout(show, SLOW);
    place.replaceChildren(...[
      app.host === "file" ? makeKept(app) : makeCase(app, list), makeModels(app),
      h("div", { class: "two" }, makeForm(app).node, h("div", { class: "answers", id: app.ids.answer }, makeScore(app).node, answer.node, makeTabs(app, tabs))),
      bar,
    ].filter(Boolean));
  }
  app.on("answer", build);
  app.on("answer", show);
  app.on("opened", build);
  app.owns(app.store.listen((state, changed) => (changed.has("row") || changed.has("model")) && build()));
  return { node, build };
}

/** Messages: errors stay until closed, confirmations go by themselves; both are live regions. */
function makeMessages(app) {
  const text = h("span", { class: "text" });
  const error = h("div", { class: "message", role: "alert", hidden: true }, text, h("button", { type: "button", class: "quiet", onclick: () => app.session.retry() }, app.t("retry")), h("button", { type: "button", class: "quiet", "aria-label": app.t("close"), onclick: () => {
    error.hidden = true;
  } }, "×"));
  const toast = h("p", { class: "toast", role: "status", hidden: true });
  let timer;
  app.say = (message) => {
    toast.hidden = false;
    setText(toast, message);
    clearTimeout(timer);
    timer = setTimeout(() => {
      toast.hidden = true;
    }, 2500);
  };
  app.fail = (problem) => {
    error.hidden = false;
    const known = { network: "error_network", timeout: "error_timeout", too_many_requests: "error_busy", busy: "error_busy", unauthorized: "error_token" }[problem.code];
    setText(text, known ? app.t(known) : problem.message || app.t("error_unknown"));
  };
  app.on("answer", () => {
    if (app.session.error) app.fail(app.session.error);
    else error.hidden = true;
  });
  return [error, toast];
}

function keepLink(app) {
  if (app.host !== "served") return;
  let timer;
  let row = app.store.get().row;
  const write = (push) => history[push ? "pushState" : "replaceState"](null, "", encodeLink(app.store.get(), app.about.revision));
  app.owns(app.store.listen((state, changed) => {
    clearTimeout(timer);
    if (changed.has("row") && state.row !== row) {
      row = state.row;
      write(true);
    } else timer = setTimeout(() => write(false), 250);
  }));
  const restore = () => {
    clearTimeout(timer);
    const found = decodeLink(location.hash);
    if (!found) return;
    row = found.state.row;
    app.store.update(startState(app.about, found.state));
  };
  addEventListener("popstate", restore);
  app.owns(() => removeEventListener("popstate", restore));
}

/** Put the page into an element. `api.call(name, params, {signal})` answers; `options` are host, texts, language, loadTexts. */
export async function mount(element, api, options) {
  const about = await api.call("about", {});
  about.title = options.kept?.title || about.title || about.models.map((model) => model.name).join(", ");
  const linked = options.host === "served" ? decodeLink(location.hash) : null;
  const store = makeStore(options.kept ? keptState(options.kept.scenarios[0].request) : startState(about, linked?.state));
  let app = null;

  async function build(wanted) {
    const code = chooseLanguage(wanted);
    const table = options.texts[code] ?? (await options.loadTexts?.(code)) ?? options.texts.en;
    options.texts[code] ??= table;
    const texts = makeTexts(options.texts[code] === options.texts.en && code !== "en" ? "en" : code, table);
    const before = app;
    app?.end();
    app = makeContext({ element, api: speaking(api, texts.language), about, store, host: options.host, texts, options });
    app.opened = before?.opened;
    app.kept = options.kept;
    app.showKept = (index) => {
      api.choose(index);
      store.update(keptState(options.kept.scenarios[index].request));
      app.session.start();
    };
    app.session = makeSession(app);
    let slow;
    app.on("asked", () => {
      clearTimeout(slow);
      slow = setTimeout(() => app.session.stale && app.emit("slow"), SLOW);
    });
    app.on("answer", () => clearTimeout(slow));
    const root = h("div", { class: "sev", lang: texts.language });
    app.setTheme = (theme) => {
      root.dataset.theme = theme;
    };
    app.setTheme(preferences.get("theme") ?? "auto");
    const messages = makeMessages(app);
    const list = app.can("list") ? makeList(app) : null;
    app.list = list;
    const work = makeWork(app, list);
    const groups = app.can("list") ? makeGroups(app).node : null;
    const layout = h("main", { class: list ? "layout" : "layout single", dataset: { view: store.get().view } }, list?.node, work.node, groups);
    app.owns(store.listen((state) => {
      layout.dataset.view = state.view;
    }));
    root.append(
      h("a", { class: "skip", href: `#${app.ids.work}`, onclick: (event) => {
        event.preventDefault();
        work.node.focus();
      } }, app.t("skip")),
      makeHeader(app, build), ...messages, layout,
      h("footer", { class: "foot" }, app.t(options.host === "file" ? "foot_file" : "nothing_leaves"), " ", bdi(`sev ${about.version}`)));
    makeHelp(app, root);
    listenToKeys(app, root);
    keepLink(app);
    element.replaceChildren(root);
    if (linked?.revision && linked.revision !== about.revision) app.say(app.t("link_old"));
    work.build();
    app.session.start();
    if (options.host === "served") {
      document.documentElement.lang = texts.language;
      document.title = `${texts.t("brand")} · ${about.title}`.slice(0, 200);
    }
  }
  await build(preferences.get("language") ?? options.language);
  element.dataset.ready = "true";
  return { store, end: () => app.end(), get app() {
    return app;
  } };
}
