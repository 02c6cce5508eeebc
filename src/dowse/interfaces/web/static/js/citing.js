// Taking a passage along: its citation to the clipboard, its file into an editor.
import { announce, fill, h, icon } from "./dom.js";

const SHOWN = 1600; // ms that a button says it is done
const NEVER = /^(javascript|data|vbscript|blob|about|filesystem|file):/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // Browsers allow it on https and on this machine only.
  }
}

async function copyWith(text, button, done) {
  const worked = await copy(text);
  const said = worked ? done : "The browser does not allow copying here";
  announce(said);
  const before = [...button.childNodes];
  fill(button, icon(worked ? "check" : "warn"), worked ? "Copied" : "Not allowed");
  setTimeout(() => fill(button, before), SHOWN);
}

export const copyCitation = (citation, button) => copyWith(citation, button, "The citation is in the clipboard");

/** Whether a browser may be sent to an address: never one that runs or embeds something. */
export function isSafe(address) {
  const bare = address.replace(/[\u0000-\u0020]/g, "");
  return SCHEME.test(bare) ? !NEVER.test(bare) : false;
}

/** A way into the editor. Browsers refuse links to files, so for those the path goes to the clipboard. */
export function editorLink(target, style = "button") {
  if (!target) return null;
  if (isSafe(target)) {
    const label = /^https?:/i.test(target) ? "Open source" : "Open in editor";
    return h("a", { class: `${style} editor-link`, href: target, rel: "noreferrer", target: /^https?:/i.test(target) ? "_blank" : null }, icon("edit"), label);
  }
  if (!/^file:\/\//i.test(target)) return null;
  const [address, fragment] = target.split("#");
  const line = /^L(\d+)/.exec(fragment ?? "")?.[1];
  const path = decodeURIComponent(new URL(address).pathname) + (line ? `:${line}` : "");
  const title = "Copies the path. To open it with one click, set `editor` (vscode, zed, idea …) in the settings of Dowse.";
  const button = h("button", { type: "button", class: `${style} editor-link`, title }, icon("edit"), "Copy path");
  button.addEventListener("click", () => copyWith(path, button, "The path is in the clipboard"));
  return button;
}
