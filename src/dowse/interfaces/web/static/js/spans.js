// The API counts characters as Unicode does, JavaScript counts halves of some: here the one becomes the other.
const ASTRAL = /[\ud800-\udbff][\udc00-\udfff]/;

/** A function from the API's offsets in a text to JavaScript's. */
export function offsets(text) {
  if (!ASTRAL.test(text)) return (offset) => offset;
  const starts = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  return (offset) => starts[offset] ?? text.length;
}

/** The parts of a text, in order: `[text, is marked]`. Spans that overlap are joined. */
export function marked(text, spans) {
  const at = offsets(text);
  const parts = [];
  let done = 0;
  for (const [first, last] of [...spans].sort((one, other) => one[0] - other[0])) {
    const start = Math.max(at(first), done);
    const end = at(last);
    if (end <= start) continue;
    if (start > done) parts.push([text.slice(done, start), false]);
    parts.push([text.slice(start, end), true]);
    done = end;
  }
  if (done < text.length) parts.push([text.slice(done), false]);
  return parts;
}
