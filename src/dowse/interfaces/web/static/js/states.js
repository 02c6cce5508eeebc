// Nothing to show, not yet, or not at all: each says what to do.
import { h, icon } from "./dom.js";

/** Text in which `code` between backticks is set as code. */
export function prose(text) {
  return String(text).split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));
}

/** An error of the API, with its way out. */
export function failed(error, retry) {
  return h(
    "div",
    { class: "notice", role: "alert" },
    icon("warn"),
    h("h2", {}, error.message),
    error.hint && h("p", {}, prose(error.hint)),
    retry && h("button", { type: "button", class: "button", on: { click: retry } }, icon("refresh"), "Try again"),
  );
}

export function empty(title, ...rest) {
  return h("div", { class: "notice" }, icon("search"), h("h2", {}, title), rest);
}

/** Sentences that the API sends along with an answer. */
export function notes(sentences, kind = "") {
  if (!sentences?.length) return null;
  return h("div", { class: `notes ${kind}` }, sentences.map((each) => h("p", {}, prose(each))));
}

/** A line that moves while something is under way. */
export function waiting() {
  const line = h("div", { class: "waiting", "aria-hidden": "true" });
  return { line, show: (on) => line.classList.toggle("on", on) };
}
