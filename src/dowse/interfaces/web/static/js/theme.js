// Light or dark: the system's choice until somebody presses the switch, then theirs.
const KEY = "dowse-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

function chosen() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function apply(theme) {
  document.documentElement.dataset.theme = theme;
  for (const tell of listeners) tell(theme);
}

export const theme = () => document.documentElement.dataset.theme;

export function switchTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // It holds for this visit then.
  }
  apply(next);
}

// Drawings on a canvas have no style sheet: they are told, and draw themselves again.
export function onTheme(tell) {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

system.addEventListener("change", (event) => {
  if (!chosen()) apply(event.matches ? "dark" : "light");
});
