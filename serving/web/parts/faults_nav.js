/** The three lists of what is wrong. */

import { html } from "../lib/dom.js";
import { link, useRoute } from "../lib/router.js";

const LISTS = /** @type {const} */ ([["/violations", "Violations"], ["/dead-letters", "Dead letters"], ["/defects", "Defects"]]);

export function FaultsNav() {
  const { path } = useRoute();
  return html`<nav class="tabs" aria-label="What is wrong">${LISTS.map(([to, label]) => html`<a key=${to} href=${link(to)} aria-current=${to === path ? "page" : null}>${label}</a>`)}</nav>`;
}
