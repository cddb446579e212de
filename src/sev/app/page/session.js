// Questions to the model: one at a time, the newest wins, and an older answer never overwrites a newer one.

import { afterPause, perFrame } from "./dom.js";
import { QUESTION } from "./store.js";

// A question on its way is left to finish when a newer one comes, so that dragging shows answers; after this many
// milliseconds it is dropped for the newer one.
const PATIENCE = 120;
// What follows from an answer (prices, other models) is asked after this many milliseconds without another edit.
const PAUSE = 120;

/** What a request says of the person; `hasCredibility` is whether the model can order by it. */
export function personOf(state, model = state.model, hasCredibility = true) {
  const { row, values, edits, limits, reference, mode, minimise, order, min_credibility } = state;
  const person = { model, ...(row === null ? { values } : { row }), edits, limits, reference, mode, minimise, order, min_credibility };
  if (!hasCredibility) person.min_credibility = 0;
  if (!hasCredibility && order === "credible") person.order = "margin";
  return person;
}

/** Sends the newest of the questions that `ask` is called with, and calls `done` with answers in order. */
export function makeLane(api, name, done, failed) {
  let sequence = 0;
  let running = null;
  let waiting = null;
  const client = `${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`;

  async function start(params, context) {
    const mine = { sequence: ++sequence, since: performance.now(), stop: new AbortController(), timer: 0 };
    running = mine;
    waiting = null;
    try {
      const answer = await api.call(name, { ...params, client, sequence: mine.sequence }, { signal: mine.stop.signal });
      if (running === mine) done(answer, context);
    } catch (error) {
      if (running === mine && error.code !== "superseded" && error.name !== "AbortError") failed(error, context);
    } finally {
      clearTimeout(mine.timer);
      if (running === mine) {
        running = null;
        if (waiting) start(...waiting);
      }
    }
  }

  function overtake() {
    running?.stop.abort();
    if (waiting) start(...waiting);
  }
  return {
    ask(params, context) {
      if (!running) return start(params, context);
      waiting = [params, context];
      const left = PATIENCE - (performance.now() - running.since);
      clearTimeout(running.timer);
      if (left <= 0) overtake();
      else running.timer = setTimeout(overtake, left);
      return undefined;
    },
    /** Forget what is on its way. */
    cancel() {
      waiting = null;
      running?.stop.abort();
      running = null;
    },
    get busy() {
      return running !== null;
    },
  };
}

/** Keeps the answer to the current question; `app.emit("answer")` tells the parts. */
export function makeSession(app) {
  const { api, store } = app;
  const session = { answer: null, base: null, prices: new Map(), beside: new Map(), error: null, stale: false, pricing: false, asked: 0, answered: 0 };

  const fail = (error) => {
    session.error = error;
    session.stale = false;
    app.emit("answer");
  };
  const main = makeLane(api, "explain", (answer, { question, edited, since }) => {
    session.answer = answer;
    session.error = null;
    session.stale = session.asked !== since;
    session.answered = since;
    session.prices = new Map();
    session.pricing = app.can("price") && answer.positive === true;
    if (!edited) session.base = { question: baseOf(question), row: answer.row, score: answer.score, positive: answer.positive, decision: answer.decision };
    app.emit("answer");
    askBase();
    follow();
  }, fail);
  const base = makeLane(api, "explain", (answer, key) => {
    if (key !== baseOf(store.get())) return;
    session.base = { question: key, row: answer.row, score: answer.score, positive: answer.positive, decision: answer.decision };
    app.emit("answer");
  }, fail);
  const prices = makeLane(api, "price", (answer, asked) => {
    if (asked !== session.answered) return;
    session.pricing = false;
    session.prices = new Map(answer.prices.map((price) => [price.feature, price]));
    app.emit("prices");
  }, () => {
    session.pricing = false;
    app.emit("prices");
  });
  const besides = app.about.models.map((model) =>
    makeLane(api, "explain", (answer) => {
      session.beside.set(model.index, answer);
      app.emit("beside");
    }, (error) => {
      session.beside.set(model.index, { error });
      app.emit("beside");
    }),
  );

  const baseOf = ({ model, row, values }) => JSON.stringify([model, row, values]);
  const open = (state) => state.row !== null || state.values !== null;

  function askBase() {
    const state = store.get();
    if (app.host === "file" || session.base?.question === baseOf(state)) return;
    base.ask({ ...personOf({ ...state, edits: {}, limits: {}, order: "margin", min_credibility: 0, minimise: "features" }), with_path: false, with_cube: false, max_sets: 1 }, baseOf(state));
  }

  function askPrices() {
    if (!app.can("price")) return;
    const state = store.get();
    const used = session.answer.sets[Math.min(state.set, session.answer.sets.length - 1)]?.features ?? [];
    const locked = Object.entries(state.limits).filter(([, limit]) => limit.frozen).map(([name]) => name);
    const locks = [...new Set([...used, ...locked])].slice(0, 200);
    session.pricing = locks.length > 0 && session.answer.positive === true;
    if (session.pricing) prices.ask({ ...personOf(state), locks }, session.answered);
    app.emit("prices");
  }

  function askBeside() {
    const state = store.get();
    if (app.host === "file") return;
    for (const model of app.about.models) {
      if (model.index === state.model) continue;
      const known = new Set(model.features.map((feature) => feature.name));
      const limits = Object.fromEntries(Object.entries(state.limits).filter(([name]) => known.has(name)));
      const request = { ...personOf({ ...state, limits }, model.index, model.has_credibility), with_path: false, with_cube: false, max_sets: 1 };
      besides[model.index].ask(request);
    }
  }

  const send = perFrame(() => {
    const state = store.get();
    if (!open(state)) return;
    const request = { ...personOf(state), ...(state.prefer ? { prefer: state.prefer } : {}) };
    main.ask(request, { question: state, edited: Object.keys(state.edits).length > 0, since: session.asked });
    app.emit("asked");
  });
  const follow = afterPause(() => {
    if (!app.alive || session.stale || !session.answer) return;
    askPrices();
    askBeside();
  }, PAUSE);
  const ask = () => {
    prices.cancel();
    besides.forEach((lane) => lane.cancel());
    session.asked += 1;
    session.stale = open(store.get());
    send();
  };

  app.owns(store.listen((state, changed) => {
    if (["model", "row", "values"].some((key) => changed.has(key))) {
      main.cancel();
      session.beside = new Map();
      if (session.base?.question !== baseOf(state)) session.base = null;
    }
    if (QUESTION.some((key) => changed.has(key))) ask();
    else if (changed.has("set") && session.answer) askPrices();
  }));
  session.start = ask;
  session.retry = ask;
  return session;
}
