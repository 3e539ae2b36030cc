/** The columns of a dataset with where they come from, and how its schema changed. */

import { html } from "../lib/dom.js";
import { count, counted } from "../lib/format.js";
import { link } from "../lib/router.js";
import { Card } from "./card.js";
import { Nothing } from "./loading.js";
import { Hash, RunId, Text, Time } from "./name.js";
import { Table } from "./table.js";
import { Tags } from "./tags.js";

/** @param {{one: any, field?: string | undefined}} props */
export function Columns({ one, field }) {
  const lineage = (/** @type {string} */ name) => link("/lineage", { kind: "dataset", namespace: one.namespace, name: one.name, mode: "columns", field: name });
  const columns = [
    { id: "name", label: "column", cell: (/** @type {any} */ column) => html`<a class="name mono ${column.name === field ? "chosen" : ""}" href=${lineage(column.name)}><${Text}>${column.name}<//></a>` },
    { id: "type", label: "type", cell: (/** @type {any} */ column) => html`<${Text}>${column.type ?? "–"}<//>` },
    { id: "from", label: "comes from", wide: true, cell: (/** @type {any} */ column) => html`<${Sources} column=${column} />` },
    { id: "description", label: "description", cell: (/** @type {any} */ column) => html`<${Text} class="muted">${column.description ?? ""}<//> <${Tags} tags=${column.tags ?? []} />` },
  ];
  return html`<${Card} title="Columns" aside=${html`<span class="muted">${count(one.fields.length)}</span>`}>
    ${one.fields.length ? html`<${Table} columns=${columns} rows=${one.fields} caption="Columns" keyOf=${(/** @type {any} */ column) => column.name} />` : html`<${Nothing}>No event states its schema.<//>`}
  <//>`;
}

/** @param {{column: any}} props */
function Sources({ column }) {
  if (!column.sources?.length) return html`<span class="muted">not stated</span>`;
  return html`<ul class="plain">${column.sources.map(
    (/** @type {any} */ source) => html`<li><a class="mono" href=${link("/dataset", { namespace: source.namespace, name: source.name, field: source.field, tab: "schema" })}
      title=${source.namespace}><${Text}>${source.name}<//>.<${Text}>${source.field}<//></a></li>`,
  )}</ul>`;
}

/** @param {{one: any}} props */
export function SchemaHistory({ one }) {
  const versions = [...one.schemas].reverse();
  return html`<${Card} title="History" aside=${html`<span class="muted">${counted(versions.length, "version")}${versions.length > 1 ? ", newest first" : ""}</span>`}>
    ${versions.length ? html`<ol class="versions">${versions.map((version, place) => html`<${Version} key=${version.schema_hash} version=${version} first=${place === versions.length - 1} />`)}</ol>` : html`<${Nothing}>No event states its schema.<//>`}
  <//>`;
}

/** @param {{version: any, first: boolean}} props */
function Version({ version, first }) {
  const same = !version.added.length && !version.removed.length && !version.changed.length;
  return html`<li>
    <p><${Time} at=${version.first_seen_at} /> <span class="muted">to <${Time} at=${version.last_seen_at} /> · <${Hash} id=${version.schema_hash} />
      ${version.first_run_id ? html` · first in <${RunId} run_id=${version.first_run_id} />` : null}</span></p>
    ${first ? html`<p class="muted">first version, ${count(version.fields.length)} columns</p>` : html`<ul class="diff">
      ${version.added.map((/** @type {string} */ name) => html`<li class="added">+ <${Text}>${name}<//> <small>${typeOf(version, name)}</small></li>`)}
      ${version.removed.map((/** @type {string} */ name) => html`<li class="removed">− <${Text}>${name}<//></li>`)}
      ${version.changed.map((/** @type {any} */ one) => html`<li class="changed">~ <${Text}>${one.name}<//> <small><${Text}>${one.before}<//> → <${Text}>${one.after}<//></small></li>`)}
      ${same ? html`<li class="muted">the same columns in another order</li>` : null}
    </ul>`}
  </li>`;
}

/** @param {any} version @param {string} name */
const typeOf = (version, name) => version.fields.find((/** @type {any} */ field) => field.name === name)?.type ?? "";
