/** What happened in a run: its events in their order, what it read and wrote, and the runs around it. */

import { html } from "../lib/dom.js";
import { count, duration, size } from "../lib/format.js";
import { link } from "../lib/router.js";
import { Card, Facts } from "./card.js";
import { Nothing } from "./loading.js";
import { Name, RunId, Text, Time } from "./name.js";
import { runColumns } from "./run_list.js";
import { Table } from "./table.js";

const LATE_MS = 5000;

/** @param {{run: any}} props */
export function Timeline({ run }) {
  const columns = [
    { id: "time", label: "event time", cell: (/** @type {any} */ event) => html`<span class="mono"><${Time} at=${event.event_time} ms /></span>` },
    { id: "type", label: "type", cell: (/** @type {any} */ event) => event.event_type },
    { id: "arrived", label: "arrived", cell: (/** @type {any} */ event) => html`<${Arrived} event=${event} />` },
    { id: "copies", label: "copies", number: true, cell: (/** @type {any} */ event) => html`<a href=${link("/run", { run_id: run.run_id, tab: "events" })}>${count(event.copies)}</a>` },
    { id: "says", label: "says", wide: true, cell: (/** @type {any} */ event) => html`<${Text} clamp>${event.says ?? ""}<//>${event.error_message ? html` <span class="broken-text">✕ <${Text}>${event.error_message}<//></span>` : null}` },
  ];
  const before = run.is_timeline_complete === false;
  return html`<${Card} title="Timeline">
    ${before ? html`<p class="muted">The latest ${count(run.timeline.length)} of ${count(run.event_count)} events. All of them: <a href=${link("/run", { run_id: run.run_id, tab: "events" })}>events</a>.</p>` : null}
    ${run.timeline.length
      ? html`<${Table} columns=${columns} rows=${run.timeline} caption="Events of the run in the order of their times" keyOf=${(/** @type {any} */ event) => event.event_id} />`
      : html`<${Nothing}>The events are no longer in the tables; the row of the run is.<//>`}
  <//>`;
}

/** How long after its time an event came. Before its time: the clocks differ. @param {{event: any}} props */
function Arrived({ event }) {
  const late = event.late_ms;
  if (late === null || late === undefined) return html`<span class="faint">not known</span>`;
  if (late < 0) return html`<span class="unknown-text" title="It arrived before its own time: the clock of the producer is ahead">? ${duration(late)}, clock ahead</span>`;
  return late > LATE_MS ? html`<span class="unknown-text">? +${duration(late)}, late</span>` : html`+${duration(late)}`;
}

/** @param {{run: any}} props */
export function RunDatasets({ run }) {
  return html`<div class="grid">
    <${Side} title="Read" datasets=${run.inputs} rows=${run.proof.rows_read} />
    <${Side} title="Written" datasets=${run.outputs} rows=${run.proof.rows_written} />
  </div>`;
}

/** @param {{title: string, datasets: any[], rows: any}} props */
function Side({ title, datasets, rows }) {
  const columns = [
    { id: "name", label: "dataset", cell: (/** @type {any} */ one) => html`<${Name} kind="dataset" ...${one} full />` },
    { id: "rows", label: "rows", number: true, cell: (/** @type {any} */ one) => count(one.row_count) },
    { id: "size", label: "size", number: true, cell: (/** @type {any} */ one) => size(one.size) },
  ];
  return html`<${Card} title=${title} aside=${rows === null ? null : html`<span class="muted">${count(rows)} rows</span>`}>
    ${datasets.length ? html`<${Table} columns=${columns} rows=${datasets} caption=${title} />` : html`<${Nothing}>No dataset is stated.<//>`}
  <//>`;
}

/** @param {{run: any}} props */
export function RunFamily({ run }) {
  const lineage = html`<a href=${link("/lineage", { kind: "job", ...run.job })}>lineage of the job</a>`;
  return html`<${Card} title="Around it" aside=${lineage}>
    <${Facts} items=${[
      ["parent", run.parent ? html`<${Other} other=${run.parent} />` : html`<span class="muted">none is stated</span>`],
      ["root", run.root ? html`<${Other} other=${run.root} />` : null],
      ["producer", run.producer ? html`<${Text}>${run.producer}<//>` : null],
      ["planned", run.nominal_start_at ? html`<${Time} at=${run.nominal_start_at} /> → <${Time} at=${run.nominal_end_at} />` : null],
      ["other jobs", run.jobs.length > 1 ? run.jobs.map((/** @type {any} */ job) => html`<${Name} kind="job" ...${job} /> `) : null],
    ]} />
    ${run.children.length ? html`<h3 class="sub">Children</h3><${Table} columns=${runColumns()} rows=${run.children} caption="Children" keyOf=${(/** @type {any} */ child) => child.run_id} />` : null}
  <//>`;
}

/** @param {{other: any}} props */
const Other = ({ other }) => html`${other.job ? html`<${Name} kind="job" ...${other.job} /> · ` : null}<${RunId} run_id=${other.run_id} />`;
