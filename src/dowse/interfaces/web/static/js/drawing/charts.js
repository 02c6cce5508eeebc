// Small charts in SVG. Each is a figure with its figures in a table beside it, for those who cannot see or want to copy.
import { h, svg } from "../dom.js";

const WIDTH = 560;
const HEIGHT = 180;
const BOTTOM = 22;
const LEFT = 44;
const TOP = 12;

/** A figure of a drawing and the same as a table; `rows` are lists of texts under `columns`. */
function figure(title, drawing, columns, rows, { wide = false } = {}) {
  return h(
    "figure",
    { class: wide ? "card chart wide" : "card chart" },
    h("figcaption", {}, h("h2", {}, title)),
    rows.length ? drawing : h("p", { class: "soft" }, "Nothing to show yet."),
    rows.length > 0 &&
      h(
        "details",
        {},
        h("summary", {}, "As a table"),
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
          h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, index) => (index ? h("td", { class: "numbers" }, cell) : h("th", { scope: "row" }, cell)))))),
        ),
      ),
  );
}

/** Lines with a bar each: `rows` are `[name, value, text]`. */
export function bars(title, columns, rows) {
  const most = Math.max(...rows.map(([, value]) => value), 1);
  const line = ([name, value, text]) => [
    h("span", { class: "bar-name", title: name }, name),
    svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "value", width: Math.max((value / most) * 100, 0.6), height: 10 })),
    h("span", { class: "numbers" }, text),
  ];
  return figure(title, h("div", { class: "bar-list" }, rows.map(line)), columns, rows.map(([name, , text]) => [name, text]));
}

/** A round number at or above this one, for the top of an axis. */
export function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value);
}

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

function frame(most, label) {
  const y = (part) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - part);
  return [0, 0.5, 1].map((part) => [
    svg("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: y(part), y2: y(part) }),
    svg("text", { x: LEFT - 8, y: y(part) + 4, "text-anchor": "end" }, label(most * part)),
  ]);
}

function under(names) {
  const every = Math.max(1, Math.ceil(names.length / 7));
  const width = (WIDTH - LEFT) / names.length;
  return names.map((name, index) =>
    index % every ? null : svg("text", { x: LEFT + width * (index + 0.5), y: HEIGHT - 5, "text-anchor": "middle" }, name),
  );
}

const canvas = (label, ...children) => svg("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, children);

/** Columns over time: `rows` are `[name, value]`. */
export function columnsChart(title, columns, rows, label = (value) => short.format(value)) {
  const most = ceiling(Math.max(...rows.map(([, value]) => value), 0));
  const width = (WIDTH - LEFT) / Math.max(rows.length, 1);
  const gap = Math.min(width * 0.25, 8);
  const area = HEIGHT - TOP - BOTTOM;
  const column = ([name, value], index) => {
    const height = (value / most) * area;
    const wide = Math.min(width - gap, 56);
    const x = LEFT + width * (index + 0.5) - wide / 2;
    return svg("rect", { class: "value", x, y: TOP + area - height, width: wide, height, rx: 2 }, svg("title", {}, `${name}: ${label(value)}`));
  };
  const drawing = canvas(`${title}: ${rows.length} columns`, frame(most, label), rows.map(column), under(rows.map(([name]) => name)));
  return figure(title, drawing, columns, rows.map(([name, value]) => [name, label(value)]));
}

/** A line over time with its area: `rows` are `[name, value]`, evenly spaced. */
export function areaChart(title, columns, rows, label = (value) => short.format(value)) {
  const most = ceiling(Math.max(...rows.map(([, value]) => value), 0));
  const area = HEIGHT - TOP - BOTTOM;
  const width = (WIDTH - LEFT) / Math.max(rows.length, 1);
  const at = ([, value], index) => [LEFT + width * (index + 0.5), TOP + area * (1 - value / most)];
  const points = rows.map(at);
  if (points.length === 1) points.splice(0, 1, [LEFT, points[0][1]], [WIDTH - 4, points[0][1]]);
  const line = points.map((point) => point.map((each) => each.toFixed(1)).join(",")).join(" L");
  const base = TOP + area;
  const drawing = canvas(
    `${title}: from ${label(rows[0]?.[1] ?? 0)} to ${label(rows.at(-1)?.[1] ?? 0)}`,
    frame(most, label),
    points.length > 0 && svg("path", { class: "area", d: `M${points[0][0]},${base} L${line} L${points.at(-1)[0]},${base} Z` }),
    points.length > 0 && svg("path", { class: "curve", d: `M${line}` }),
    points.length > 0 && svg("circle", { class: "value", cx: points.at(-1)[0], cy: points.at(-1)[1], r: 3.5 }),
    under(rows.map(([name]) => name)),
  );
  return figure(title, drawing, columns, rows.map(([name, value]) => [name, label(value)]));
}

/** From the median to the 99th percentile, a line each: `rows` are `{ name, count, p50, p90, p99 }`. */
export function ranges(title, rows) {
  const most = ceiling(Math.max(...rows.map((row) => row.p99), 0));
  const shown = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
  const x = (value) => (Math.min(value, most) / most) * 100;
  const line = (row) => [
    h("span", { class: "bar-name", title: row.name }, row.name),
    svg(
      "svg",
      { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "ground", width: 100, height: 10 }),
      svg("rect", { class: "faded", width: Math.max(x(row.p99), 0.6), height: 10 }),
      svg("rect", { class: "value", width: Math.max(x(row.p50), 0.6), height: 10 }),
    ),
    h("span", { class: "numbers" }, `${shown(row.p50)} · ${shown(row.p99)}`),
  ];
  const drawing = h("div", {}, h("p", { class: "faint" }, "Half of the requests are answered within the first time, 99 of 100 within the second."), h("div", { class: "bar-list" }, rows.map(line)));
  return figure(title, drawing, ["Request", "Count", "p50", "p90", "p99"], rows.map((row) => [row.name, String(row.count), shown(row.p50), shown(row.p90), shown(row.p99)]), { wide: true });
}
