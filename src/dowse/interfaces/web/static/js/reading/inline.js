// Markdown inside of a paragraph, as nodes. HTML in it stays text; links lead only to where a browser may go.
import { isSafe } from "../citing.js";
import { h } from "../dom.js";

const DEEPEST = 12;
const LONGEST = 20_000; // characters; beyond that it is no paragraph that anybody wrote
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", mdash: "—", ndash: "–", hellip: "…", rarr: "→", larr: "←" };
const ENTITY = /&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});/gi;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const AUTOLINK = /^<((?:https?|mailto):[^\s<>]{1,2000})>/i;
const BARE = /^https?:\/\/[^\s<>"'`)\]]{2,2000}/i;
const WORD = /[\p{L}\p{N}]/u;
const SPECIAL = /[\\`*_~[!<&\nh]/g;
const PAIRS = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "del"],
  ["*", "em"],
  ["_", "em"],
];

function character(name) {
  if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? `&${name};`;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
}

export const decoded = (text) => text.replace(ENTITY, (_, name) => character(name));

/** Where the bracket that opens at `at` closes; -1 where it does not. */
function closing(text, at, open, close) {
  let depth = 0;
  for (let index = at; index < text.length && index < at + 4000; index += 1) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === open) depth += 1;
    else if (text[index] === close && --depth === 0) return index;
  }
  return -1;
}

/** `(target "title")` or `[name]` behind a label; null where there is none. */
function target(text, at, label, context) {
  if (text[at] === "(") {
    const end = closing(text, at, "(", ")");
    if (end < 0) return null;
    const inside = text.slice(at + 1, end).trim();
    const found = /^(?:<([^<>\n]*)>|(\S*))(?:\s+["'(][^]*)?$/.exec(inside);
    if (!found) return null;
    return { to: decoded(found[1] ?? found[2] ?? "").replace(/\\([!-/:-@[-`{-~])/g, "$1"), end: end + 1 };
  }
  let name = label;
  let end = at;
  if (text[at] === "[") {
    const close = closing(text, at, "[", "]");
    if (close < 0) return null;
    name = text.slice(at + 1, close) || label;
    end = close + 1;
  }
  const known = context.references.get(name.trim().toLowerCase());
  return known === undefined ? null : { to: known, end };
}

function anchor(to, children, context) {
  const made = context.link(to);
  if (made) return h("a", made, children);
  if (isSafe(to)) return h("a", { href: to, rel: "noreferrer noopener", target: "_blank" }, children);
  return h("span", { class: "dead-link", title: "This link is not followed" }, children);
}

function image(label, context) {
  return h("span", { class: "picture" }, label ? `Image: ${plain(label)}` : "Image");
}

const plain = (text) => decoded(text.replace(/[*_`~]/g, ""));

function bracket(text, at, depth, context) {
  const isImage = text[at] === "!";
  const open = isImage ? at + 1 : at;
  if (text[open] !== "[") return null;
  const close = closing(text, open, "[", "]");
  if (close < 0) return null;
  const label = text.slice(open + 1, close);
  const found = target(text, close + 1, label, context);
  if (!found) return null;
  if (isImage) return [image(label, context), found.end];
  return [anchor(found.to, parse(label, depth + 1, context), context), found.end];
}

function codeSpan(text, at, none) {
  const ticks = /^`+/.exec(text.slice(at, at + 64))[0];
  if (none.has(ticks)) return [ticks, at + ticks.length];
  let end = at + ticks.length;
  for (;;) {
    end = text.indexOf(ticks, end);
    if (end < 0) {
      none.add(ticks);
      return [ticks, at + ticks.length];
    }
    let after = end + ticks.length;
    if (text[after] !== "`" && text[end - 1] !== "`") {
      const inside = text.slice(at + ticks.length, end).replaceAll("\n", " ");
      return [h("code", {}, /^ .*[^ ].* $/.test(inside) ? inside.slice(1, -1) : inside), after];
    }
    while (text[after] === "`") after += 1;
    end = after;
  }
}

function emphasis(text, at, depth, none, context) {
  for (const [sign, tag] of PAIRS) {
    if (!text.startsWith(sign, at)) continue;
    const start = at + sign.length;
    if (none.has(sign) || !text[start] || /\s/.test(text[start])) continue;
    if (sign.includes("_") && WORD.test(text[at - 1] ?? "")) continue;
    let end = text.indexOf(sign, start + 1);
    while (end > 0 && !closes(text, end, sign)) end = text.indexOf(sign, end + 1);
    if (end < 0) {
      none.add(sign);
      continue;
    }
    return [h(tag, {}, parse(text.slice(start, end), depth + 1, context)), end + sign.length];
  }
  return null;
}

function closes(text, end, sign) {
  if (/\s/.test(text[end - 1]) || text[end - 1] === "\\") return false;
  if (sign.length === 1 && (text[end + 1] === sign || text[end - 1] === sign)) return false;
  return !(sign.includes("_") && WORD.test(text[end + sign.length] ?? ""));
}

function special(text, at, depth, none, context) {
  const sign = text[at];
  if (sign === "\\") {
    const next = text[at + 1] ?? "";
    if (next === "\n") return [h("br"), at + 2];
    return PUNCTUATION.test(next) ? [next, at + 2] : null;
  }
  if (sign === "`") return codeSpan(text, at, none);
  if (sign === "[" || sign === "!") return bracket(text, at, depth, context);
  if (sign === "<") {
    const found = AUTOLINK.exec(text.slice(at, at + 2100));
    return found ? [anchor(found[1], found[1], context), at + found[0].length] : null;
  }
  if (sign === "h") {
    const found = WORD.test(text[at - 1] ?? "") ? null : BARE.exec(text.slice(at, at + 2100));
    if (!found) return null;
    const address = found[0].replace(/[.,;:!?]+$/, "");
    return [anchor(address, address, context), at + address.length];
  }
  if (sign === "\n") return text.slice(at - 2, at) === "  " ? [h("br"), at + 1] : ["\n", at + 1];
  return emphasis(text, at, depth, none, context);
}

function parse(text, depth, context) {
  if (depth > DEEPEST) return [decoded(text)];
  const nodes = [];
  const none = new Set(); // signs that nothing closes from here on
  let done = 0;
  SPECIAL.lastIndex = 0;
  for (let at = next(text, 0); at < text.length; at = next(text, Math.max(at, done))) {
    const made = special(text, at, depth, none, context);
    if (!made) {
      at += 1;
      continue;
    }
    if (at > done) nodes.push(decoded(text.slice(done, at)));
    nodes.push(made[0]);
    done = made[1];
  }
  if (done < text.length) nodes.push(decoded(text.slice(done)));
  return nodes;
}

function next(text, from) {
  SPECIAL.lastIndex = from;
  return SPECIAL.exec(text)?.index ?? text.length;
}

/**
 * The nodes of a paragraph.
 * @param context `references` (a map of names to addresses) and `link(address)`, which gives the attributes of a
 *   link inside of the page, or null
 */
export function inline(text, context) {
  return text.length > LONGEST ? [text] : parse(text, 0, context);
}
