/** Which datasets there are, and which can be trusted. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, seconds, size } from "../lib/format.js";
import { link } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { Choice, Filters, Typed } from "../parts/filters.js";
import { Name, Text, Time } from "../parts/name.js";
import { Pill, trustOf } from "../parts/state.js";
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

const FRESHNESS = /** @type {[string, string][]} */ ([["", "any"], ["fresh", "✓ fresh"], ["late", "✕ late"], ["unknown", "? unknown"]]);

/** @type {import("../parts/table.js").Column[]} */
const BY_FRESHNESS = [
  { id: "name", label: "dataset", cell: (one) => html`<${Name} kind="dataset" namespace=${one.namespace} name=${one.name} full />` },
  { id: "verdict", label: "freshness", cell: (one) => html`<${Pill} trust=${trustOf(one.verdict)}>${one.verdict}<//>` },
  { id: "age", label: "age", number: true, cell: (one) => seconds(one.age_s) },
  { id: "limit", label: "limit", number: true, cell: (one) => seconds(one.limit_s) },
  { id: "loaded", label: "last loaded", cell: (one) => (one.last_loaded_at ? html`<${Time} at=${one.last_loaded_at} />` : html`<span class="faint">never</span>`) },
  { id: "reason", label: "why", cell: (one) => html`<${Text} class="muted" clamp>${one.reason ?? ""}<//>` },
];

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Datasets({ params }) {
  const { q, tag, cursor } = params;
  const { freshness } = params;
  const answer = useApi(freshness ? "/freshness" : "/datasets", freshness ? { verdict: freshness, cursor } : { q, tag, cursor });
  return html`
    <${Heading} title="Which data can I trust?"><span>The datasets that any event named.</span><//>
    <${Filters}>
      ${freshness ? null : html`<${Typed} name="q" label="Name" placeholder="part of it" /><${Typed} name="tag" label="Tag" placeholder="key, such as pii" />`}
      <${Choice} name="freshness" label="Freshness" options=${FRESHNESS} />
    <//>
    <${Card} title="Datasets">
      <${List} answer=${answer} columns=${freshness ? BY_FRESHNESS : COLUMNS} caption="Datasets" keyOf=${(/** @type {any} */ one) => `${one.namespace} ${one.name}`}
        empty=${freshness ? "No dataset is in this state." : q || tag ? "No dataset has all of this. Clear a filter." : "No dataset yet. The overview says how to send the first event."} />
    <//>`;
}
