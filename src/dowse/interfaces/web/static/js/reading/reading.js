// Which form a document's text gets: pages, Markdown, or lines with numbers.
import { h } from "../dom.js";
import { address } from "../places.js";
import { familyOf } from "../types.js";
import { numberedLines } from "./lines.js";
import { markdown } from "./markdown.js";

// Of these the API gives Markdown, whatever the file itself is.
const RENDERED = new Set(["Markdown", "PDF", "Web pages", "Office", "Notebooks", "Mail"]);

export const canRender = (found) => RENDERED.has(familyOf(found.media_type));

/** Links inside of a document lead to others of its collection, or to its own headings. */
function linker(found) {
  const folder = found.path.split("/").slice(0, -1);
  return (to) => {
    if (to.startsWith("#")) return { href: to, data: { heading: safely(to.slice(1)) } };
    if (/^[a-z][a-z0-9+.-]*:|^\/\/|^\\/i.test(to.replace(/[\u0000-\u0020]/g, "")) || !to) return null;
    const [path] = to.split(/[?#]/);
    const parts = path.startsWith("/") ? [] : [...folder];
    for (const part of safely(path).split("/")) {
      if (part === "..") parts.pop();
      else if (part && part !== ".") parts.push(part);
    }
    return { href: address({ doc: [found.collection, ...parts].join("/") }), data: { own: "1" } };
  };
}

function safely(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Where each page starts, as `[page, first line]`; pages without a passage have no text. */
export function pagesOf(passages) {
  const starts = new Map();
  for (const { page, first_line: line } of passages ?? []) {
    if (page && line < (starts.get(page) ?? Number.POSITIVE_INFINITY)) starts.set(page, line);
  }
  return [...starts].sort((one, other) => one[0] - other[0]);
}

function pages(found, lines, starts, context) {
  const last = found.first_line + lines.length;
  return starts.map(([page, start], index) => {
    const end = starts[index + 1]?.[1] ?? last;
    const part = lines.slice(Math.max(0, start - found.first_line), Math.max(0, end - found.first_line));
    if (!part.length) return null;
    const label = `Page ${page}`;
    return h("section", { class: "page", "aria-label": label, data: { page } }, h("p", { class: "page-number" }, label), markdown(part, Math.max(start, found.first_line), context));
  });
}

/** The text of a document as elements. */
export function render(found, { source = false } = {}) {
  const lines = found.text.replace(/\n$/, "").split(/\r?\n/);
  if (source || !canRender(found)) return numberedLines(lines, found.first_line, { wrap: familyOf(found.media_type) === "Text" || source });
  const context = { link: linker(found), title: found.title };
  const starts = pagesOf(found.passages);
  const made = starts.length ? pages(found, lines, starts, context) : markdown(lines, found.first_line, context);
  return h("div", { class: "prose" }, made);
}

/** The headings of a document with their lines, from its passages: `[{ text, level, line }]`. */
export function outline(passages) {
  const made = [];
  let before = [];
  for (const { headings, first_line: line } of passages ?? []) {
    let same = 0;
    while (same < headings.length && headings[same] === before[same]) same += 1;
    for (let level = same; level < headings.length; level += 1) made.push({ text: headings[level], level, line });
    before = headings;
  }
  return made;
}
