/**
 * Tables. A column is `{ id, label, number?, cell: (row) => html }`; below 640 px each row becomes a card with its labels.
 * `<${List}>` adds what every list of the API has: the next page and the SQL.
 */

import { html } from "../lib/dom.js";
import { link, useRoute } from "../lib/router.js";
import { Sql } from "./copy.js";
import { Loaded, Nothing } from "./loading.js";

/** @typedef {{id: string, label: string, number?: boolean, wide?: boolean, cell: (row: any) => any}} Column */

/** @param {{columns: Column[], rows: any[], caption: string, keyOf?: (row: any, place: number) => string}} props */
export function Table({ columns, rows, caption, keyOf }) {
  return html`<table class="rows">
    <caption class="hidden">${caption}</caption>
    <thead><tr>
      ${columns.map((column) => html`<th scope="col" key=${column.id} class=${styleOf(column)}>${column.label}</th>`)}
    </tr></thead>
    <tbody>
      ${rows.map(
        (row, place) => html`<tr key=${keyOf ? keyOf(row, place) : place}>
          ${columns.map(
            (column) => html`<td key=${column.id} data-label=${column.label} class=${styleOf(column)}><div>${column.cell(row)}</div></td>`,
          )}
        </tr>`,
      )}
    </tbody>
  </table>`;
}

/**
 * A list of the API with its pages and its SQL.
 * @param {{answer: import("../lib/api.js").Answer<any>, columns: Column[], caption: string, empty: any,
 *   keyOf?: (row: any, place: number) => string}} props
 */
export function List({ answer, columns, caption, empty, keyOf }) {
  return html`<${Loaded} answer=${answer} rows=${8}>${(/** @type {any} */ page) => html`
    ${page.items.length
      ? html`<${Table} columns=${columns} rows=${page.items} caption=${caption} keyOf=${keyOf} />`
      : html`<${Nothing}>${empty}<//>`}
    <${Pages} page=${page} />`}<//>`;
}

/** @param {{page: {items: any[], next_cursor?: string | null, sql?: string | null}}} props */
export function Pages({ page }) {
  const { path, params } = useRoute();
  return html`<div class="pages">
    ${params["cursor"] ? html`<a class="button" href=${link(path, { ...params, cursor: null })}>« First page</a>` : null}
    ${page.next_cursor
      ? html`<a class="button" href=${link(path, { ...params, cursor: page.next_cursor })}>Next page ›</a>`
      : null}
    <${Sql} sql=${page.sql} />
  </div>`;
}

/** @param {Column} column */
const styleOf = (column) => [column.number ? "number" : "", column.wide ? "wide" : ""].join(" ").trim() || null;
