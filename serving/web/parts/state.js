/**
 * The four states, everywhere the same: a shape, a word and a colour. Never the colour alone, and unknown is never green.
 *
 *   html`<${Pill} trust=${run.trust}>${run.state}<//>`        ✓ COMPLETE
 *   html`<${Pill} trust="broken" />`                          ✕ broken
 */

import { html } from "../lib/dom.js";

/** @typedef {"proven" | "broken" | "unknown" | "running"} Trust */

export const SHAPES = { proven: "✓", broken: "✕", unknown: "?", running: "●" };

/**
 * @param {string | null | undefined} value
 * @returns {Trust | null}
 */
export const asTrust = (value) => (value && value in SHAPES ? /** @type {Trust} */ (value) : null);

/** @param {{trust: string | null | undefined, children?: any, title?: string}} props */
export function Pill({ trust, children, title }) {
  const state = asTrust(trust);
  if (!state) return html`<span class="pill" title=${title}>${children}</span>`;
  return html`<span class="pill ${state}" title=${title}
    ><span aria-hidden="true">${SHAPES[state]} </span>${children ? Said(state) : null}${children ?? state}</span
  >`;
}

/** A shape alone, for tables and bars. @param {{trust: string | null | undefined}} props */
export function Shape({ trust }) {
  const state = asTrust(trust) ?? "unknown";
  return html`<span class="shape ${state}" role="img" aria-label=${state} title=${state}>${SHAPES[state]}</span>`;
}

/** The state as a word, for those who do not see the shape. @param {Trust} state */
const Said = (state) => html`<span class="hidden">${state}: </span>`;

/** Which state a verdict on a ledger, a certificate, a test or freshness stands for. @param {string | null | undefined} verdict */
export function trustOf(verdict) {
  switch (verdict) {
    case "balanced": case "genuine": case "intact": case "passed": case "fresh": case "complete": return "proven";
    case null: case undefined: case "": case "unknown": case "gap": case "none": case "unknown algorithm": case "test that could not run": case "missing events": return "unknown";
    case "running": return "running";
    default: return "broken";
  }
}
