// Search as you type: words at once, refined as soon as the typing rests. The address holds the question.
import { call, get } from "../api.js";
import { makeAsker } from "../asking.js";
import { announce, fill, h, icon, several } from "../dom.js";
import { onKey } from "../keys.js";
import { go, here, rename } from "../places.js";
import { fromParams, MODES, same, toAddress } from "../question.js";
import { failed, notes, waiting } from "../states.js";
import { drawFacets } from "./facets.js";
import { keyOf, resultItem } from "./results.js";
import { endWelcome, nothingFound, welcome } from "./welcome.js";

const REST = 300; // ms after the last letter until the address follows
const KEPT = { kept: true };

const box = h("input", {
  type: "search", id: "q", name: "q", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  placeholder: "Search your documents", "aria-label": "Search your documents", "aria-controls": "results",
});
const clear = h("button", { type: "button", class: "button bare clear", "aria-label": "Clear the question" }, icon("close"));
const slash = h("kbd", { "aria-hidden": "true" }, "/");
const summary = h("p", { class: "faint push", id: "summary" });
const facets = h("details", { class: "facets", open: matchMedia("(min-width: 52.01rem)").matches });
const list = h("ol", { class: "results", id: "results", "aria-label": "Results" });
const around = h("div", {});
const below = h("div", { class: "more" });
const busy = waiting();
const opened = new Set();
const radios = new Map();
const root = build();

let question = null; // until the first address is read
let answer = null;
let stats = null;
let scroll = 0;
let timer = 0;
let focusKey = null;

const asker = makeAsker({ onAnswer, onError, onBusy: busy.show });

function build() {
  const modes = Object.entries(MODES).map(([name, { label, says }]) => {
    const input = h("input", { type: "radio", name: "mode", value: name, on: { change: () => change({ mode: name }) } });
    radios.set(name, input);
    return h("label", { title: says }, input, h("span", {}, label));
  });
  return h(
    "div",
    { class: "search" },
    h("h1", { class: "unseen" }, "Search"),
    h(
      "form",
      { class: "search-head", role: "search", on: { submit } },
      h("div", { class: "search-box" }, icon("search"), box, slash, clear),
      h("div", { class: "search-row" }, h("div", { class: "modes", role: "radiogroup", "aria-label": "How to search" }, modes), summary),
      busy.line,
    ),
    h("div", { class: "search-body" }, facets, h("section", { "aria-label": "Answers" }, around, list, below)),
  );
}

// The view

export const enter = () => root;

export function show(params, { same: already }) {
  const wanted = fromParams(params);
  const unchanged = same(wanted, question) && (answer || !wanted.q);
  if (!unchanged || box.value !== wanted.q) set(wanted);
  if (!stats) loadStats();
  if (!already) {
    requestAnimationFrame(() => {
      scrollTo(0, scroll);
      const item = focusKey && list.querySelector(`[data-key="${CSS.escape(focusKey)}"] a`);
      if (item) item.focus({ preventScroll: true });
      else if (matchMedia("(hover: hover)").matches) box.focus({ preventScroll: true });
    });
  }
}

export function leave() {
  scroll = scrollY;
  asker.stop();
  clearTimeout(timer);
}

export function focusBox() {
  box.focus();
  box.select();
}

/** The files of the present answer, for the map. */
export const lastAnswer = () => answer;

// The question

function set(wanted) {
  question = wanted;
  answer = null;
  scroll = 0;
  focusKey = null;
  if (box.value !== wanted.q) box.value = wanted.q;
  radios.get(wanted.mode).checked = true;
  drawFacets(facets, question, stats, change);
  run();
}

function change(parts) {
  go(toAddress({ ...question, q: box.value, ...parts }), KEPT);
}

function submit(event) {
  event.preventDefault();
  clearTimeout(timer);
  keep();
  if (question.q.trim()) asker.ask(question, stats, { now: true });
}

function typed() {
  question = { ...question, q: box.value };
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (here().view !== "search") return;
    if (history.state?.kept) history.pushState(null, "", toAddress(question));
    else rename(toAddress(question));
  }, REST);
  run();
}

// An entry of the history that the next question must not overwrite.
function keep() {
  rename(toAddress(question), KEPT);
}

function run() {
  const asks = question.q.trim() !== "";
  clear.hidden = !question.q;
  slash.hidden = Boolean(question.q);
  if (asks) {
    endWelcome();
    asker.ask(question, stats);
    return;
  }
  asker.stop();
  answer = null;
  delete list.dataset.query;
  fill(list);
  fill(below);
  fill(summary);
  welcome(around, stats, () => loadStats());
}

// The answer

const DOUBTS = { absent: "This is probably not in your documents; these passages come nearest.", uncertain: "It is uncertain whether these passages answer." };

function onAnswer(given) {
  answer = given;
  const { data, meta, last, trouble } = given;
  const doubt = last && data.results.length && DOUBTS[data.verdict];
  const said = [...(doubt ? [doubt] : []), ...(meta.notes ?? []), ...(trouble ? [`Only words were searched: ${trouble.message}`] : [])];
  if (data.results.length) {
    fill(around, notes(said));
    draw(data.results);
  } else {
    fill(list); // what is left there answers another question
    if (last) nothingFound(around, question, said, change);
    else fill(around, h("p", { class: "faint" }, "No passage has these words. Looking for the meaning…"));
  }
  more(meta.next_cursor);
  const took = meta.elapsed_ms === undefined ? "" : ` in ${Math.max(1, Math.round(meta.elapsed_ms))} ms`;
  const how = { lex: "by words", vec: "by meaning", hybrid: "by words and meaning" }[data.mode] ?? "";
  const text = data.results.length ? `${several(data.results.length, "passage")} ${how}${took}` : "";
  fill(summary, text);
  list.dataset.query = given.question.q;
  list.dataset.stage = last ? "last" : "first";
  if (last) announce(data.results.length ? text : "Nothing found");
}

function draw(results) {
  const focused = list.contains(document.activeElement) ? document.activeElement.closest(".result")?.dataset.key : null;
  fill(list, results.map((hit) => resultItem(hit, question, opened)));
  if (focused) {
    const again = list.querySelector(`[data-key="${CSS.escape(focused)}"] .result-title a`) ?? list.querySelector(".result-title a");
    again?.focus({ preventScroll: true });
  }
}

function more(cursor) {
  if (!cursor) {
    fill(below);
    return;
  }
  const button = h("button", { type: "button", class: "button" }, "Show more");
  button.addEventListener("click", async () => {
    button.disabled = true;
    const asked = answer;
    try {
      const next = await call("POST", "/search", { body: { ...asked.body, cursor } });
      if (answer !== asked) return;
      const known = new Set(asked.data.results.map(keyOf));
      const fresh = next.data.results.filter((hit) => !known.has(keyOf(hit)));
      asked.data.results.push(...fresh);
      list.append(...fresh.map((hit) => resultItem(hit, question, opened)));
      list.querySelector(`[data-key="${CSS.escape(keyOf(fresh[0] ?? {}))}"] a`)?.focus();
      more(next.meta.next_cursor);
    } catch (error) {
      fill(below, failed(error));
    }
  });
  fill(below, button);
}

function onError(error, asked) {
  answer = null;
  list.dataset.query = asked.q;
  list.dataset.stage = "last";
  fill(list);
  fill(below);
  fill(summary);
  fill(around, failed(error, () => run()));
}

async function loadStats() {
  try {
    stats = await get("/stats");
  } catch (error) {
    if (!question?.q.trim()) fill(around, failed(error, () => loadStats()));
    return;
  }
  drawFacets(facets, question, stats, change);
  if (!question.q.trim()) welcome(around, stats, () => loadStats());
  else if (question.types.length) run(); // which media types a family has is known only now
}

// The keys

function step(by) {
  const links = [...list.querySelectorAll(".result-title a")];
  if (!links.length || here().view !== "search") return false;
  const at = links.findIndex((link) => link.closest(".result").contains(document.activeElement));
  const to = at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by;
  if (to < 0) box.focus();
  else links[Math.min(to, links.length - 1)].focus();
  links[Math.max(0, Math.min(to, links.length - 1))].closest(".result").scrollIntoView({ block: "nearest" });
  return true;
}

function press(selector) {
  const button = document.activeElement?.closest?.(".result")?.querySelector(selector);
  if (!button) return false;
  button.click();
  return true;
}

for (const key of ["j", "ArrowDown"]) onKey(key, "Next result", () => step(1));
for (const key of ["k", "ArrowUp"]) onKey(key, "Previous result", () => step(-1));
onKey("e", "Why a result is where it is", () => press(".explain-button"));
onKey("c", "Copy the citation", () => press(".cite-button") || document.querySelector(".document .cite-button")?.click() !== undefined);
onKey("Escape", "Back: to the results, to the box", () => {
  if (here().view === "search") box.focus();
  else document.querySelector("[data-back]")?.click();
});

box.addEventListener("input", typed);
box.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" && step(1)) event.preventDefault();
  if (event.key === "Escape" && box.value) {
    event.preventDefault();
    box.value = "";
    typed();
  }
});
clear.addEventListener("click", () => {
  box.value = "";
  typed();
  box.focus();
});
list.addEventListener("focusin", (event) => {
  focusKey = event.target.closest(".result")?.dataset.key ?? null;
});
box.addEventListener("focus", () => {
  focusKey = null;
});
// What is typed must be in the address before a result opens, or the way back would lead elsewhere.
list.addEventListener("click", keep, { capture: true });
