// What narrows a search: collections, kinds of files, dates.
import { count, fill, h } from "../dom.js";
import { families } from "../types.js";

const PERIODS = [
  ["", "Any time"],
  ["7d", "Past week"],
  ["1m", "Past month"],
  ["1y", "Past year"],
];
const DAY = /^\d{4}-\d\d-\d\d$/;
const MOST = 12;

function choice(type, name, value, label, total, checked, change) {
  const input = h("input", { type, name, value, on: { change } });
  input.checked = checked;
  return h(
    "label",
    { class: "choice" },
    input,
    h("span", { title: label }, label),
    total !== null && h("span", { class: "faint numbers" }, count(total)),
  );
}

function group(title, name, entries, chosen, change) {
  if (entries.length < 2 && !chosen.length) return null;
  const known = new Set(entries.map(([value]) => value));
  const all = [...entries.slice(0, MOST), ...chosen.filter((value) => !known.has(value)).map((value) => [value, 0])];
  const listener = (event) => {
    const { value, checked } = event.target;
    change(checked ? [...chosen, value] : chosen.filter((each) => each !== value));
  };
  return h(
    "fieldset",
    {},
    h("legend", {}, title),
    all.map(([value, total]) => choice("checkbox", name, value, value, total, chosen.includes(value), listener)),
  );
}

function dates(question, change) {
  const isPeriod = !question.before && PERIODS.some(([value]) => value === question.after);
  const date = (name, label) => {
    const value = DAY.test(question[name]) ? question[name] : "";
    const input = h("input", { type: "date", value, "aria-label": label, title: label });
    input.addEventListener("change", () => {
      const rest = isPeriod ? { after: "", before: "" } : {};
      change({ ...rest, [name]: input.value });
    });
    return input;
  };
  return h(
    "fieldset",
    {},
    h("legend", {}, "Date"),
    PERIODS.map(([value, label]) =>
      choice("radio", "period", value, label, null, isPeriod && value === question.after, () => change({ after: value, before: "" })),
    ),
    h("div", { class: "dates" }, date("after", "Not before this day"), date("before", "Not after this day")),
  );
}

/** Draw the facets of a question into `place`; `change` gets the parts of the question that change. */
export function drawFacets(place, question, stats, change) {
  const collections = (stats?.by_collection ?? []).map((each) => [each.collection, each.documents]);
  const chosen = question.collections.length + question.types.length + (question.after || question.before ? 1 : 0);
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const again = focused && [focused.name, focused.value, focused.getAttribute("aria-label")];
  fill(
    place,
    h("summary", {}, "Filters", chosen > 0 && h("span", { class: "chip" }, count(chosen))),
    h(
      "div",
      { class: "facets-inside" },
      group("Collection", "collection", collections, question.collections, (next) => change({ collections: next })),
      group("Type", "type", families(stats), question.types, (next) => change({ types: next })),
      dates(question, change),
      chosen > 0 &&
        h("button", { type: "button", class: "button", on: { click: () => change({ collections: [], types: [], after: "", before: "" }) } }, "Clear filters"),
    ),
  );
  if (again) {
    for (const input of place.querySelectorAll("input")) {
      if (input.name === again[0] && (input.value === again[1] || input.type === "date") && input.getAttribute("aria-label") === again[2]) input.focus();
    }
  }
}
