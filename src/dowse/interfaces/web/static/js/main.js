// The shell: the bar at the top, one view below it, the keys that work everywhere.
import { takeToken } from "./api.js";
import { fill, h, icon, svg } from "./dom.js";
import { openHelp } from "./help.js";
import { onKey } from "./keys.js";
import { address, go, here, onMove } from "./places.js";
import { failed } from "./states.js";
import { onTheme, switchTheme, theme } from "./theme.js";
import * as search from "./views/search.js";

const VIEWS = {
  search: { title: "Search", load: async () => search },
  document: { title: "Document", load: () => import("./views/document.js") },
  map: { title: "Map", load: () => import("./views/map.js") },
  collections: { title: "Collections", load: () => import("./views/collections.js") },
  status: { title: "Status", load: () => import("./views/status.js") },
};
const IN_BAR = ["search", "map", "collections", "status"];

const main = document.getElementById("main");
const links = new Map();
let shown = null;
let turn = 0;

function drop() {
  return svg(
    "svg",
    { viewBox: "0 0 32 32", "aria-hidden": "true" },
    svg("path", { d: "M16 3c5 6.6 8.6 11 8.6 15.8a8.6 8.6 0 0 1-17.2 0C7.4 14 11 9.6 16 3z" }),
  );
}

function themeButton() {
  const button = h("button", { type: "button", class: "button bare", on: { click: switchTheme } });
  const draw = (now) => {
    const other = now === "dark" ? "light" : "dark";
    fill(button, icon(now === "dark" ? "sun" : "moon"));
    button.setAttribute("aria-label", `Use ${other} colours`);
    button.title = `Use ${other} colours (t)`;
  };
  onTheme(draw);
  draw(theme());
  return button;
}

function bar() {
  for (const name of IN_BAR) {
    const href = name === "search" ? "/" : address({ view: name });
    links.set(name, h("a", { href, data: { own: "1" } }, VIEWS[name].title));
  }
  const help = { type: "button", class: "button bare", title: "Keys and query language (?)", "aria-label": "Help", on: { click: openHelp } };
  fill(
    document.getElementById("bar"),
    h(
      "div",
      { class: "bar-inside" },
      h("a", { class: "brand", href: "/", data: { own: "1" }, "aria-label": "Dowse, start" }, drop(), h("span", {}, "Dowse")),
      h("nav", { "aria-label": "Views" }, [...links.values()]),
      h("span", { class: "push" }),
      themeButton(),
      h("button", help, h("kbd", {}, "?")),
    ),
  );
}

async function show({ view, params }) {
  const mine = ++turn;
  const name = VIEWS[view] ? view : "search";
  let module;
  try {
    module = await VIEWS[name].load();
  } catch (error) {
    console.error(error);
    fill(main, failed({ message: "This part of the page could not be loaded.", hint: "Is the server still running?" }));
    return;
  }
  if (mine !== turn) return;
  const same = shown?.name === name;
  if (!same) {
    shown?.module.leave?.();
    shown = { name, module };
    for (const [each, link] of links) {
      if (each === name || (name === "document" && each === "search")) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = name === "search" ? "Dowse" : `${VIEWS[name].title} · Dowse`;
    fill(main, module.enter());
  }
  module.show(params, { same });
}

onKey("t", "Light or dark", switchTheme);
onKey("?", "This help", openHelp);
onKey("/", "Search", () => {
  if (here().view !== "search") go("/");
  search.focusBox();
});

takeToken();
bar();
onMove(show);
show(here());
