/** Only the path of one column. */

import { html, useMemo, useRef } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, counted } from "../lib/format.js";
import { go, link, setParams } from "../lib/router.js";
import { visible } from "../lib/text.js";
import { Card, Heading } from "../parts/card.js";
import { Sql } from "../parts/copy.js";
import { Loaded } from "../parts/loading.js";
import { Name, Text } from "../parts/name.js";
import { Table } from "../parts/table.js";
import { ColumnShape } from "./shapes.js";
import { Stage } from "./stage.js";
import { Exports, Stepper } from "./toolbar.js";

/** @param {{state: import("./state.js").State, rows: boolean}} props */
export function ColumnView({ state, rows }) {
  const { namespace, name, field, up, down } = state;
  const answer = useApi("/lineage/columns", { namespace, name, field, up, down, rows });
  return html`<${Loaded} answer=${answer} rows=${10}>${(/** @type {any} */ path) => html`<${Drawn} path=${path} state=${state} rows=${rows} />`}<//>`;
}

/** @param {{path: any, state: import("./state.js").State, rows: boolean}} props */
function Drawn({ path, state, rows }) {
  const anchor = useRef(/** @type {string | null} */ (null));
  const graph = useMemo(() => ({ ...path, edges: path.edges.map((/** @type {any} */ edge) => ({ ...edge, title: said(edge) })) }), [path]);
  const choose = (/** @type {any} */ node, /** @type {string} */ field) => go("/lineage", { kind: "dataset", namespace: node.namespace, name: node.name, field });
  const draw = (/** @type {any} */ node) => html`<${ColumnShape} node=${node} path=${path} choose=${(/** @type {string} */ field) => choose(node, field)} />`;
  const upstream = path.edges.filter((/** @type {any} */ edge) => edge.target === path.center && edge.target_field === path.field).length;
  return html`
    <${Heading} title=${html`<${Text}>${state.name}<//><span class="aside">.</span><${Text}>${path.field}<//>`}>
      <span class="brief"><${Text}>${state.namespace}<//> · column ·</span>
      <span>${upstream ? `made from ${counted(upstream, "column")}` : "no event states what it is made from"}; ${counted(path.nodes.length, "dataset")} on its path</span>
    <//>
    <div class="toolbar">
      <a class="button" href=${link("/lineage", { kind: "dataset", namespace: state.namespace, name: state.name })}>All of the dataset</a>
      <${Stepper} name="up" value=${state.up} /><${Stepper} name="down" value=${state.down} />
      ${path.row_edges ? html`<button type="button" aria-pressed=${rows} onClick=${() => setParams({ rows: rows ? null : "true" })}>Columns that decide which rows there are: ${count(path.row_edges)}</button>` : null}
      <${Exports} graph=${graph} overlay="state" draw=${draw} title=${`${state.name}.${path.field}`} />
    </div>
    <${Stage} graph=${graph} label=${`Path of the column ${visible(path.field)}`} start=${path.center} selected=${path.center} overlay="state" view=${state.view}
      draw=${draw} trustOf=${() => null} onSelect=${(/** @type {any} */ node) => choose(node, node.fields.find((/** @type {string | null} */ one) => one !== null) ?? "")}
      onView=${(/** @type {string} */ view) => setParams({ view }, { replace: true })} anchor=${anchor} />
    <p class="stage-note"><span>${counted(path.edges.length, "step")}. Choose another column to see its path.</span>
      ${path.truncated ? html`<strong class="unknown-text">? There is more: only ${count(path.limit)} columns are shown.</strong>` : null}</p>
    <${Steps} path=${path} />
    <${Sql} sql=${path.sql} />
  `;
}

/** @param {any} edge */
const said = (edge) => [how(edge), edge.jobs.length ? `by ${edge.jobs.map((/** @type {any} */ job) => visible(job.name)).join(", ")}` : ""].filter(Boolean).join(" ");

/** @param {any} edge */
const how = (edge) => [...new Set(edge.transformations.map((/** @type {any} */ one) => [one.description || one.subtype || one.type, one.masking ? "(masked)" : ""].filter(Boolean).join(" ")))].map((text) => visible(text)).join("; ");

/** @param {{path: any}} props */
function Steps({ path }) {
  const nodes = new Map(path.nodes.map((/** @type {any} */ node) => [node.id, node]));
  const end = (/** @type {string} */ id, /** @type {string | null} */ field) => {
    const { namespace, name } = nodes.get(id);
    return html`<a class="name" href=${link("/lineage", { kind: "dataset", namespace, name, field })}><${Text}>${name}<//>${field === null ? html` <span class="muted">(its rows)</span>` : html`.<${Text}>${field}<//>`}</a>`;
  };
  const columns = [
    { id: "from", label: "from", cell: (/** @type {any} */ edge) => end(edge.source, edge.source_field) },
    { id: "to", label: "to", cell: (/** @type {any} */ edge) => end(edge.target, edge.target_field) },
    { id: "how", label: "how", cell: (/** @type {any} */ edge) => html`<${Text}>${how(edge) || "not stated"}<//>` },
    { id: "job", label: "job", cell: (/** @type {any} */ edge) => edge.jobs.map((/** @type {any} */ job) => html`<${Name} kind="job" ...${job} /> `) },
  ];
  return html`<${Card} title="Steps">${path.edges.length ? html`<${Table} columns=${columns} rows=${path.edges} caption="Steps of the path" keyOf=${(/** @type {any} */ edge) => edge.id} />` : html`<p class="muted">No event states column lineage for it.</p>`}<//>`;
}
