// The only door to the server: the public API under /api/v1.
const ROOT = "/api/v1";
const TOKEN = "dowse-token";

/** What the server says went wrong, in its own words, with its way out. */
export class ApiError extends Error {
  constructor(status, { code = "unknown", message, hint = "", details = {} }) {
    super(message);
    Object.assign(this, { name: "ApiError", status, code, hint, details });
  }
}

let token = null;

/** Take the token from the address that the server printed; it leaves the address at once. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  try {
    if (given) sessionStorage.setItem(TOKEN, given);
    token = given ?? sessionStorage.getItem(TOKEN);
  } catch {
    token = given; // Storage can be forbidden; the token holds until the page is left.
  }
  if (given) history.replaceState(history.state, "", location.pathname + location.search);
}

function headers(extra) {
  return token ? { ...extra, Authorization: `Bearer ${token}` } : extra;
}

async function reach(path, options) {
  try {
    return await fetch(ROOT + path, { cache: "no-cache", ...options, headers: headers(options.headers ?? {}) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, {
      code: "unreachable",
      message: "The server does not answer.",
      hint: "Start it again with `dowse server --transport http`, then repeat this.",
    });
  }
}

async function failure(response) {
  const told = await response.json().catch(() => null);
  const error = told?.error ?? { message: `The server answered ${response.status}.` };
  if (response.status === 401) {
    error.hint = "Open the address that the server printed when it started: it ends in #token=…";
  }
  return new ApiError(response.status, error);
}

/** One request; returns the whole answer, `{ data, meta }`. Throws an ApiError, or an AbortError when it was aborted. */
export async function call(method, path, { body, query, signal } = {}) {
  const asked = query ? `?${new URLSearchParams(query)}` : "";
  const options = { method, signal };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { "Content-Type": "application/json" };
  }
  const response = await reach(path + asked, options);
  if (!response.ok) throw await failure(response);
  return response.json();
}

export const get = async (path, options) => (await call("GET", path, options)).data;

/** The part of a path that names a document, as `collection/path`. */
export const namePath = (file) => file.split("/").map(encodeURIComponent).join("/");

/** The events of a stream, as `{ event, data }`; fetch can send the token, EventSource cannot. */
export async function* events(path, { signal } = {}) {
  const response = await reach(path, { method: "GET", signal, headers: { Accept: "text/event-stream" } });
  if (!response.ok) throw await failure(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const made = event(part);
        if (made) yield made;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function event(part) {
  const lines = part.split("\n");
  const value = (name) => lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim());
  const data = value("data").join("\n");
  return data ? { event: value("event")[0] ?? "message", data: JSON.parse(data) } : null;
}
