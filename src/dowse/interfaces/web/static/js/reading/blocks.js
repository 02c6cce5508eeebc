// Markdown as blocks: what each is, and which lines it takes. No nodes yet: markdown.js makes those.
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:([ \t]+)(.*))?$/;
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/;
const TABLE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const HTML = /^ {0,3}<(?:[a-z/!?])/i;
const REFERENCE = /^ {0,3}\[([^\]^]{1,200})\]:[ \t]*<?(\S+?)>?(?:[ \t]+["'(].*)?$/;
const INDENTED = /^(?: {4}|\t)/;
const DEEPEST = 8;

const blank = (line) => line === undefined || line.trim() === "";
const opensOther = (line) =>
  blank(line) || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);

/** The names of links and their addresses, wherever in the text they stand. */
export function references(lines) {
  const found = new Map();
  for (const line of lines) {
    const match = line.length < 3000 ? REFERENCE.exec(line) : null;
    if (match && !found.has(match[1].toLowerCase())) found.set(match[1].trim().toLowerCase(), match[2]);
  }
  return found;
}

// Each reader looks at lines[at] and returns `[block, next]`, or null where it is not its kind of block.

function fence(lines, at) {
  const open = FENCE.exec(lines[at]);
  if (!open) return null;
  let end = at + 1;
  const close = new RegExp(`^ {0,3}${open[1][0]}{${open[1].length},}\\s*$`);
  while (end < lines.length && !close.test(lines[end])) end += 1;
  return [{ kind: "code", language: open[2], lines: lines.slice(at + 1, end), offset: 1 }, Math.min(end + 1, lines.length)];
}

function heading(lines, at) {
  const found = HEADING.exec(lines[at]);
  return found ? [{ kind: "heading", level: found[1].length, text: found[2] ?? "" }, at + 1] : null;
}

const rule = (lines, at) => (RULE.test(lines[at]) ? [{ kind: "rule" }, at + 1] : null);

function indented(lines, at) {
  if (!INDENTED.test(lines[at])) return null;
  let end = at;
  while (end < lines.length && (INDENTED.test(lines[end]) || blank(lines[end]))) end += 1;
  while (blank(lines[end - 1])) end -= 1;
  return [{ kind: "code", language: "", lines: lines.slice(at, end).map((line) => line.replace(INDENTED, "")), offset: 0 }, end];
}

function quote(lines, at, depth) {
  if (!QUOTE.test(lines[at])) return null;
  let end = at;
  while (end < lines.length && !blank(lines[end]) && (QUOTE.test(lines[end]) || !opensOther(lines[end]))) end += 1;
  const inside = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return [{ kind: "quote", blocks: blocks(inside, depth + 1) }, end];
}

function list(lines, at, depth) {
  const first = ITEM.exec(lines[at]);
  if (!first) return null;
  const ordered = /\d/.test(first[2]);
  const items = [];
  let line = at;
  while (line < lines.length) {
    const found = ITEM.exec(lines[line]);
    if (!found || /\d/.test(found[2]) !== ordered || RULE.test(lines[line])) break;
    const width = found[1].length + found[2].length + Math.min((found[3] ?? " ").length, 4);
    const start = line;
    const inside = [found[4] ?? ""];
    line += 1;
    while (line < lines.length) {
      const indent = /^ */.exec(lines[line])[0].length;
      if (blank(lines[line])) {
        if (blank(lines[line + 1]) || /^ */.exec(lines[line + 1])[0].length < width) break;
        inside.push("");
      } else if (indent >= width) inside.push(lines[line].slice(width));
      else if (ITEM.test(lines[line]) || opensOther(lines[line]) || blank(inside.at(-1))) break;
      else inside.push(lines[line].trimStart());
      line += 1;
    }
    items.push({ start: start - at, end: line - at, blocks: blocks(inside, depth + 1), task: /^\[[ xX]\] /.exec(inside[0])?.[0] ?? "" });
    let skip = line;
    while (skip < lines.length && blank(lines[skip])) skip += 1;
    if (skip > line && skip < lines.length && ITEM.test(lines[skip]) && skip - line < 3) line = skip;
  }
  return [{ kind: "list", ordered, first: Number.parseInt(first[2], 10) || 1, items }, line];
}

const cells = (line) => {
  const made = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return made.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
};

function table(lines, at) {
  const under = lines[at + 1];
  if (!lines[at].includes("|") || under === undefined || !TABLE.test(under)) return null;
  const head = cells(lines[at]);
  const align = cells(under).map((cell) => (/:$/.test(cell) ? (/^:/.test(cell) ? "center" : "right") : ""));
  if (align.length !== head.length) return null;
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|") && !blank(lines[end])) end += 1;
  return [{ kind: "table", head, align, rows: lines.slice(at + 2, end).map(cells) }, end];
}

function html(lines, at) {
  if (!HTML.test(lines[at])) return null;
  let end = at;
  const comment = lines[at].trimStart().startsWith("<!--");
  if (comment) {
    while (end < lines.length && !lines[end].includes("-->")) end += 1;
    end += 1;
  } else while (end < lines.length && !blank(lines[end])) end += 1;
  end = Math.min(end, lines.length);
  return [{ kind: "html", text: lines.slice(at, end).join("\n") }, end];
}

const reference = (lines, at) => (lines[at].length < 3000 && REFERENCE.test(lines[at]) ? [{ kind: "reference" }, at + 1] : null);

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && !opensOther(lines[end])) {
    const under = SETEXT.exec(lines[end]);
    if (under) {
      const text = lines.slice(at, end).join("\n").trim();
      return [{ kind: "heading", level: under[1][0] === "=" ? 1 : 2, text }, end + 1];
    }
    end += 1;
  }
  if (end < lines.length && SETEXT.test(lines[end]) && !blank(lines[end]) && RULE.test(lines[end])) {
    return [{ kind: "heading", level: 2, text: lines.slice(at, end).join("\n").trim() }, end + 1];
  }
  return [{ kind: "paragraph", text: lines.slice(at, end).map((line) => line.replace(/^ +/, "")).join("\n") }, end];
}

const READERS = [fence, heading, rule, indented, quote, list, table, html, reference, paragraph];

/** The blocks of some lines; each has `start` and `end`, counted from the first of these lines. */
export function blocks(lines, depth = 0) {
  const made = [];
  let at = 0;
  while (at < lines.length) {
    if (blank(lines[at])) {
      at += 1;
      continue;
    }
    const readers = depth > DEEPEST ? [paragraph] : READERS;
    for (const read of readers) {
      const found = read(lines, at, depth);
      if (!found) continue;
      made.push({ ...found[0], start: at, end: found[1] });
      at = found[1];
      break;
    }
  }
  return made;
}
