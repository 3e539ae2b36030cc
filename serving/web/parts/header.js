/** The top of every view. */

import { html } from "../lib/dom.js";
import { link } from "../lib/router.js";
import { useStore } from "../lib/store.js";
import { choose, theme } from "../lib/theme.js";
import { AsOf } from "./as_of.js";
import { SearchBox } from "./search.js";

/** Path and label of each view, and the views that belong to it. @type {[string, string, string[]][]} */
const VIEWS = [
  ["/", "Overview", []],
  ["/lineage", "Lineage", []],
  ["/datasets", "Datasets", ["/dataset"]],
  ["/jobs", "Jobs", ["/job"]],
  ["/runs", "Runs", ["/run"]],
  ["/quality", "Quality", []],
  ["/proof", "Proof", []],
  ["/violations", "Violations", ["/dead-letters", "/defects"]],
  ["/time", "Time", []],
];

const THEMES = /** @type {const} */ ({ auto: ["◐", "dark"], dark: ["●", "light"], light: ["○", "auto"] });

/** On a phone, the chosen view can be beyond the edge. @param {HTMLElement | null} node */
const seen = (node) => node && node.parentElement && (node.parentElement.scrollLeft = node.offsetLeft - node.parentElement.offsetLeft - 40);

/** @param {{path: string, help: () => void}} props */
export function Header({ path, help }) {
  return html`<header class="top">
    <a class="brand" href=${link("/")} aria-label="lineproof, overview">line<span>proof</span></a>
    <nav class="views" aria-label="Views">
      ${VIEWS.map(
        ([to, label, more]) =>
          html`<a key=${to} href=${link(to)} aria-current=${path === to || more.includes(path) ? "page" : null} ref=${path === to || more.includes(path) ? seen : null}>${label}</a>`,
      )}
    </nav>
    <div class="tools">
      <${SearchBox} />
      <${AsOf} />
      <${ThemeButton} />
      <button type="button" onClick=${help} aria-label="Help" title="Help (?)">?</button>
    </div>
  </header>`;
}

function ThemeButton() {
  const now = useStore(theme);
  const [shape, next] = THEMES[now];
  return html`<button type="button" id="theme" onClick=${() => choose(next)} title=${`Theme: ${now}`} aria-label=${`Theme: ${now}. Change to ${next}`}>${shape}</button>`;
}
