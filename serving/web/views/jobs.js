/** Which jobs there are, and how their last run went. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, duration } from "../lib/format.js";
import { link } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { Filters, Typed } from "../parts/filters.js";
import { Name, Outside, RunId, Time } from "../parts/name.js";
import { Pill } from "../parts/state.js";
import { List } from "../parts/table.js";

/** @type {import("../parts/table.js").Column[]} */
const COLUMNS = [
  { id: "job", label: "job", cell: (job) => html`<${Name} kind="job" namespace=${job.namespace} name=${job.name} full />` },
  { id: "description", label: "what it does", wide: true, cell: (job) => html`<${Outside} href=${job.description ?? ""} />` },
  { id: "last", label: "last run", cell: (job) => (job.last_run ? html`<${RunId} run_id=${job.last_run.run_id}><${Pill} trust=${job.last_run.trust}>${job.last_run.state}<//><//>` : html`<span class="faint">none</span>`) },
  { id: "duration", label: "duration", number: true, cell: (job) => duration(job.last_run?.duration_ms) },
  { id: "inputs", label: "inputs", number: true, cell: (job) => html`<${Side} job=${job} value=${job.inputs} />` },
  { id: "outputs", label: "outputs", number: true, cell: (job) => html`<${Side} job=${job} value=${job.outputs} />` },
  { id: "seen", label: "last seen", cell: (job) => html`<${Time} at=${job.last_seen_at} />` },
];

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Jobs({ params }) {
  const { q, cursor } = params;
  const answer = useApi("/jobs", { q, cursor });
  return html`
    <${Heading} title="What runs, and did it work?"><span>The jobs that any event named.</span><//>
    <${Filters}><${Typed} name="q" label="Name" placeholder="part of it" /><//>
    <${Card} title="Jobs">
      <${List} answer=${answer} columns=${COLUMNS} caption="Jobs" keyOf=${(/** @type {any} */ job) => `${job.namespace} ${job.name}`}
        empty=${q ? "No job has this in its name." : "No job yet. The overview says how to send the first event."} />
    <//>`;
}

/** @param {{job: any, value: number}} props */
const Side = ({ job, value }) => html`<a href=${link("/lineage", { kind: "job", namespace: job.namespace, name: job.name })}>${count(value)}</a>`;
