/** The columns of a list of runs, which many views have. */

import { html } from "../lib/dom.js";
import { count, duration } from "../lib/format.js";
import { link } from "../lib/router.js";
import { Name, RunId, Text, Time } from "./name.js";
import { Pill, Shape, trustOf } from "./state.js";

/** @param {{job?: boolean}} [with_] @returns {import("./table.js").Column[]} */
export function runColumns({ job = true } = {}) {
  const columns = [
    { id: "trust", label: "trust", cell: (/** @type {any} */ run) => html`<span class="nowrap"><${Shape} trust=${run.trust} /> ${run.trust}</span>` },
    { id: "job", label: "job", cell: (/** @type {any} */ run) => html`<${Name} kind="job" ...${run.job} full />` },
    { id: "run", label: "run", cell: (/** @type {any} */ run) => html`<${RunId} run_id=${run.run_id} />` },
    { id: "state", label: "state", cell: (/** @type {any} */ run) => html`${run.state ?? "–"}${run.is_overdue ? html` <${Pill} trust="unknown">overdue<//>` : null}` },
    { id: "started", label: "started", cell: (/** @type {any} */ run) => html`<${Time} at=${run.started_at ?? run.last_event_at} />` },
    { id: "duration", label: "duration", number: true, cell: (/** @type {any} */ run) => duration(run.duration_ms) },
    { id: "events", label: "events", number: true, cell: (/** @type {any} */ run) => html`<a href=${link("/run", { run_id: run.run_id, tab: "events" })}>${count(run.event_count)}</a>` },
    { id: "ledger", label: "ledger", cell: (/** @type {any} */ run) => html`<${Verdict} run=${run} />` },
    { id: "reason", label: "why", cell: (/** @type {any} */ run) => html`<${Text} class="muted" clamp>${run.reason ?? run.error_message ?? ""}<//>` },
  ];
  return columns.filter((column) => job || column.id !== "job");
}

/** @param {{run: any}} props */
function Verdict({ run }) {
  if (!run.ledger_verdict) return html`<span class="faint">none</span>`;
  const off = run.ledger_difference && String(run.ledger_difference) !== "0" ? ` by ${count(run.ledger_difference)}` : "";
  return html`<a href=${link("/run", { run_id: run.run_id })}><${Pill} trust=${trustOf(run.ledger_verdict)}>${run.ledger_verdict}${off}<//></a>`;
}
