/** Light, dark, or as the system says. `data-theme` on the root element is always "light" or "dark". */

import { store } from "./store.js";

/** @typedef {"auto" | "light" | "dark"} Theme */

const NAME = "lineproof.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** What was chosen. @type {import("./store.js").Store<Theme>} */
export const theme = store(stored());

/** What is shown; charts and graphs draw again when it changes. @type {import("./store.js").Store<"light" | "dark">} */
export const shown = store(/** @type {"light" | "dark"} */ ("light"));

/** @param {Theme} chosen */
export function choose(chosen) {
  localStorage.setItem(NAME, chosen);
  theme.set(chosen);
  apply();
}

/**
 * A colour of style/tokens.css as the theme has it, for canvases: `colour("--proven")`.
 * @param {string} token
 */
export const colour = (token) => getComputedStyle(document.documentElement).getPropertyValue(token).trim();

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** @returns {Theme} */
function stored() {
  const value = localStorage.getItem(NAME);
  return value === "light" || value === "dark" ? value : "auto";
}

function apply() {
  const chosen = theme.get();
  const dark = chosen === "dark" || (chosen === "auto" && system.matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  shown.set(dark ? "dark" : "light");
}

system.addEventListener("change", apply);
apply();
