/** Which datasets there are, and which can be trusted. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, size } from "../lib/format.js";
import { link } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { Filters, Typed } from "../parts/filters.js";
import { Name, Text, Time } from "../parts/name.js";
import { Pill } from "../parts/state.js";
import { List } from "../parts/table.js";

/** @type {import("../parts/table.js").Column[]} */
const COLUMNS = [
  { id: "name", label: "dataset", cell: (one) => html`<${Name} kind="dataset" namespace=${one.namespace} name=${one.name} full />` },
  { id: "trust", label: "trust", cell: (one) => html`<${Pill} trust=${one.trust}>${one.trust}<//> <${Text} class="muted" clamp>${one.reason ?? ""}<//>` },
  { id: "loaded", label: "last loaded", cell: (one) => (one.last_loaded_at ? html`<${Time} at=${one.last_loaded_at} />` : html`<span class="faint">never</span>`) },
  { id: "rows", label: "rows", number: true, cell: (one) => count(one.row_count) },
  { id: "size", label: "size", number: true, cell: (one) => size(one.size) },
  { id: "fields", label: "columns", number: true, cell: (one) => html`<a href=${link("/dataset", { namespace: one.namespace, name: one.name, tab: "schema" })}>${count(one.fields)}</a>` },
  { id: "failed", label: "failed tests", number: true, cell: (one) => (one.tests_failed ? html`<a class="broken-text" href=${link("/quality", { namespace: one.namespace, name: one.name, success: "false" })}>✕ ${count(one.tests_failed)}</a>` : "0") },
];

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Datasets({ params }) {
  const { q, tag, cursor } = params;
  const answer = useApi("/datasets", { q, tag, cursor });
  return html`
    <${Heading} title="Which data can I trust?"><span>The datasets that any event named.</span><//>
    <${Filters}>
      <${Typed} name="q" label="Name" placeholder="part of it" />
      <${Typed} name="tag" label="Tag" placeholder="key, such as pii" />
    <//>
    <${Card} title="Datasets">
      <${List} answer=${answer} columns=${COLUMNS} caption="Datasets" keyOf=${(/** @type {any} */ one) => `${one.namespace} ${one.name}`}
        empty=${q || tag ? "No dataset has all of this. Clear a filter." : "No dataset yet. The overview says how to send the first event."} />
    <//>`;
}
