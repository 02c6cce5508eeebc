// Where we are: everything that a view shows is in the address, so that it can be shared and the back button works.
const listeners = new Set();

/** The view that the address names, with its parameters. */
export function here() {
  const params = new URLSearchParams(location.search);
  const view = params.has("doc") ? "document" : (params.get("view") ?? "search");
  return { view, params };
}

/** An address of the page: `address({ view: "map" })`; empty values are left out, lists are repeated. */
export function address(params) {
  const made = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== "") made.append(name, each);
    }
  }
  const text = made.toString().replaceAll("%2F", "/");
  return text ? `/?${text}` : "/";
}

/** Go there; `state` is kept with the entry of the history. */
export function go(to, state = null) {
  if (to !== location.pathname + location.search) history.pushState(state, "", to);
  tell();
}

/** The same place under another address: no new entry, nothing is shown anew. */
export function rename(to, state = history.state) {
  if (to !== location.pathname + location.search || state !== history.state) history.replaceState(state, "", to);
}

export function onMove(listener) {
  listeners.add(listener);
}

function tell() {
  for (const listener of listeners) listener(here());
}

addEventListener("popstate", tell);

// Links of our own change the view; whoever wants a new tab gets one.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || event.defaultPrevented || link.target || !link.dataset.own) return;
  event.preventDefault();
  go(link.getAttribute("href"), link.dataset.state ? JSON.parse(link.dataset.state) : null);
});
