// How the index stands: counts, what it is made of, how it grew, how fast it answers.
import { get } from "../api.js";
import { bytes, count, fill, h, icon, several } from "../dom.js";
import { areaChart, bars, columnsChart, ranges } from "../drawing/charts.js";
import { address } from "../places.js";
import { failed } from "../states.js";
import { families } from "../types.js";

const MONTHS = 24;
const DAYS = 60;
const ROUTES = 6;

const body = h("div", { class: "stack" });
const root = h(
  "div",
  { class: "stack" },
  h("div", { class: "page-head" }, h("h1", {}, "Status"), h("span", { class: "push" }), h("button", { type: "button", class: "button", on: { click: () => show() } }, icon("refresh"), "Look again")),
  body,
);

export const enter = () => root;

export async function show() {
  try {
    const [status, stats] = await Promise.all([get("/status"), get("/stats")]);
    draw(status, stats);
  } catch (error) {
    fill(body, failed(error, () => show()));
  }
}

function tile(label, value, says, kind = "") {
  return h("div", { class: `card tile ${kind}` }, h("dt", {}, label), h("dd", {}, h("strong", { class: "numbers" }, value), says && h("span", { class: "faint" }, says)));
}

const WATCH = { running: "Files are watched: the index follows them", off: "Nobody watches the files; update by hand, or run `dowse watch`", died: "The watcher has stopped; start it again" };

function tiles(status) {
  const covered = status.chunks ? Math.floor((status.vectors / status.chunks) * 100) : 0;
  const missing = status.needs_embedding > 0; // equal passages share a vector, so the numbers alone do not tell
  return h(
    "dl",
    { class: "tiles" },
    tile("Documents", count(status.documents), `in ${several(status.collections.length, "collection")}`),
    tile("Passages", count(status.chunks), !status.model ? "no vectors yet" : missing ? `${Math.min(covered, 99)}% with a vector` : "all with a vector"),
    tile("On disk", bytes(status.bytes_on_disk), status.model?.name ?? ""),
    missing ? tile("To be embedded", count(status.needs_embedding), "documents, found by words only", "warn") : tile("Vectors", count(status.vectors), "all up to date"),
    tile("Not readable", count(status.failures), status.failures ? h("a", { href: address({ view: "collections" }), data: { own: "1" } }, "See why") : "every file was read", status.failures ? "warn" : ""),
  );
}

function spread(rows, most, merge) {
  if (rows.length <= most) return rows;
  const every = Math.ceil(rows.length / most);
  const made = [];
  for (let start = 0; start < rows.length; start += every) made.push(merge(rows.slice(start, start + every)));
  return made;
}

/** Every day from the first to the last: one without a change keeps the count of the day before. */
export function daily(growth) {
  const made = [];
  for (const { day, documents } of growth) {
    const before = made.at(-1);
    for (let each = before && next(before[0]); each && each < day; each = next(each)) made.push([each, before[1]]);
    made.push([day, documents]);
  }
  return made;
}

const next = (day) => new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);

function monthly(byMonth) {
  const known = new Map(byMonth.map(({ month, documents }) => [month, documents]));
  const months = [...known.keys()].sort();
  const last = months.at(-1);
  if (!last) return [];
  const made = [];
  let [year, month] = last.split("-").map(Number);
  for (let left = MONTHS; left > 0; left -= 1) {
    const name = `${year}-${String(month).padStart(2, "0")}`;
    made.unshift([name, known.get(name) ?? 0]);
    if (name <= months[0]) break;
    month -= 1;
    if (!month) [year, month] = [year - 1, 12];
  }
  return made;
}

function draw(status, stats) {
  const types = families(stats).map(([name, documents]) => [name, documents, count(documents)]);
  const collections = stats.by_collection.map((each) => [each.collection, each.documents, `${count(each.documents)} · ${bytes(each.bytes)}`]);
  const growth = spread(daily(stats.growth), DAYS, (some) => some.at(-1));
  const latency = stats.latency
    .filter((each) => each.count && each.route !== "other")
    .sort((one, other) => other.count - one.count)
    .slice(0, ROUTES)
    .map((each) => ({ name: each.route, count: each.count, p50: each.p50_ms, p90: each.p90_ms, p99: each.p99_ms }));
  fill(
    body,
    tiles(status),
    h(
      "div",
      { class: "charts" },
      bars("Documents by type", ["Type", "Documents"], types),
      bars("Documents by collection", ["Collection", "Documents"], collections),
      columnsChart("Documents by the month they changed", ["Month", "Documents"], monthly(stats.by_month)),
      areaChart("Growth of the index", ["Day", "Documents"], growth),
      ranges("How fast the server answers", latency),
    ),
    h("p", { class: "faint" }, `Dowse ${status.version}. ${(WATCH[status.watch?.state] ?? "").replaceAll("`", "")}.`),
  );
}
