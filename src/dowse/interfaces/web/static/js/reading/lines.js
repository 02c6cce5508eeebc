// Text as it is, line by line: code, data, and whatever has no other form.
import { h } from "../dom.js";

const GROUP = 100; // lines that the browser lays out, or leaves until they are in sight, together

/** Numbered lines of which the first is line `firstLine`. */
export function numberedLines(lines, firstLine, { wrap = false } = {}) {
  const groups = [];
  for (let start = 0; start < lines.length; start += GROUP) {
    const part = lines.slice(start, start + GROUP).map((text, index) => {
      const line = firstLine + start + index;
      return h("div", { class: "line", data: { line, end: line, number: line } }, `${text}\n`);
    });
    groups.push(h("div", { class: "lines" }, part));
  }
  return h("div", { class: wrap ? "source wrap" : "source", tabindex: "0", role: "region", "aria-label": "Text with line numbers" }, groups);
}
