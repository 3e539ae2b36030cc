/**
 * The address is the state: `#/runs?state=FAILED&as_of=…` is the view `runs` with its parameters.
 *
 * Views get `params` (all parameters as texts) as a property. To change the state, change the address:
 *   - a link: `<a href=${link("/run", { run_id })}>…</a>`; `link` keeps `as_of`, so that the whole page stays at one time;
 *   - a control: `setParams({ tab: "facets" })` changes some parameters of this view (null removes one);
 *     `{ replace: true }` makes no entry in the history, for typing and panning.
 * Names are parameters, never parts of the path: they contain slashes, colons and percent signs.
 */

import { store, useStore } from "./store.js";

/** @typedef {Record<string, string>} Params */
/** @typedef {{path: string, params: Params}} Route */

/**
 * @param {string} hash
 * @returns {Route}
 */
export function parse(hash) {
  const [path = "", query = ""] = split(hash.replace(/^#/, ""), "?");
  return { path: path.replace(/\/+$/, "") || "/", params: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * The address of a view, with these parameters. Empty ones are left out. `as_of` is that of the page unless given.
 * @param {string} path
 * @param {Record<string, string | number | boolean | null | undefined>} [params]
 */
export function link(path, params = {}) {
  const all = { as_of: route.get().params["as_of"], ...params };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(all)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `#${path}${text ? `?${text}` : ""}`;
}

/**
 * An address that an answer has, such as `#/violations?kind=ledger`, at the time of the page.
 * Everything that is not an address of the page is refused: answers have texts of producers in them.
 * @param {string | null | undefined} href
 */
export function internal(href) {
  if (!href || !href.startsWith("#/")) return undefined;
  const { path, params } = parse(href);
  return link(path, params);
}

/**
 * @param {string} path
 * @param {Parameters<typeof link>[1]} [params]
 * @param {{replace?: boolean}} [how]
 */
export function go(path, params = {}, { replace = false } = {}) {
  const hash = link(path, params);
  if (hash === location.hash) return;
  if (replace) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  read();
}

/**
 * Change some parameters of this view. A cursor belongs to its filters, so another filter forgets it.
 * @param {Record<string, string | number | boolean | null | undefined>} changes
 * @param {{replace?: boolean}} [how]
 */
export function setParams(changes, how) {
  const { path, params } = route.get();
  go(path, { ...params, cursor: null, ...changes }, how);
}

/** @type {import("./store.js").Store<Route>} */
export const route = store(parse(location.hash));

export const useRoute = () => useStore(route);

function read() {
  route.set(parse(location.hash));
}

addEventListener("hashchange", read);
addEventListener("popstate", read);

/**
 * @param {string} text
 * @param {string} at
 */
function split(text, at) {
  const place = text.indexOf(at);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + 1)];
}
