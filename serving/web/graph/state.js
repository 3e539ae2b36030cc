/**
 * The state of the lineage view, all of it in the address: what it is about, how far it goes, what was opened and closed,
 * what is selected, the overlay, and which part of the graph is in view.
 */

import { setParams } from "../lib/router.js";

/** @typedef {"up" | "down"} Side */

export const OVERLAYS = /** @type {const} */ ([
  ["state", "state"],
  ["last_run", "last run"],
  ["quality", "quality"],
  ["freshness", "freshness"],
  ["proof", "proof"],
  ["rows", "rows on edges"],
]);

/** @param {import("../lib/router.js").Params} params */
export function stateOf(params) {
  const { kind = "dataset", namespace = "", name = "", field, run_id, overlay = "state" } = params;
  const isDeep = Boolean(field || params["mode"] === "columns");
  return {
    kind: kind === "job" ? "job" : "dataset",
    namespace,
    name,
    field: field || null,
    run_id: run_id || null,
    up: depth(params["up"], isDeep ? 20 : 1),
    down: depth(params["down"], isDeep ? 20 : 1),
    opened: listOf(params["open"]),
    closed: listOf(params["closed"]),
    overlay: OVERLAYS.some(([id]) => id === overlay) ? overlay : "state",
    selected: params["sel"] || null,
    view: params["view"] || null,
  };
}

/** @typedef {ReturnType<typeof stateOf>} State */

/**
 * @param {string | undefined} text
 * @param {number} otherwise
 */
function depth(text, otherwise) {
  const value = Number.parseInt(text ?? "", 10);
  return Number.isNaN(value) ? otherwise : Math.min(100, Math.max(0, value));
}

/** Ids have commas in them, so each is encoded by itself. @param {string | undefined} text */
export const listOf = (text) => (text ? text.split(",").filter(Boolean).map(decoded) : []);

/** @param {string[]} ids */
export const listAsText = (ids) => (ids.length ? ids.map(encodeURIComponent).join(",") : null);

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Show the neighbours of nodes on these sides.
 * @param {State} state
 * @param {string[]} sides such as up:dataset:NAMESPACE:NAME
 */
export function open(state, sides) {
  const closed = state.closed.filter((side) => !sides.includes(side));
  const opened = [...state.opened, ...sides.filter((side) => !state.opened.includes(side))];
  setParams({ open: listAsText(opened), closed: listAsText(closed) });
}

/**
 * Hide them again.
 * @param {State} state
 * @param {string[]} sides
 */
export function close(state, sides) {
  const wanted = new Set(sides.flatMap((side) => [side, `fold:${side}`]));
  const wasOpened = sides.filter((side) => state.opened.includes(side));
  const opened = state.opened.filter((side) => !wanted.has(side));
  const closed = [...state.closed, ...sides.filter((side) => !wasOpened.includes(side) && !state.closed.includes(side))];
  setParams({ open: listAsText(opened), closed: listAsText(closed) });
}

/**
 * The same view of another node.
 * @param {{kind: string, namespace: string, name: string}} node
 */
export const about = ({ kind, namespace, name }) => ({ kind, namespace, name });
