// Families of media types: what people call the kinds of their files.
const FAMILIES = [
  ["Markdown", /^text\/markdown$/],
  ["PDF", /^application\/pdf$/],
  ["Web pages", /^(text\/html|application\/xhtml\+xml|application\/epub\+zip)$/],
  ["Office", /officedocument|^application\/(msword|vnd\.ms-)/],
  ["Notebooks", /ipynb/],
  ["Mail", /^(message\/rfc822|application\/mbox)$/],
  ["Data", /^(application\/(.*json.*|yaml|toml)|text\/(csv|tab-separated-values|x-ini))$/],
  ["Text", /^(text\/(plain|x-rst|asciidoc|org|vtt)|application\/(x-tex|x-subrip))$/],
  ["Code", /^(text\/(x-.+|javascript|typescript|tsx|css)|application\/sql)$/],
];

export function familyOf(mediaType) {
  return FAMILIES.find(([, pattern]) => pattern.test(mediaType))?.[0] ?? "Other";
}

/** `[[family, documents]]`, the largest first. */
export function families(stats) {
  const counts = new Map();
  for (const { media_type: type, documents } of stats?.by_type ?? []) {
    counts.set(familyOf(type), (counts.get(familyOf(type)) ?? 0) + documents);
  }
  return [...counts].sort((one, other) => other[1] - one[1]);
}

/** The media types of a family that the index has; one that it has not finds nothing rather than everything. */
export function mediaTypesOf(family, stats) {
  const found = (stats?.by_type ?? []).map((each) => each.media_type).filter((type) => familyOf(type) === family);
  return found.length ? found : [family.toLowerCase()];
}

export const isCode = (mediaType) => ["Code", "Data"].includes(familyOf(mediaType));
export const isPlain = (mediaType) => familyOf(mediaType) === "Text";
