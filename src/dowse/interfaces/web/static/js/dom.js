// Elements are made of nodes and texts, never of markup: what a document says cannot become part of the page.
const SVG = "http://www.w3.org/2000/svg";

function make(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "data") {
      Object.assign(element.dataset, value);
    } else if (name === "style") {
      for (const [property, setting] of Object.entries(value)) element.style.setProperty(property, setting);
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** An element of HTML: `h("a", { href, on: { click } }, "text", node, [nodes])`. */
export const h = (tag, props, ...children) => make(document.createElement(tag), props, children);

/** The same for SVG. */
export const svg = (tag, props, ...children) => make(document.createElementNS(SVG, tag), props, children);

/** Put these children, and only these, into an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** A line drawing of 20 by 20 in the colour of the text beside it. */
export function icon(name) {
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: ICONS[name] }),
  );
}

const ICONS = {
  search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M13.2 13.2 17 17",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1",
  moon: "M16.5 11.8A6.8 6.8 0 0 1 8.2 3.5a6.8 6.8 0 1 0 8.3 8.3z",
  copy: "M7 7h9v10H7zM4 13V3h9",
  edit: "M3.5 16.5l.8-3.6 9-9 2.8 2.8-9 9zM11.5 5.7l2.8 2.8",
  back: "M12 4l-6 6 6 6",
  close: "M5 5l10 10M15 5 5 15",
  bars: "M4 16V9M10 16V4M16 16v-5",
  refresh: "M16 10a6 6 0 1 1-1.8-4.2M16 3v3.5h-3.5",
  trash: "M4 6h12M8 6V4h4v2M6 6l.7 10h6.6L14 6",
  plus: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  home: "M3.5 9 10 3.5 16.5 9v7.5h-13z",
  warn: "M10 3.5 17.5 16.5h-15zM10 8.5v3.5M10 14.2v.1",
  check: "M4 10.5l4 4 8-9",
};

/** Say it to those who listen instead of look. */
export function announce(text) {
  const place = document.getElementById("announcer");
  if (place.textContent !== text) place.textContent = text;
}

/** A number for people: 12,345. */
export const count = (number) => new Intl.NumberFormat("en").format(number);

/** `3 documents`, `1 document`. */
export const several = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

const BYTES = ["B", "KB", "MB", "GB", "TB"];

export function bytes(number) {
  let unit = 0;
  let value = number;
  while (value >= 1000 && unit < BYTES.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 && unit ? value.toFixed(1) : Math.round(value)} ${BYTES[unit]}`;
}

const DATE = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const MOMENT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/** A time of the API as people write it, with the exact one behind it. */
export function time(value, { exact = false } = {}) {
  const moment = new Date(value);
  if (!value || Number.isNaN(moment.getTime())) return null;
  return h("time", { datetime: moment.toISOString(), title: MOMENT.format(moment) }, (exact ? MOMENT : DATE).format(moment));
}
