// A question as the address spells it, as the form shows it and as the API takes it.
import { address } from "./places.js";
import { mediaTypesOf } from "./types.js";

/** By the word in the address: what people read, and which searches follow each other, with their pauses in ms. */
export const MODES = {
  auto: { label: "Auto", says: "Words at once, then meaning where it helps", steps: [["lex", 0], ["auto", 160]] },
  words: { label: "Words", says: "Exactly the words you type", steps: [["lex", 0]] },
  meaning: { label: "Meaning", says: "What you mean, in other words too", steps: [["vec", 120]] },
  hybrid: { label: "Both", says: "Words and meaning, always", steps: [["lex", 0], ["hybrid", 160]] },
};

const PAGE = 20;
const FIRST = 10; // as many as fit on a screen are enough for an answer that will be refined

export function fromParams(params) {
  const mode = params.get("mode");
  return {
    q: params.get("q") ?? "",
    mode: Object.hasOwn(MODES, mode) ? mode : "auto",
    collections: params.getAll("in"),
    types: params.getAll("type"),
    after: params.get("after") ?? "",
    before: params.get("before") ?? "",
  };
}

export function toAddress({ q, mode, collections, types, after, before }) {
  return address({ q, mode: mode === "auto" ? "" : mode, in: collections, type: types, after, before });
}

export const same = (one, other) => Boolean(one && other) && toAddress(one) === toAddress(other);

/** The body of POST /api/v1/search; `stats` knows which media types a family has here, `last` whether it is the last step. */
export function toBody(question, mode, stats, last) {
  const filters = {};
  if (question.types.length) filters.type = { $in: question.types.flatMap((family) => mediaTypesOf(family, stats)) };
  const date = {};
  if (question.after) date.$gte = question.after;
  if (question.before) date.$lte = question.before;
  if (Object.keys(date).length) filters.date = date;
  const body = { query: question.q, mode, limit: last ? PAGE : FIRST, explain: true };
  if (question.collections.length) body.collections = question.collections;
  if (Object.keys(filters).length) body.filters = filters;
  return body;
}
