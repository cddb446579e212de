// The few pictures of the page, as SVG. Each returns a node with a text alternative; colours come from the stylesheet.

import { s } from "./dom.js";

/** Maps a range of numbers onto pixels. */
export function scaleLinear([low, high], [from, to]) {
  const span = high - low || 1;
  const scale = (value) => from + ((value - low) / span) * (to - from);
  scale.invert = (pixel) => low + ((pixel - from) / (to - from || 1)) * span;
  return scale;
}

/** About `count` round numbers in a range. */
export function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const made = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) made.push(Number(tick.toPrecision(12)));
  return made;
}

const svg = (width, height, label, ...children) =>
  s("svg", { viewBox: `0 0 ${width} ${height}`, style: { "max-width": `${width}px` }, class: "chart", role: "img", "aria-label": label }, ...children);

/** Bars of counts over edges, for the back of a slider or a curve; no text of its own. */
export function histogramBars(edges, counts, x, bottom, height) {
  const highest = Math.max(...counts, 1);
  return counts.map((count, index) => {
    const left = x(edges[index]);
    const width = Math.max(0.5, x(edges[index + 1]) - left - 0.5);
    const tall = (count / highest) * height;
    return s("rect", { class: "people", x: left, y: bottom - tall, width, height: tall });
  });
}

/** A small histogram that stretches with the slider above it. */
export function sparkHistogram(edges, counts, low, high) {
  const x = scaleLinear([low, high], [0, 200]);
  return s(
    "svg",
    { viewBox: "0 0 200 20", preserveAspectRatio: "none", class: "spark", "aria-hidden": "true" },
    ...histogramBars(edges, counts, x, 20, 20),
  );
}

/** Mark of a decision: a filled circle for the class being explained, a square for the other. */
export function decisionMark(positive, x = 7, y = 7, size = 6) {
  if (positive === null || positive === undefined) return s("path", { class: "mark unknown", d: `M${x - size} ${y}h${2 * size}` });
  return positive
    ? s("circle", { class: "mark positive", cx: x, cy: y, r: size })
    : s("rect", { class: "mark negative", x: x - size + 0.5, y: y - size + 0.5, width: 2 * size - 1, height: 2 * size - 1, rx: 1 });
}

export const markIcon = (positive) =>
  s("svg", { viewBox: "0 0 14 14", class: "icon", "aria-hidden": "true" }, decisionMark(positive));

/** A path of scores: one point per step, the threshold across. */
export function pathChart({ steps, threshold, label, format, width = 560 }) {
  const height = 190;
  const values = [...steps.map((step) => step.score), threshold].filter(Number.isFinite);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const spare = (high - low || 0.1) * 0.15;
  const y = scaleLinear([low - spare, high + spare], [height - 30, 12]);
  const x = scaleLinear([0, Math.max(1, steps.length - 1)], [54, width - 40]);
  const line = steps.map((step, index) => `${index ? "L" : "M"}${x(index)} ${y(step.score)}`).join("");
  return svg(
    width,
    height,
    label,
    s("line", { class: "threshold", x1: 40, x2: width - 8, y1: y(threshold), y2: y(threshold) }),
    s("text", { class: "axis", x: 36, y: y(threshold) + 4, "text-anchor": "end" }, format.score(threshold)),
    s("path", { class: "line", d: line }),
    ...steps.map((step, index) => decisionMark(step.positive, x(index), y(step.score))),
    ...steps.map((step, index) => {
      // a score just below the threshold is written below its mark: above it the line would cross it
      const gap = y(step.score) - y(threshold);
      return s("text", { class: "value", x: x(index), y: y(step.score) + (gap > 0 && gap < 30 ? 19 : -12), "text-anchor": "middle" }, format.score(step.score));
    }),
    ...steps.map((step, index) => s("text", { class: "axis", x: x(index), y: height - 8, "text-anchor": "middle" }, String(index))),
  );
}

/** The score over one number, the interval in which the decision is another, and the people behind it. */
export function curveChart({ points, histogram, now, instead, threshold, label, format, width = 560 }) {
  const height = 240;
  const bottom = height - 34;
  const low = points[0].value;
  const high = points.at(-1).value;
  const x = scaleLinear([low, high], [48, width - 12]);
  const scores = [...points.map((point) => point.score), threshold];
  const lowest = Math.min(...scores);
  const highest = Math.max(...scores);
  const spare = (highest - lowest || 0.1) * 0.1;
  const y = scaleLinear([lowest - spare, highest + spare], [bottom, 12]);
  const parts = [];
  if (histogram) parts.push(...histogramBars(histogram.edges, histogram.counts, x, bottom, (bottom - 12) * 0.6));
  let from = null;
  points.forEach((point, index) => {
    const other = point.positive === false;
    if (other && from === null) from = index === 0 ? low : (points[index - 1].value + point.value) / 2;
    if (from !== null && (!other || index === points.length - 1)) {
      const to = other ? high : (points[index - 1].value + point.value) / 2;
      parts.push(s("rect", { class: "turned", x: x(from), y: 12, width: Math.max(1, x(to) - x(from)), height: bottom - 12 }));
      parts.push(s("rect", { class: "turned-edge", x: x(from), y: bottom, width: Math.max(1, x(to) - x(from)), height: 4 }));
      from = null;
    }
  });
  // trees jump: a stepped line tells the truth between two points
  const line = points.map((point, index) => `${index ? "L" : "M"}${x(point.value).toFixed(1)} ${y(point.score).toFixed(1)}`).join("");
  parts.push(s("line", { class: "threshold", x1: 48, x2: width - 12, y1: y(threshold), y2: y(threshold) }));
  parts.push(s("text", { class: "axis", x: 44, y: y(threshold) + 4, "text-anchor": "end" }, format.score(threshold)));
  parts.push(s("path", { class: "line", d: line }));
  for (const tick of ticks(lowest, highest, 3).filter((one) => Math.abs(y(one) - y(threshold)) > 14)) {
    parts.push(s("text", { class: "axis", x: 44, y: y(tick) + 4, "text-anchor": "end" }, format.number(tick)));
  }
  for (const tick of ticks(low, high, 5)) {
    parts.push(s("text", { class: "axis", x: x(tick), y: height - 12, "text-anchor": "middle" }, format.number(tick)));
  }
  for (const [value, positive] of [now, instead].filter(Boolean)) {
    if (!(value >= low && value <= high)) continue;
    const nearest = points.reduce((best, point) => (Math.abs(point.value - value) < Math.abs(best.value - value) ? point : best));
    parts.push(s("line", { class: "drop", x1: x(value), x2: x(value), y1: y(nearest.score), y2: bottom }));
    parts.push(decisionMark(positive, x(value), y(nearest.score)));
  }
  return svg(width, height, label, ...parts);
}

/** Every subset of a few changes: rows by how many are made, edges add one. `vertices` have features and positive. */
export function hypercubeChart({ features, vertices, label, format, onShow, width = 560 }) {
  const levels = features.map(() => []).concat([[]]);
  for (const vertex of vertices) levels[vertex.changed.length].push(vertex);
  const height = 40 + 66 * features.length;
  const places = new Map();
  levels.forEach((level, row) => {
    level.forEach((vertex, index) => {
      const x = (width * (index + 1)) / (level.length + 1);
      places.set(vertex.changed.join(), [x, 24 + 66 * row, vertex]);
    });
  });
  const edges = [];
  for (const [key, [x, y, vertex]] of places) {
    for (let feature = 0; feature < features.length; feature += 1) {
      if (vertex.changed.includes(feature)) continue;
      const next = places.get([...vertex.changed, feature].sort((a, b) => a - b).join());
      if (next) edges.push(s("line", { class: "edge", x1: x, y1: y, x2: next[0], y2: next[1], "data-from": key }));
    }
  }
  const marks = [...places.values()].map(([x, y, vertex]) =>
    s(
      "g",
      { class: "vertex", onpointerenter: () => onShow?.(vertex) },
      decisionMark(vertex.positive, x, y, 8),
      s("text", { class: "value", x: x + 13, y: y + 4 }, format.score(vertex.score)),
      s("text", { class: "axis", x, y: y + 22, "text-anchor": "middle" }, vertex.changed.map((index) => index + 1).join(" + ") || "0"),
    ),
  );
  return svg(width, height, label, ...edges, ...marks);
}

/** Shares as horizontal bars are made with HTML; this is one bar's fill. */
export const bar = (share, kind) => s(
  "svg",
  { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: `bar ${kind}`, "aria-hidden": "true" },
  s("rect", { x: 0, y: 0, width: Math.max(0, Math.min(1, share)) * 100, height: 10 }),
);
