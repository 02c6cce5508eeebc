// One table of keys: what is in it works, and the help shows it.
const keys = new Map();

/** Let a key do something wherever nobody types; `says` is its line in the help. */
export function onKey(key, says, act) {
  keys.set(key, { says, act });
}

export const known = () => [...keys].map(([key, { says }]) => [key, says]);

/** Whether an event comes from a place where letters are letters. */
export function isTyping(target) {
  return Boolean(target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]"));
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const found = keys.get(event.key);
  if (!found || found.act(event) === false) return;
  event.preventDefault();
});
