"use strict";
// The table of decisions: searched, sorted and paged over data that stand in this file. Values only ever become text.
(() => {
  const PER_PAGE = 50;
  const byId = (id) => document.getElementById(id);
  const status = byId("table-status");
  const lang = document.documentElement.lang;
  const words = new Intl.Collator(lang, { numeric: true });
  const fill = (text, fields) => text.replace(/\{(\w+)\}/g, (_, name) => fields[name] ?? "");

  async function read() {
    const holder = byId("decisions-data");
    if (holder.dataset.form === "json") return JSON.parse(holder.textContent);
    if (typeof DecompressionStream === "undefined") throw new Error("DecompressionStream");
    const bytes = Uint8Array.from(atob(holder.textContent.trim()), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(unpacked).text());
  }

  function start(data) {
    const n = data.id.length;
    const columns = {
      // what was explained comes first, rows with nothing to explain after it
      row: (row) => row + (data.statuses[data.status[row]] === "not_target" ? n : 0),
      id: (row) => data.id[row],
      status: (row) => data.status[row],
      size: (row) => data.size[row],
      score: (row) => data.score[row],
      after: (row) => data.after[row],
      credibility: (row) => data.credibility[row],
      features: (row) => data.sets[row].map((feature) => data.features[feature]).join(", "),
      text: (row) => data.text[row],
    };
    const hasCredibility = document.querySelector("#decisions-table th[data-column=credibility]") !== null;
    const shares = new Intl.NumberFormat(lang, { style: "percent", maximumFractionDigits: 1 });
    const percent = (share) => (share === null ? "" : shares.format(share));
    const haystack = Array.from({ length: n }, (_, row) =>
      [data.id[row], data.names[data.status[row]], columns.features(row), data.text[row]].join("\n").toLowerCase());
    const view = { rows: Array.from({ length: n }, (_, row) => row), page: 0, sort: "row", down: false };

    function choose() {
      const wanted = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
      const only = byId("only").value;
      const rows = [];
      for (let row = 0; row < n; row++) {
        if (only !== "" && data.statuses[data.status[row]] !== only) continue;
        if (wanted.every((word) => haystack[row].includes(word))) rows.push(row);
      }
      view.rows = rows;
      view.page = 0;
      order();
    }

    function order() {
      const value = columns[view.sort];
      const keys = new Map(view.rows.map((row) => [row, value(row)]));
      const turn = view.down ? -1 : 1;
      view.rows.sort((a, b) => {
        const x = keys.get(a), y = keys.get(b);
        // rows without a value come last either way, and ties keep the order of the rows
        if (x === null || y === null) return (x === null) - (y === null) || a - b;
        if (x !== y) {
          if (typeof x === "number" && typeof y === "number") return turn * (x - y);
          const compared = words.compare(String(x), String(y));
          if (compared) return turn * compared;
        }
        return a - b;
      });
      draw();
    }

    const decimal = (number) => (number === null ? "" : String(number).replace(".", data.texts.decimal));

    function cell(line, text, name) {
      const made = line.insertCell();
      made.textContent = text;
      if (name) made.className = name;
      return made;
    }

    function draw() {
      const body = byId("decisions-body");
      const pages = Math.max(1, Math.ceil(view.rows.length / PER_PAGE));
      view.page = Math.min(Math.max(view.page, 0), pages - 1);
      const first = view.page * PER_PAGE;
      const shown = view.rows.slice(first, first + PER_PAGE);
      body.replaceChildren();
      for (const row of shown) {
        const line = body.insertRow();
        line.dataset.row = row;
        const label = cell(line, "");
        if (data.pages.includes(row)) {
          const link = document.createElement("a");
          link.href = "#decision-" + row;
          link.textContent = data.id[row];
          label.append(link);
        } else label.textContent = data.id[row];
        cell(line, data.names[data.status[row]]);
        cell(line, data.size[row] ?? "", "number");
        cell(line, decimal(data.score[row]), "number");
        cell(line, decimal(data.after[row]), "number");
        if (hasCredibility) cell(line, percent(data.credibility[row]), "number");
        cell(line, columns.features(row));
        cell(line, data.text[row]);
      }
      const count = (number) => number.toLocaleString(lang);
      status.textContent = view.rows.length
        ? fill(data.texts.rows_shown,
            { first: count(first + 1), last: count(first + shown.length), n: count(view.rows.length) }) +
          (view.rows.length < n ? fill(data.texts.rows_among, { n: count(n) }) : "")
        : data.texts.no_match;
      byId("page-of").textContent = fill(data.texts.page_of, { first: count(view.page + 1), n: count(pages) });
      byId("previous").disabled = view.page === 0;
      byId("next").disabled = view.page === pages - 1;
      for (const head of document.querySelectorAll("#decisions-table th")) {
        const mine = head.dataset.column === view.sort;
        head.setAttribute("aria-sort", mine ? (view.down ? "descending" : "ascending") : "none");
      }
    }

    let waiting;
    byId("search").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(choose, 120);
    });
    byId("only").addEventListener("change", choose);
    byId("previous").addEventListener("click", () => { view.page--; draw(); });
    byId("next").addEventListener("click", () => { view.page++; draw(); });
    for (const head of document.querySelectorAll("#decisions-table th")) {
      head.querySelector("button").addEventListener("click", () => {
        view.down = view.sort === head.dataset.column && !view.down;
        view.sort = head.dataset.column;
        order();
      });
    }
    for (const link of document.querySelectorAll("[data-only]")) {
      link.addEventListener("click", () => { byId("only").value = link.dataset.only; choose(); });
    }
    order();
    document.documentElement.dataset.ready = "true";
  }

  read().then(start).catch((error) => {
    status.textContent = fill(status.dataset.failed, { reason: error.message });
    document.documentElement.dataset.ready = "failed";
  });
})();
