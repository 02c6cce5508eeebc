// How a hit got its score, drawn: what each list says, what that is worth, what comes of it.
import { h, svg } from "../dom.js";

const NAMES = { lex: "Words", vec: "Meaning" };
const FEATURES = { window: "Close together", pairs: "In this order", unread: "Not read", code: "Code", recent: "Recent" };
const WIDE = 1000; // units of a bar that is stretched to its place

const share = (value) => Math.max(0, Math.min(1, value ?? 0));
const number = (value) => (value === null || value === undefined ? "–" : Number(value).toFixed(2));

function legRow(leg) {
  const rank = leg.rank ? `rank ${leg.rank}` : "scored afterwards";
  const raw = leg.name === "lex" ? `BM25 ${number(leg.raw)}` : `cosine ${number(leg.raw)}`;
  return { name: NAMES[leg.name] ?? leg.name, value: leg.value, kind: leg.name, says: `${number(leg.value)} × ${number(leg.weight)} · ${rank}, ${raw}` };
}

/** The rows of the drawing: the legs, whatever else the trace weighs, the sum, the score. */
export function rowsOf({ legs, fused, score, reranked, features }) {
  const rows = legs.map(legRow);
  for (const { name, value, weight } of features ?? []) {
    rows.push({ name: FEATURES[name] ?? name, value, kind: "extra", says: `${number(value)} × ${number(weight)}` });
  }
  rows.push({ name: "Together", parts: legs, value: fused, kind: "sum", says: number(fused) });
  if (reranked !== null && reranked !== undefined) {
    rows.push({ name: "Second opinion", value: reranked, kind: "extra", says: number(reranked) });
  }
  rows.push({ name: "Score", value: score, kind: "final", says: number(score), strong: true });
  return rows;
}

function bar(row) {
  const rect = (kind, x, width) => svg("rect", { class: kind, x, y: 0, width: Math.max(width, 0), height: 10 });
  const bars = [rect("ground", 0, WIDE)];
  if (row.parts) {
    const total = row.parts.reduce((sum, leg) => sum + leg.weight * share(leg.value), 0) || 1;
    let x = 0;
    for (const leg of row.parts) {
      const width = ((leg.weight * share(leg.value)) / total) * share(row.value) * WIDE;
      bars.push(rect(leg.name, x, width));
      x += width;
    }
  } else {
    bars.push(rect(row.kind, 0, share(row.value) * WIDE));
  }
  return svg("svg", { viewBox: `0 0 ${WIDE} 10`, preserveAspectRatio: "none", "aria-hidden": "true" }, bars);
}

export function drawExplain(hit) {
  return h(
    "figure",
    { class: "explain" },
    h("figcaption", {}, `Rank ${hit.rank}: what each list says of this passage, times its weight, added up and put on the scale from 0 to 1.`),
    rowsOf(hit.explain).map((row) =>
      h(
        "div",
        { class: row.strong ? "explain-row strong" : "explain-row" },
        h("span", {}, row.name),
        bar(row),
        h("span", { class: "numbers" }, row.says),
      ),
    ),
  );
}
