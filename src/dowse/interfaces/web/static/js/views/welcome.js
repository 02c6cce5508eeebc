// Before the first question, and after one that finds nothing.
import { get } from "../api.js";
import { fill, h, several, time } from "../dom.js";
import { address } from "../places.js";
import { failed, empty, notes } from "../states.js";
import { familyOf } from "../types.js";

const LATEST = 8;
let turn = 0;

function item(document) {
  return h(
    "li",
    {},
    h("a", { href: address({ doc: document.file }), data: { own: "1" } }, document.title),
    h("span", { class: "faint" }, document.file),
    h("span", { class: "faint push" }, familyOf(document.media_type), " · ", time(document.updated)),
  );
}

function start() {
  return empty(
    "Nothing is indexed yet",
    h("p", {}, "Add a folder of notes, papers or code. It is searchable by words at once, and by meaning soon after."),
    h("a", { class: "button main", href: address({ view: "collections" }), data: { own: "1" } }, "Add a folder"),
    h("p", { class: "faint" }, "or on the command line: ", h("code", {}, "dowse collection add ~/notes")),
  );
}

/** A question is asked: what is still on its way for the start must not cover its answer. */
export function endWelcome() {
  turn += 1;
}

/** What there is to search, into `place`; `stats` may still be on its way. */
export async function welcome(place, stats, retry) {
  const mine = ++turn;
  if (!stats) {
    fill(place);
    return;
  }
  if (!stats.documents) {
    fill(place, start());
    return;
  }
  try {
    const latest = await get("/documents", { query: { sort: "-updated", limit: LATEST } });
    if (mine !== turn) return;
    fill(
      place,
      h(
        "section",
        { class: "latest", "aria-labelledby": "latest-title" },
        h("h2", { id: "latest-title" }, "Lately changed"),
        h("p", { class: "faint" }, `${several(stats.documents, "document")} in ${several(stats.by_collection.length, "collection")}, ${several(stats.chunks, "passage")}`),
        h("ul", {}, latest.map(item)),
      ),
    );
  } catch (error) {
    if (mine === turn) fill(place, failed(error, retry));
  }
}

/** No result: say what could be done about it. */
export function nothingFound(place, question, said, change) {
  turn += 1;
  const narrowed = question.collections.length || question.types.length || question.after || question.before;
  const button = (label, parts) => h("button", { type: "button", class: "button", on: { click: () => change(parts) } }, label);
  fill(
    place,
    empty(
      "Nothing found",
      h(
        "ul",
        {},
        narrowed ? h("li", {}, "The filters may leave it out.") : null,
        question.mode === "words" && h("li", {}, "Searching by meaning also finds other words for it."),
        h("li", {}, "Fewer or other words find more; ", h("code", {}, "rest*"), " finds every word that begins so."),
        h("li", {}, "Is the file indexed? ", h("a", { href: address({ view: "collections" }), data: { own: "1" } }, "See what could not be read"), "."),
      ),
      narrowed ? button("Clear filters", { collections: [], types: [], after: "", before: "" }) : null,
      question.mode === "words" ? button("Search by meaning too", { mode: "hybrid" }) : null,
    ),
    notes(said),
  );
}
