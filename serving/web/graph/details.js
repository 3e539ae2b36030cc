/** What is known of the selected node: can I trust it, its columns, its loads or runs. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count } from "../lib/format.js";
import { link } from "../lib/router.js";
import { visible } from "../lib/text.js";
import { RunBars } from "../parts/bars.js";
import { Card } from "../parts/card.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { Name, Text } from "../parts/name.js";
import { Pill } from "../parts/state.js";
import { Table } from "../parts/table.js";
import { about } from "./state.js";

const QUESTIONS = /** @type {const} */ ([
  ["proof", "proof"],
  ["last_run", "last run"],
  ["freshness", "freshness"],
  ["quality", "quality"],
]);

/** @param {{node: any, graph: any, overlay: string}} props */
export function Details({ node, graph, overlay }) {
  const answer = useApi(`/${node.kind}`, { namespace: node.namespace, name: node.name });
  const isStart = node.id === graph.center;
  return html`<section class="stack" aria-label="The selected node">
    <div class="details-title">
      <h2><${Text}>${node.name}<//></h2>
      <span class="muted"><${Text}>${node.namespace}<//> · ${node.kind}</span>
      <a class="button" href=${link(`/${node.kind}`, { namespace: node.namespace, name: node.name })}>Open the ${node.kind}</a>
      ${isStart ? null : html`<a class="button" href=${link("/lineage", { ...about(node), overlay: overlay === "state" ? null : overlay })}>Lineage from here</a>`}
    </div>
    <div class="details-grid">
      <${CanITrustIt} node=${node} graph=${graph} />
      <${Loaded} answer=${answer} rows=${5}>${(/** @type {any} */ one) =>
        node.kind === "dataset" ? html`<${Columns} one=${one} node=${node} /><${Loads} one=${one} />` : html`<${Runs} one=${one} /><${Purpose} one=${one} />`}<//>
    </div>
  </section>`;
}

/** @param {{node: any, graph: any}} props */
function CanITrustIt({ node, graph }) {
  const disagreeing = graph.edges.filter((/** @type {any} */ edge) => edge.difference && (edge.source === node.id || edge.target === node.id));
  const above = upstreamOf(graph, node.id);
  const sources = graph.nodes.filter((/** @type {any} */ other) => other.kind === "dataset" && other.trust !== "proven" && above.has(other.id));
  return html`<${Card} title="Can I trust it?">
    <ul class="trust-list">
      ${QUESTIONS.filter(([id]) => node.overlays[id].trust !== null).map(([id, label]) => html`<li key=${id}>
        <${Pill} trust=${node.overlays[id].trust}>${label}<//> <${Text}>${node.overlays[id].text}<//></li>`)}
      ${disagreeing.map((/** @type {any} */ edge) => html`<li key=${edge.id}><${Pill} trust=${edge.trust}>rows<//>${" "}written ${count(edge.rows_written)}, read ${count(edge.rows_read)}. ${edge.note}</li>`)}
      ${sources.slice(0, 3).map((/** @type {any} */ other) => html`<li key=${other.id}><${Pill} trust=${other.trust}>upstream<//>${" "}<${Name} kind="dataset" namespace=${other.namespace} name=${other.name} />: <${Text}>${other.status}<//></li>`)}
      ${sources.length > 3 ? html`<li class="muted">and ${count(sources.length - 3)} more upstream that are not proven</li>` : null}
    </ul>
  <//>`;
}

/** What is shown upstream of a node. @param {any} graph @param {string} id */
function upstreamOf(graph, id) {
  /** @type {Map<string, string[]>} */
  const before = new Map();
  for (const { source, target } of graph.edges) {
    const sources = before.get(target);
    if (sources) sources.push(source);
    else before.set(target, [source]);
  }
  const [found, waiting] = [new Set(), [id]];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const source of before.get(at) ?? []) {
      if (found.has(source)) continue;
      found.add(source);
      waiting.push(source);
    }
  }
  found.delete(id);
  return found;
}

/** @param {{one: any, node: any}} props */
function Columns({ one, node }) {
  const path = (/** @type {string} */ field) => link("/lineage", { ...about(node), field });
  const columns = [
    { id: "column", label: "column", cell: (/** @type {any} */ field) => html`<a class="name mono" href=${path(field.name)} title="The path of this column"><${Text}>${field.name}<//></a>` },
    { id: "type", label: "type", cell: (/** @type {any} */ field) => html`<${Text}>${field.type ?? "–"}<//>` },
    { id: "from", label: "comes from", cell: (/** @type {any} */ field) => html`<${Sources} sources=${field.sources ?? []} />` },
  ];
  return html`<${Card} title="Columns" aside=${html`<span class="muted">${count(one.fields.length)}</span>`}>
    ${one.fields.length
      ? html`<div class="short-table" tabindex="0" role="group" aria-label="Columns"><${Table} columns=${columns} rows=${one.fields} caption="Columns. Choose one to see only its path." /></div>`
      : html`<${Nothing}>No event has stated its columns.<//>`}
  <//>`;
}

/** @param {{sources: any[]}} props */
const Sources = ({ sources }) =>
  sources.length
    ? html`<div>${sources.slice(0, 3).map((source) => html`<div class="mono"><${Text}>${source.name}<//>.<${Text}>${source.field}<//></div>`)}${sources.length > 3 ? html`<span class="muted">and ${sources.length - 3} more</span>` : null}</div>`
    : html`<span class="muted">not stated</span>`;

/** @param {{one: any}} props */
const Loads = ({ one }) => html`<${Card} title="Loads">${one.loads.length ? html`<${RunBars} runs=${one.loads.slice(0, 40)} />` : html`<${Nothing}>No run is known to have written it.<//>`}<//>`;

/** @param {{one: any}} props */
const Runs = ({ one }) => html`<${Card} title="Runs">${one.runs.length ? html`<${RunBars} runs=${one.runs.slice(0, 40)} />
  <p><a href=${link("/lineage", { run_id: one.runs[0].run_id })}>Lineage of the last run</a></p>` : html`<${Nothing}>It has not run yet.<//>`}<//>`;

/** @param {{one: any}} props */
const Purpose = ({ one }) => html`<${Card} title="Purpose">
  ${one.description ? html`<p class="prose"><${Text} lines clamp>${one.description}<//></p>` : html`<${Nothing}>Not documented.<//>`}
  ${one.sql ? html`<pre class="code" tabindex="0"><code>${visible(one.sql, { lines: true })}</code></pre>` : null}
<//>`;
