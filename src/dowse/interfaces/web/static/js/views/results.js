// One result: where it stands, its best lines with the matched words marked, how sure we are, and what to do with it.
import { copyCitation, editorLink } from "../citing.js";
import { h, icon, several, svg, time } from "../dom.js";
import { drawExplain } from "../drawing/explain.js";
import { address } from "../places.js";
import { marked } from "../spans.js";
import { isCode } from "../types.js";

const FRESHNESS = {
  stale: ["warn", "changed since", "The file has changed since it was indexed. Update its collection to read it again."],
  gone: ["bad", "file is gone", "The file is not there any more. Update its collection to drop it."],
};

export const keyOf = (hit) => `${hit.id}:${hit.passage}`;

/** The address at which a hit's document opens at its passage. */
export function addressOf(hit, q = "") {
  return address({ doc: hit.file, lines: `${hit.first_line}-${hit.last_line}`, q });
}

// What the document view takes along: a shared link has to do without.
function stateOf(hit) {
  const { text = "", highlights = [] } = hit.snippet ?? {};
  const words = marked(text, highlights).filter(([, isMarked]) => isMarked).map(([word]) => word);
  return JSON.stringify({ citation: hit.citation, editor: hit.editor, words: [...new Set(words)].slice(0, 40) });
}

function score(value) {
  const width = Math.round(value * 40);
  return h(
    "span",
    { class: "score", title: "Score from 0 to 1; it means the same for every question" },
    svg(
      "svg",
      { viewBox: "0 0 40 5", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "ground", width: 40, height: 5 }),
      svg("rect", { class: "value", width, height: 5 }),
    ),
    h("span", {}, h("span", { class: "unseen" }, "Score "), value.toFixed(2)),
  );
}

// Markdown's signs at the beginnings of lines say little in three lines of text, and take their place.
function plainer(text, isFirst) {
  const lined = isFirst ? `\n${text}` : text;
  const made = lined.replace(/\n[ \t]*(?:`{3,}|~{3,})[^\n]*/g, "").replace(/\n#{1,6}[ \t]+/g, "\n").replace(/\n\s*\n/g, "\n");
  return isFirst ? made.replace(/^\s+/, "") : made;
}

/** The best lines of a hit, with the words of the question marked. */
export function passage({ snippet, text, media_type: type }) {
  const shown = snippet?.text ? snippet : { text, highlights: [] };
  const parts = marked(shown.text.trimEnd(), shown.highlights ?? []);
  const code = isCode(type);
  return h(
    "p",
    { class: code ? "passage code" : "passage" },
    parts.map(([part, isMarked], index) => (isMarked ? h("mark", {}, part) : code ? part : plainer(part, index === 0))),
  );
}

/** Page or lines, as people say them. */
export function placeOf(hit) {
  if (hit.page) return `page ${hit.page}`;
  return hit.first_line === hit.last_line ? `line ${hit.first_line}` : `lines ${hit.first_line}–${hit.last_line}`;
}

function path(hit) {
  const headings = hit.headings.filter((heading, index) => index > 0 || heading !== hit.title);
  return h(
    "p",
    { class: "path" },
    h("span", {}, hit.file),
    headings.length > 0 && h("span", { "aria-hidden": "true" }, "·"),
    headings.map((heading) => h("span", { class: "heading" }, heading)),
  );
}

function explainButton(hit, panels, opened) {
  const key = keyOf(hit);
  const button = h("button", { type: "button", class: "button bare explain-button" }, icon("bars"), "Why here");
  const set = (open) => {
    button.setAttribute("aria-expanded", String(open));
    panels.replaceChildren();
    if (open) panels.append(drawExplain(hit));
    if (open) opened.add(key);
    else opened.delete(key);
  };
  button.addEventListener("click", () => set(!opened.has(key)));
  set(opened.has(key));
  return button;
}

/** A result as an item of the list; `opened` holds the keys of those whose explanation is open. */
export function resultItem(hit, question, opened) {
  const panels = h("div", {});
  const fresh = FRESHNESS[hit.freshness];
  const copy = h("button", { type: "button", class: "button bare cite-button" }, icon("copy"), "Cite");
  copy.addEventListener("click", () => copyCitation(hit.citation, copy));
  return h(
    "li",
    { class: "result", data: { key: keyOf(hit) } },
    h(
      "div",
      { class: "result-top" },
      h(
        "h2",
        { class: "result-title" },
        h("a", { href: addressOf(hit, question.q), data: { own: "1", state: stateOf(hit) } }, hit.title || hit.path),
      ),
      score(hit.score),
    ),
    path(hit),
    passage(hit),
    hit.context && h("p", { class: "faint" }, hit.context),
    h(
      "div",
      { class: "result-foot" },
      h("span", { class: "chip" }, placeOf(hit)),
      fresh && h("span", { class: `chip ${fresh[0]}`, title: fresh[2] }, fresh[1]),
      hit.copies?.length > 0 && h("span", { class: "chip" }, several(hit.copies.length, "copy", "copies")),
      hit.updated && h("span", {}, time(hit.updated)),
      h("span", { class: "push" }),
      hit.explain && explainButton(hit, panels, opened),
      hit.citation && copy,
      editorLink(hit.editor, "button bare"),
    ),
    panels,
  );
}
