/** JSON as a tree with a search: facets of runs, jobs and datasets, events, results. */

import { html, useMemo, useState } from "../lib/dom.js";
import { Text } from "./name.js";

const OPEN_DEPTH = 2;
const MOST = 500;
/** Members of one object that are drawn; a facet can have more than a browser can show. */

/** @param {{value: any, label?: string, search?: boolean, depth?: number}} props */
export function Tree({ value, label = "Search in the facets", search = true, depth = OPEN_DEPTH }) {
  const [query, setQuery] = useState("");
  const wanted = query.trim().toLowerCase();
  const found = useMemo(() => (wanted ? matching(value, wanted) : value), [value, wanted]);
  return html`<div class="tree">
    ${search ? html`<label class="filter"><span>${label}</span><input type="search" value=${query} onInput=${(/** @type {any} */ event) => setQuery(event.target.value)} /></label>` : null}
    ${found === undefined ? html`<p class="muted">Nothing has “<${Text}>${query}<//>” in it.</p>` : html`<${Node} value=${found} depth=${wanted ? 99 : depth} />`}
  </div>`;
}

/** @param {{name?: string, value: any, depth: number}} props */
function Node({ name, value, depth }) {
  if (value === null || typeof value !== "object") {
    return html`<div class="leaf">${name === undefined ? null : html`<span class="key"><${Text}>${name}<//></span>`}<${Leaf} value=${value} /></div>`;
  }
  const members = Object.entries(value);
  const list = Array.isArray(value);
  if (!members.length) return html`<div class="leaf">${name === undefined ? null : html`<span class="key"><${Text}>${name}<//></span>`}<span class="faint">${list ? "[ ]" : "{ }"}</span></div>`;
  const inside = html`<div class="inside">
    ${members.slice(0, MOST).map(([key, member]) => html`<${Node} key=${key} name=${key} value=${member} depth=${depth - 1} />`)}
    ${members.length > MOST ? html`<p class="muted">and ${members.length - MOST} more: search for them</p>` : null}
  </div>`;
  if (name === undefined) return inside;
  return html`<${Branch} name=${name} size=${members.length} list=${list} open=${depth > 0}>${inside}<//>`;
}

/** Draws its members when it is first opened. @param {{name: string, size: number, list: boolean, open: boolean, children?: any}} props */
function Branch({ name, size, list, open, children }) {
  const [opened, setOpened] = useState(open);
  return html`<details open=${open || opened} onToggle=${(/** @type {any} */ event) => event.target.open && setOpened(true)}>
    <summary><span class="key"><${Text}>${name}<//></span> <span class="faint">${list ? `[${size}]` : `{${size}}`}</span></summary>
    ${open || opened ? children : null}
  </details>`;
}

/** @param {{value: any}} props */
const Leaf = ({ value }) =>
  typeof value === "string"
    ? html`<span class="value"><${Text} lines>${value}<//></span>`
    : html`<span class="value literal">${String(value)}</span>`;

/** The part of a value in which a key or a leaf has this text; undefined if none has. @param {any} value @param {string} wanted @returns {any} */
function matching(value, wanted) {
  if (value === null || typeof value !== "object") return String(value).toLowerCase().includes(wanted) ? value : undefined;
  const kept = Object.entries(value).flatMap(([key, member]) => {
    const inside = key.toLowerCase().includes(wanted) && !Array.isArray(value) ? member : matching(member, wanted);
    return inside === undefined ? [] : [[key, inside]];
  });
  return kept.length ? Object.fromEntries(kept) : undefined;
}
