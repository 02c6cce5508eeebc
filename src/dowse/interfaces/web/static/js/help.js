// What the keys do and how a question is written.
import { h, icon } from "./dom.js";
import { known } from "./keys.js";

const NAMES = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", j: "j", k: "k" };
const LANGUAGE = [
  ['"nightly backup"', "these words, side by side"],
  ["-cloud", "without this word"],
  ["restor*", "every word that begins so"],
  ["type:pdf", "only such files: pdf, code, office, html …"],
  ["after:2024-05", "changed since; before: for until"],
  ["path:src/*", "only from such paths"],
];

function rows(pairs) {
  return h(
    "dl",
    { class: "keys" },
    pairs.map(([terms, says]) => [h("dt", {}, terms), h("dd", {}, says)]),
  );
}

function keyRows() {
  const bySense = new Map();
  for (const [key, says] of known()) bySense.set(says, [...(bySense.get(says) ?? []), key]);
  return [...bySense].map(([says, keys]) => [keys.map((key) => h("kbd", {}, NAMES[key] ?? key)), says]);
}

export function openHelp() {
  const close = h("button", { type: "button", class: "button bare", "aria-label": "Close" }, icon("close"));
  const dialog = h(
    "dialog",
    { "aria-labelledby": "help-title" },
    h("div", { class: "dialog-head" }, h("h2", { id: "help-title" }, "Keys"), close),
    rows([...keyRows(), [h("kbd", {}, "Enter"), "Search now; on a result, open it"]]),
    h("h3", {}, "Asking"),
    h("p", { class: "faint" }, "Words or a whole question will do. To be exact:"),
    rows(LANGUAGE.map(([term, says]) => [h("code", {}, term), says])),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}
