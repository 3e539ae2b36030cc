/**
 * What is seen while an answer is on its way, and when there is none.
 *
 *   html`<${Loaded} answer=${answer}>${(data) => html`…`}<//>`
 *
 * A skeleton appears after 200 ms, so that a fast answer does not flicker. An error says what to do.
 */

import { html, useEffect, useState } from "../lib/dom.js";
import { visible } from "../lib/text.js";

const PATIENCE_MS = 200;

/** @param {{answer: import("../lib/api.js").Answer<any>, children: (data: any) => any, rows?: number}} props */
export function Loaded({ answer, children, rows = 6 }) {
  if (answer.data !== null) {
    return html`${answer.error ? html`<${Problem} error=${answer.error} retry=${answer.retry} />` : null}${children(answer.data)}`;
  }
  if (answer.error) return html`<${Problem} error=${answer.error} retry=${answer.retry} />`;
  return html`<${Skeleton} rows=${rows} />`;
}

/** @param {{rows?: number}} props */
export function Skeleton({ rows = 6 }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  const widths = ["w60", "w90", "w75", "w40"];
  return html`<div class="skeleton" role="status" aria-busy="true">
    <span class="hidden">${late ? "Loading …" : ""}</span>
    ${late ? Array.from({ length: rows }, (_, row) => html`<div class="bone ${widths[row % 4]}" key=${row}></div>`) : null}
  </div>`;
}

/** @param {{error: Error & {status?: number, advice?: string}, retry?: () => void}} props */
export function Problem({ error, retry }) {
  const missing = error.status === 404;
  return html`<div class="problem ${missing ? "missing" : ""}" role="alert">
    <p><strong><span aria-hidden="true">${missing ? "? " : "✕ "}</span>${visible(error.message, { lines: true })}</strong></p>
    ${error.advice ? html`<p>${visible(error.advice, { lines: true })}</p>` : null}
    ${retry ? html`<button type="button" onClick=${retry}>Try again</button>` : null}
  </div>`;
}

/** Where there are no rows: why that is so, and what would bring some. @param {{title?: string, children?: any}} props */
export const Nothing = ({ title, children }) =>
  html`<div class="nothing">${title ? html`<strong>${title}</strong>` : null}${children ? html`<p>${children}</p>` : null}</div>`;
