/** Lineage of runs: who wrote what a run read, and who read what it wrote. */

import { html, useMemo, useRef } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, counted } from "../lib/format.js";
import { link, setParams } from "../lib/router.js";
import { shortId, visible } from "../lib/text.js";
import { Card, Heading } from "../parts/card.js";
import { Loaded } from "../parts/loading.js";
import { Name, Text } from "../parts/name.js";
import { runColumns } from "../parts/run_list.js";
import { Pill } from "../parts/state.js";
import { Table } from "../parts/table.js";
import { RunShape } from "./shapes.js";
import { Stage } from "./stage.js";
import { Exports, Stepper } from "./toolbar.js";

/** @param {{state: import("./state.js").State}} props */
export function RunView({ state }) {
  const answer = useApi("/lineage/run", { run_id: state.run_id, up: Math.min(20, state.up), down: Math.min(20, state.down) });
  return html`<${Loaded} answer=${answer} rows=${10}>${(/** @type {any} */ found) => html`<${Drawn} found=${found} state=${state} />`}<//>`;
}

/** @param {{found: any, state: import("./state.js").State}} props */
function Drawn({ found, state }) {
  const anchor = useRef(/** @type {string | null} */ (null));
  const graph = useMemo(() => graphOf(found), [found]);
  const center = graph.nodes.find((/** @type {any} */ run) => run.run_id === found.center);
  const selected = graph.nodes.find((/** @type {any} */ run) => run.run_id === state.selected) ?? center;
  const draw = (/** @type {any} */ node) => html`<${RunShape} node=${node} />`;
  return html`
    <${Heading} title=${html`Run ${shortId(center.run_id)} of <${Text}>${center.job.name}<//>`}>
      <${Pill} trust=${center.trust}><${Text}>${center.reason}<//><//>
      <span>${counted(graph.nodes.length - 1, "run")} before and after it</span>
      <a class="button" href=${link("/run", { run_id: center.run_id })}>Open the run</a>
      <a class="button" href=${link("/lineage", { kind: "job", ...center.job })}>Lineage of the job</a>
    <//>
    <div class="toolbar">
      <${Stepper} name="up" value=${state.up} most=${20} /><${Stepper} name="down" value=${state.down} most=${20} />
      <${Exports} graph=${graph} overlay="state" draw=${draw} title=${center.run_id} />
    </div>
    <${Stage} graph=${graph} label="Lineage of a run" start=${found.center} selected=${selected.id} overlay="state" view=${state.view}
      draw=${draw} trustOf=${(/** @type {any} */ run) => run.trust}
      onSelect=${(/** @type {any} */ run) => setParams({ sel: run.run_id }, { replace: true })} onView=${(/** @type {string} */ view) => setParams({ view }, { replace: true })} anchor=${anchor} />
    ${found.truncated ? html`<p class="stage-note"><strong class="unknown-text">? There is more: only ${count(found.limit)} runs are shown.</strong></p>` : null}
    <${Card} title=${html`Selected: <${Text}>${selected.job.name}<//>`}><${Table} columns=${runColumns()} rows=${[selected]} caption="The selected run" />
      <p><a href=${link("/lineage", { run_id: selected.run_id })}>Lineage of this run</a></p><//>
    <${Card} title="Steps"><${Steps} graph=${graph} /><//>
  `;
}

/** @param {any} found */
const graphOf = (found) => ({
  ...found,
  nodes: found.nodes.map((/** @type {any} */ run) => ({ ...run, id: run.run_id, kind: "job" })),
  edges: found.edges.map((/** @type {any} */ edge, /** @type {number} */ place) => ({ ...edge, id: place, source: edge.source_run, target: edge.target_run, title: visible(edge.dataset.name) })),
});

/** @param {{graph: any}} props */
function Steps({ graph }) {
  if (!graph.edges.length) return html`<p class="muted">No other run is known that wrote what it read, or read what it wrote.</p>`;
  const runs = new Map(graph.nodes.map((/** @type {any} */ run) => [run.run_id, run]));
  const run = (/** @type {string} */ id) => html`<a class="name" href=${link("/run", { run_id: id })}><${Text}>${runs.get(id)?.job.name}<//> <span class="muted mono">${shortId(id)}</span></a>`;
  const columns = [
    { id: "from", label: "run", cell: (/** @type {any} */ edge) => run(edge.source) },
    { id: "dataset", label: "wrote", cell: (/** @type {any} */ edge) => html`<${Name} kind="dataset" ...${edge.dataset} />` },
    { id: "to", label: "read by", cell: (/** @type {any} */ edge) => run(edge.target) },
  ];
  return html`<${Table} columns=${columns} rows=${graph.edges} caption="Which run read what" />`;
}
