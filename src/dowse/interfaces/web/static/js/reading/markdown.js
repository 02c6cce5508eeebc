// Markdown as elements. Each knows its lines (data-line, data-end), so that a passage can be found in it.
import { h } from "../dom.js";
import { blocks, references } from "./blocks.js";
import { decoded, inline } from "./inline.js";

const FRONT = /^---[ \t]*$/;

const span = (block, base) => ({ line: base + block.start, end: base + block.end - 1 });

export const slug = (text) =>
  text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s+/g, "-");

const MAKERS = {
  heading: headingElement,
  paragraph: (block, base, context) => h("p", { data: span(block, base) }, inline(block.text, context)),
  rule: (block, base) => h("hr", { data: span(block, base) }),
  code: (block, base) =>
    h("pre", { data: span(block, base), tabindex: "0", role: "region", "aria-label": block.language ? `Code: ${block.language}` : "Code" }, h("code", {}, block.lines.join("\n"))),
  html: (block, base) =>
    /^\s*<!--/.test(block.text) ? null : h("pre", { class: "inert", data: span(block, base), tabindex: "0", role: "region", "aria-label": "HTML, shown as text" }, block.text),
  reference: () => null,
  quote: (block, base, context) => h("blockquote", { data: span(block, base) }, elements(block.blocks, base + block.start, context)),
  list: listElement,
  table: tableElement,
};

// The page's own heading is the title; where the text begins with it too, it is not said twice.
function headingElement(block, base, context) {
  const made = h(`h${Math.min(block.level + context.below, 6)}`, { data: { ...span(block, base), slug: slug(decoded(block.text)) } }, inline(block.text, context));
  const isTitle = !context.headings && block.level === 1 && made.textContent.trim() === context.title;
  context.headings += 1;
  if (!isTitle) return made;
  context.below = 0;
  return null;
}

function listElement(block, base, context) {
  const items = block.items.map((item) => {
    const at = base + block.start + item.start;
    const inside = elements(item.blocks, at, context);
    const data = { line: at, end: base + block.start + item.end - 1 };
    const [only] = inside;
    const tight = inside.length && only.tagName === "P";
    const first = tight ? [...only.childNodes] : [only];
    if (item.task && tight) {
      only.firstChild.textContent = only.firstChild.textContent.replace(/^\[[ xX]\] /, "");
      const box = h("input", { type: "checkbox", disabled: true, "aria-label": "Task" });
      box.checked = /x/i.test(item.task);
      first.unshift(box, " ");
    }
    return h("li", { data }, first, inside.slice(1));
  });
  return h(block.ordered ? "ol" : "ul", { data: span(block, base), start: block.ordered && block.first !== 1 ? block.first : null }, items);
}

function tableElement(block, base, context) {
  const row = (tag, texts, line) =>
    h(
      "tr",
      { data: { line, end: line } },
      block.head.map((_, index) => h(tag, { class: block.align[index] || null, scope: tag === "th" ? "col" : null }, inline(texts[index] ?? "", context))),
    );
  const start = base + block.start;
  return h(
    "div",
    { class: "table", data: span(block, base), tabindex: "0", role: "region", "aria-label": "Table" },
    h(
      "table",
      {},
      h("thead", {}, row("th", block.head, start)),
      h("tbody", {}, block.rows.map((texts, index) => row("td", texts, start + 2 + index))),
    ),
  );
}

function elements(made, base, context) {
  return made.map((block) => MAKERS[block.kind](block, base, context)).filter(Boolean);
}

/** What stands between the first two `---` of a file: its metadata, shown as they are. */
function front(lines, firstLine) {
  if (firstLine !== 1 || !FRONT.test(lines[0] ?? "")) return [null, 0];
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)[ \t]*$/.test(line));
  if (end < 1 || end > 200) return [null, 0];
  return [h("pre", { class: "front", data: { line: 1, end: end + 1 }, tabindex: "0", role: "region", "aria-label": "Metadata" }, lines.slice(1, end).join("\n")), end + 1];
}

/** The elements of some lines, of which the first is line `firstLine` of the document. */
export function markdown(lines, firstLine, { link, title }) {
  const [head, skipped] = front(lines, firstLine);
  const rest = lines.slice(skipped).map((line) => line.replace(/^\t+/, (tabs) => "    ".repeat(tabs.length)));
  const context = { references: references(rest), link, title, headings: 0, below: 1 };
  const made = elements(blocks(rest), firstLine + skipped, context);
  return head ? [head, ...made] : made;
}
