// Finding the passage in a rendered document: by its lines.
import { h } from "../dom.js";

const linesOf = (element) => [Number(element.dataset.line), Number(element.dataset.end)];

function overlaps(element, first, last) {
  const [start, end] = linesOf(element);
  return start <= last && end >= first;
}

const within = (element, first, last) => {
  const [start, end] = linesOf(element);
  return start >= first && end <= last;
};

/** The largest elements that belong to the passage; a long list or table gives only its parts. */
function parts(element, first, last) {
  if (!overlaps(element, first, last)) return [];
  const inner = [...element.querySelectorAll("[data-line]")];
  if (within(element, first, last) || !inner.length) return [element];
  const found = inner.filter((each) => overlaps(each, first, last) && !each.querySelector("[data-line]"));
  return found.length ? found : [element];
}

/** Mark lines `first` to `last` below `root`; returns the first element of them. */
export function markCited(root, first, last) {
  const tops = [...root.querySelectorAll("[data-line]")].filter((each) => !each.parentElement.closest("[data-line]"));
  const cited = tops.flatMap((top) => parts(top, first, last));
  let group = null;
  for (const element of cited) {
    if (element.matches("li, tr, .line, td")) {
      element.classList.add("cited");
      continue;
    }
    if (group && group.nextSibling === element) {
      group.append(element);
      continue;
    }
    group = h("div", { class: "cited-group", role: "region", "aria-label": "Cited passage" });
    element.replaceWith(group);
    group.append(element);
  }
  return cited[0] ?? null;
}

/** Mark words inside of the passage, as the search marked them. */
export function markWords(root, words) {
  if (!words?.length) return;
  const wanted = new Set(words.map((word) => word.toLowerCase()));
  const longest = [...wanted].sort((one, other) => other.length - one.length);
  const pattern = new RegExp(longest.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "giu");
  for (const place of root.querySelectorAll(".cited-group, .cited")) {
    const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const node of texts) markIn(node, pattern);
  }
}

function markIn(node, pattern) {
  const text = node.data;
  const made = [];
  let done = 0;
  for (const found of text.matchAll(pattern)) {
    const before = text[found.index - 1] ?? "";
    const after = text[found.index + found[0].length] ?? "";
    const latin = /^[\p{Script=Latin}\p{N}]/u;
    if (latin.test(found[0]) && (latin.test(before) || latin.test(after))) continue;
    made.push(text.slice(done, found.index), h("mark", {}, found[0]));
    done = found.index + found[0].length;
  }
  if (made.length) node.replaceWith(...made, text.slice(done));
}
