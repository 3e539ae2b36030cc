// Before the first paint, so that a dark page does not flash white. lib/theme.js does the rest.
(() => {
  const chosen = localStorage.getItem("lineproof.theme");
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
})();
