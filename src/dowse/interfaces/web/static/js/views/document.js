// A document, opened at the passage that was cited.
import { get, namePath } from "../api.js";
import { copyCitation, editorLink } from "../citing.js";
import { announce, bytes, count, fill, h, icon, time } from "../dom.js";
import { address, go } from "../places.js";
import { markCited, markWords } from "../reading/cited.js";
import { canRender, outline, render } from "../reading/reading.js";
import { failed } from "../states.js";
import { familyOf } from "../types.js";

const WINDOW = 3000; // lines that are shown at once
const BEFORE = 500; // of them, those above the passage
const MOST_HEADINGS = 80;
const FRESHNESS = { stale: ["warn", "The file has changed since it was indexed"], gone: ["bad", "The file is not there any more"] };

const root = h("article", { class: "document" });
let turn = 0;
let source = false;

export const enter = () => root;

export const leave = () => {
  turn += 1;
  source = false;
  fill(root);
};

function linesOf(text) {
  const found = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text ?? "");
  return found ? [Number(found[1]), Number(found[2] ?? found[1])] : null;
}

export async function show(params) {
  const mine = ++turn;
  const file = params.get("doc");
  let cited = linesOf(params.get("lines"));
  const from = Number(params.get("from")) || (cited && cited[0] > WINDOW - BEFORE ? cited[0] - BEFORE : 1);
  if (!root.querySelector("h1") || root.dataset.file !== file) fill(root, back(params), h("p", { class: "notice" }, "Opening…"));
  root.dataset.file = file;
  const query = { passages: "true", first_line: from, max_lines: WINDOW };
  try {
    let found = await get(`/documents/${namePath(file)}`, { query });
    if (mine !== turn) return;
    const passage = params.has("p") ? found.passages?.find((each) => each.passage === Number(params.get("p"))) : null;
    if (passage) {
      cited = [passage.first_line, passage.last_line];
      if (cited[0] >= from + WINDOW) {
        found = await get(`/documents/${namePath(file)}`, { query: { ...query, first_line: cited[0] - BEFORE } });
        if (mine !== turn) return;
      }
    }
    document.title = `${found.title} · Dowse`;
    draw(found, { cited, params, passed: history.state ?? {} });
  } catch (error) {
    if (mine === turn) fill(root, back(params), failed(error, () => show(params)));
  }
}

function back(params) {
  const q = params.get("q");
  const label = q ? `Results for “${q.length > 40 ? `${q.slice(0, 39)}…` : q}”` : "Search";
  const link = h("a", { class: "button bare", href: address({ q }), data: { back: "1" } }, icon("back"), label);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    if (history.state?.citation || history.state?.inside) history.back();
    else go(address({ q }));
  });
  return h("nav", { class: "back", "aria-label": "Way back" }, link);
}

function passageAt(found, cited) {
  if (!cited) return null;
  return found.passages?.find((each) => each.first_line <= cited[0] && each.last_line >= cited[0]) ?? null;
}

function head(found, cited, passed, redraw) {
  const passage = passageAt(found, cited);
  const line = cited ? `:${cited[0]}` : "";
  const citation = passed.citation ?? passage?.citation ?? `${found.file}${line}`;
  const copy = h("button", { type: "button", class: "button cite-button" }, icon("copy"), "Copy citation");
  copy.addEventListener("click", () => copyCitation(citation, copy));
  const toggle = canRender(found) && h("button", { type: "button", class: "button", "aria-pressed": String(source) }, source ? "Formatted" : "Source");
  if (toggle) toggle.addEventListener("click", redraw);
  const fresh = FRESHNESS[found.freshness];
  return h(
    "header",
    { class: "document-head" },
    h("h1", {}, found.title || found.path),
    h(
      "p",
      { class: "path" },
      h("span", {}, found.file),
      h("span", { "aria-hidden": "true" }, "·"),
      h("span", {}, familyOf(found.media_type)),
      h("span", { "aria-hidden": "true" }, "·"),
      h("span", {}, `${count(found.total_lines)} lines, ${bytes(found.bytes ?? 0)}`),
      found.updated && [h("span", { "aria-hidden": "true" }, "·"), time(found.updated)],
    ),
    passage?.headings.some((each) => each !== found.title) && h("p", { class: "path" }, passage.headings.map((each) => h("span", { class: "heading" }, each))),
    found.context && h("p", { class: "soft" }, found.context),
    fresh && h("p", { class: `notes ${fresh[0]}` }, `${fresh[1]}. What you see is what was indexed; update the collection to read it again.`),
    h("div", { class: "actions" }, copy, editorLink(passed.editor || passage?.editor || found.editor), toggle),
  );
}

function turner(found, params) {
  const last = found.first_line + Math.max(0, found.text.replace(/\n$/, "").split("\n").length - 1);
  if (found.first_line <= 1 && last >= found.total_lines) return null;
  const to = (from, label) =>
    h("a", { class: "button", href: address({ doc: found.file, from, q: params.get("q") }), data: { own: "1", state: JSON.stringify({ inside: true }) } }, label);
  return h(
    "div",
    { class: "turner" },
    found.first_line > 1 && to(Math.max(1, found.first_line - WINDOW), "Earlier lines"),
    h("span", { class: "faint" }, `Lines ${count(found.first_line)}–${count(last)} of ${count(found.total_lines)}`),
    last < found.total_lines && to(last + 1, "Later lines"),
  );
}

function contents(found, body) {
  const all = outline(found.passages);
  if (all.length < 3) return null;
  const jump = (line) => {
    const places = [...body.querySelectorAll("[data-line]")];
    const place = places.find((each) => Number(each.dataset.line) >= line) ?? places.at(-1);
    if (!place) return;
    place.scrollIntoView({ block: "start" });
    place.setAttribute("tabindex", "-1");
    place.focus({ preventScroll: true });
  };
  const item = ({ text, level, line }) =>
    h("li", { class: `level-${Math.min(level, 3)}` }, h("button", { type: "button", on: { click: () => jump(line) } }, text));
  return h(
    "nav",
    { class: "contents", "aria-label": "In this document" },
    h("h2", {}, "In this document"),
    h("ul", {}, all.slice(0, MOST_HEADINGS).map(item)),
  );
}

function draw(found, { cited, params, passed }) {
  const body = render(found, { source });
  const redraw = () => {
    source = !source;
    draw(found, { cited, params, passed });
    root.querySelector("[aria-pressed]")?.focus();
  };
  const side = contents(found, body);
  fill(
    root,
    back(params),
    head(found, cited, passed, redraw),
    h("div", { class: side ? "document-body with-contents" : "document-body" }, h("div", { class: "text" }, turner(found, params), body, turner(found, params)), side),
  );
  body.addEventListener("click", (event) => {
    const wanted = event.target.closest?.("[data-heading]");
    if (!wanted) return;
    event.preventDefault();
    body.querySelector(`[data-slug="${CSS.escape(wanted.dataset.heading.toLowerCase())}"]`)?.scrollIntoView();
  });
  reveal(body, cited, passed);
}

function reveal(body, cited, passed) {
  const start = cited && markCited(body, cited[0], cited[1]);
  if (!start) {
    scrollTo(0, 0);
    document.getElementById("main").focus({ preventScroll: true });
    return;
  }
  markWords(body, passed.words);
  const target = start.closest(".cited-group") ?? start;
  scrollTo(0, 0);
  if (target.getBoundingClientRect().bottom > innerHeight - 40) start.scrollIntoView({ block: "center" });
  if (target.getBoundingClientRect().height > innerHeight * 0.6) target.scrollIntoView({ block: "start" });
  target.setAttribute("tabindex", "-1");
  target.focus({ preventScroll: true });
  announce(`Opened at line ${cited[0]}`);
}
