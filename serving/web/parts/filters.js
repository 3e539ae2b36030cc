/** Controls whose values are parameters of the address: a filter can be bookmarked, shared, and undone with "back". */

import { html, useEffect, useRef, useState } from "../lib/dom.js";
import { link, setParams, useRoute } from "../lib/router.js";

const TYPING_MS = 250;

/** @param {{children: any, label?: string}} props */
export const Filters = ({ children, label = "Filters" }) => html`<div class="filters" role="search" aria-label=${label}>${children}</div>`;

/** @param {{name: string, label: string, options: (string | [string, string])[]}} props the first option means "all" */
export function Choice({ name, label, options }) {
  const { params } = useRoute();
  const pairs = options.map((option) => (Array.isArray(option) ? option : [option, option]));
  return html`<label class="filter"><span>${label}</span>
    <select value=${params[name] ?? ""} onChange=${(/** @type {any} */ event) => setParams({ [name]: event.target.value })}>
      ${pairs.map(([value, text]) => html`<option key=${value} value=${value} selected=${(params[name] ?? "") === value}>${text}</option>`)}
    </select>
  </label>`;
}

/** Text that filters while it is typed. @param {{name: string, label: string, placeholder?: string, type?: string}} props */
export function Typed({ name, label, placeholder, type = "search" }) {
  const { params } = useRoute();
  const [value, setValue] = useState(params[name] ?? "");
  const timer = useRef(/** @type {any} */ (0));
  useEffect(() => setValue(params[name] ?? ""), [params[name]]);
  const typed = (/** @type {any} */ event) => {
    setValue(event.target.value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setParams({ [name]: event.target.value }, { replace: true }), TYPING_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return html`<label class="filter"><span>${label}</span>
    <input type=${type} value=${value} placeholder=${placeholder} onInput=${typed} />
  </label>`;
}

/** Tabs as links. @param {{name?: string, tabs: [string, any][], label: string}} props the first is the default */
export function Tabs({ name = "tab", tabs, label }) {
  const { path, params } = useRoute();
  const chosen = tabs.some(([id]) => id === params[name]) ? params[name] : tabs[0]?.[0];
  return html`<nav class="tabs" aria-label=${label}>
    ${tabs.map(
      ([id, text]) => html`<a key=${id} href=${link(path, { ...params, cursor: null, [name]: id === tabs[0]?.[0] ? null : id })}
        aria-current=${id === chosen ? "page" : null}>${text}</a>`,
    )}
  </nav>`;
}
