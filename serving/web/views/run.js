/** What was meant, what was done, and what proves it? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { counted, duration } from "../lib/format.js";
import { Heading } from "../parts/card.js";
import { Tabs } from "../parts/filters.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { Hash, Name, Text, Time } from "../parts/name.js";
import { Pill } from "../parts/state.js";
import { shortId } from "../lib/text.js";
import { RunCertificates, RunLedger, Triangulation } from "../parts/run_proof.js";
import { RunDatasets, RunFamily, Timeline } from "../parts/run_story.js";
import { RunEvents, RunFacets } from "../parts/run_events.js";

const EVERY_MS = 5000;

/** @param {{params: import("../lib/router.js").Params}} props */
export default function RunView({ params }) {
  const { run_id: id = "", tab = "proof" } = params;
  const answer = useApi(id ? `/runs/${encodeURIComponent(id)}` : null, {}, { every: EVERY_MS });
  if (!id) return html`<${Nothing} title="No run is named.">Choose one in the list of runs.<//>`;
  return html`<${Loaded} answer=${answer} rows=${12}>${(/** @type {any} */ run) => html`
    <${Title} run=${run} />
    <${Tabs} label="Parts of the run" tabs=${[["proof", "Proof"], ["facets", "Facets"], ["events", `Events (${run.event_count ?? 0})`]]} />
    ${tab === "facets" ? html`<${RunFacets} id=${id} />` : tab === "events" ? html`<${RunEvents} id=${id} cursor=${params["cursor"]} />` : html`<${Proof} run=${run} />`}
  `}<//>`;
}

/** @param {{run: any}} props */
function Proof({ run }) {
  return html`<${Triangulation} run=${run} />
    <${RunLedger} run=${run} />
    <${RunCertificates} run=${run} />
    <${Timeline} run=${run} />
    <${RunDatasets} run=${run} />
    <${RunFamily} run=${run} />`;
}

/** @param {{run: any}} props */
function Title({ run }) {
  const copies = run.timeline.reduce((/** @type {number} */ sum, /** @type {any} */ event) => sum + Math.max(0, (event.copies ?? 1) - 1), 0);
  return html`<${Heading} title=${html`<${Name} kind="job" ...${run.job} /> <span class="aside">· run <bdi title=${run.run_id}>${shortId(run.run_id)}</bdi></span>`}>
    <${Pill} trust=${stateTrust(run)}>${run.state}<//>
    <${Pill} trust=${run.trust}><${Text}>${run.trust === "proven" ? "proven" : run.successful || run.state !== "COMPLETED" ? "" : "not successful: "}${run.trust === "proven" ? "" : run.reason}<//><//>
    <span><${Time} at=${run.started_at} /> → <${Time} at=${run.ended_at} /> · ${duration(run.duration_ms)}</span>
    ${run.stated_duration_ms !== null && run.stated_duration_ms !== run.duration_ms ? html`<span>· stated ${duration(run.stated_duration_ms)}</span>` : null}
    <span>· ${counted(run.event_count, "event")}, ${counted(copies, "copy", "copies")}</span>
    ${run.clock_skew_ms ? html`<span class="unknown-text">? clock skew ${duration(run.clock_skew_ms)}</span>` : null}
    ${run.trace_id ? html`<span>· trace <${Hash} id=${run.trace_id} /></span>` : null}
  <//>
  ${run.error_message ? html`<details class="card" open=${run.error_message.length < 300}><summary class="broken-text">✕ error</summary><pre><${Text} lines>${run.error_message}<//></pre></details>` : null}`;
}

/** The state alone proves nothing, so COMPLETED has no colour. @param {any} run */
function stateTrust(run) {
  if (run.state === "FAILED") return "broken";
  if (run.state === "COMPLETED") return null;
  return run.state === "RUNNING" && !run.is_overdue ? "running" : "unknown";
}
