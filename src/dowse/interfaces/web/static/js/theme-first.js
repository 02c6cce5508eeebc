// Before the first paint, so that nothing flashes; the only script that is not a module. See theme.js.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("dowse-theme");
  } catch {
    // Storage can be forbidden; the system's choice is good enough then.
  }
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
