// The map of the corpus: passages that mean alike lie close together; those that answer a question light up.
import { call } from "../api.js";
import { announce, count, fill, h, icon, several } from "../dom.js";
import { makeScatter } from "../drawing/scatter.js";
import { address, go, rename } from "../places.js";
import { empty, failed, notes } from "../states.js";
import { onTheme } from "../theme.js";

const COLOURS = 8;
const LISTED = 60;
const HITS = 60;
const REST = 250;
const OTHERS = "others";

const box = h("input", { type: "search", name: "q", placeholder: "Light up what answers …", "aria-label": "Light up the passages that answer a question", autocomplete: "off", spellcheck: "false" });
const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": "Map of the passages. Arrows move it, plus and minus zoom, zero shows all. The list below has the same as links." });
const tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
const legend = h("ul", { class: "legend", "aria-label": "Colours" });
const above = h("div", {});
const list = h("ol", { class: "seen" });
const listTitle = h("summary", {}, "In sight, as a list");
const holder = h("div", { class: "map-holder" }, canvas, tip, tools());
const details = h("details", { class: "card" }, listTitle, list);
const root = h(
  "div",
  { class: "stack" },
  h("div", { class: "page-head" }, h("h1", {}, "Map"), h("span", { class: "push" }), h("form", { role: "search", class: "map-search", on: { submit: (event) => event.preventDefault() } }, icon("search"), box)),
  above, legend, holder, details,
);

let points = [];
let hidden = new Set();
let colours = new Map();
let scatter = null;
let turn = 0;
let timer = 0;
let asked = "";
let running = null;
let unlisten = null;
const names = [];

function tools() {
  const button = (name, label, act) => h("button", { type: "button", class: "button", "aria-label": label, title: label, on: { click: () => scatter?.[act]() } }, icon(name));
  return h("div", { class: "map-tools" }, button("plus", "Zoom in", "zoomIn"), button("minus", "Zoom out", "zoomOut"), button("home", "Show all", "reset"));
}

export function enter() {
  scatter ??= makeScatter(canvas, {
    colour: (point) => colours.get(point.group) ?? "gray",
    style: () => ({ ink: getComputedStyle(document.documentElement).getPropertyValue("--ink") }),
    tell: { hover, open, moved: later },
  });
  unlisten = onTheme(() => {
    readColours();
    drawLegend();
    scatter.redraw();
  });
  return root;
}

export function leave() {
  turn += 1;
  unlisten?.();
  running?.abort();
  clearTimeout(timer);
}

export async function show(params, { same }) {
  const q = params.get("q") ?? "";
  if (box.value !== q) box.value = q;
  if (!same) await load();
  await light(q);
}

async function load() {
  const mine = ++turn;
  if (!points.length) fill(above, h("p", { class: "faint" }, "Laying out the passages…"));
  try {
    const { data, meta } = await call("GET", "/map", { query: { limit: 5000 } });
    if (mine !== turn) return;
    points = data.points;
    const said = data.sampled < data.total ? [`${count(data.sampled)} of ${several(data.total, "passage")} are shown, evenly chosen.`] : [];
    fill(above, notes([...(meta.notes ?? []), ...said]));
    holder.hidden = details.hidden = !points.length;
    if (!points.length) {
      fill(above, empty("No map yet", notes(meta.notes), h("p", {}, "The map is drawn from the passages' vectors. Make them with ", h("code", {}, "dowse embed"), " or update a collection.")));
      return;
    }
    names.splice(0, names.length, ...group(points));
    readColours();
    drawLegend();
    place();
  } catch (error) {
    if (mine === turn) fill(above, failed(error, load));
  }
}

/** Give each point its group: its collection, or its folder where there is only one; returns the names. */
function group(all) {
  const byCollection = new Set(all.map((point) => point.collection)).size > 1;
  const sizes = new Map();
  for (const point of all) {
    const [first, folder, rest] = point.file.split("/");
    point.group = byCollection ? first : rest === undefined ? first : `${first}/${folder}`;
    sizes.set(point.group, (sizes.get(point.group) ?? 0) + 1);
  }
  const largest = [...sizes].sort((one, other) => other[1] - one[1]).map(([name]) => name);
  if (byCollection || largest.length <= COLOURS) return largest;
  const kept = new Set(largest.slice(0, COLOURS - 1));
  for (const point of all) if (!kept.has(point.group)) point.group = OTHERS;
  return [...kept, OTHERS];
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  colours = new Map(names.map((name, index) => [name, style.getPropertyValue(`--series-${(index % COLOURS) + 1}`).trim()]));
}

function place() {
  scatter.set(points.filter((point) => !hidden.has(point.group)), points);
  later();
}

function drawLegend() {
  const item = (name) => {
    const input = h("input", { type: "checkbox", value: name });
    input.checked = !hidden.has(name);
    input.addEventListener("change", () => {
      if (input.checked) hidden.delete(name);
      else hidden.add(name);
      place();
    });
    const dot = h("span", { class: "dot", "aria-hidden": "true" });
    dot.style.backgroundColor = colours.get(name);
    return h("li", {}, h("label", {}, input, dot, name));
  };
  fill(legend, names.map(item));
}

// The question

box.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    rename(address({ view: "map", q: box.value }));
    light(box.value);
  }, REST);
});

async function light(q) {
  if (q.trim() === asked && q.trim() !== "") return;
  asked = q.trim();
  running?.abort();
  if (!asked) {
    scatter.light(null);
    later();
    return;
  }
  running = new AbortController();
  try {
    const { data } = await call("POST", "/search", { body: { query: asked, limit: HITS }, signal: running.signal });
    const exact = new Set(data.results.map((hit) => `${hit.id}:${hit.passage}`));
    const files = new Set(data.results.map((hit) => hit.id));
    const found = points.filter((point) => exact.has(`${point.id}:${point.passage}`));
    const lit = new Set(found.length ? found : points.filter((point) => files.has(point.id)));
    scatter.light(lit);
    canvas.dataset.lit = String(lit.size);
    announce(`${several(lit.size, "passage")} lit up`);
    later();
  } catch (error) {
    if (error.name !== "AbortError") fill(above, notes([`${error.message} ${error.hint ?? ""}`]));
  }
}

// Names and the list

function hover(point, x, y) {
  tip.hidden = !point;
  if (!point) return;
  fill(tip, h("strong", {}, point.title), h("span", {}, point.file));
  const left = Math.min(x + 14, holder.clientWidth - tip.offsetWidth - 8);
  tip.style.transform = `translate(${Math.max(8, left)}px, ${y + 16 + tip.offsetHeight > holder.clientHeight ? y - tip.offsetHeight - 10 : y + 16}px)`;
}

const linkOf = (point) => address({ doc: point.file, p: point.passage, q: box.value });

function open(point) {
  go(linkOf(point), { inside: true });
}

let pending = 0;

function later() {
  clearTimeout(pending);
  pending = setTimeout(drawList, 150);
}

function drawList() {
  const seen = scatter.inSight();
  fill(listTitle, `In sight, as a list: ${several(seen.length, "passage")}`);
  const item = (point) =>
    h("li", {}, h("a", { href: linkOf(point), data: { own: "1", state: JSON.stringify({ inside: true }) } }, point.title || point.file), h("span", { class: "faint" }, point.file));
  fill(list, seen.slice(0, LISTED).map(item));
}
