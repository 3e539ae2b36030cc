/** Does this job do what it is meant to do? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, counted, duration } from "../lib/format.js";
import { link } from "../lib/router.js";
import { RunBars } from "../parts/bars.js";
import { Card, Facts, Heading } from "../parts/card.js";
import { Copy } from "../parts/copy.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { Name, Outside, Text, Time } from "../parts/name.js";
import { runColumns } from "../parts/run_list.js";
import { Pill } from "../parts/state.js";
import { Table } from "../parts/table.js";
import { Tags } from "../parts/tags.js";
import { Tree } from "../parts/tree.js";

/** @param {{params: import("../lib/router.js").Params}} props */
export default function JobView({ params }) {
  const { namespace, name } = params;
  const answer = useApi(name ? "/job" : null, { namespace, name });
  if (!name) return html`<${Nothing} title="No job is named.">Choose one in the list of jobs.<//>`;
  return html`<${Loaded} answer=${answer} rows=${12}>${(/** @type {any} */ job) => html`<${Job} job=${job} />`}<//>`;
}

/** @param {{job: any}} props */
function Job({ job }) {
  const identity = { namespace: job.namespace, name: job.name };
  const last = job.last_run;
  const proven = job.runs.filter((/** @type {any} */ run) => run.trust === "proven").length;
  return html`
    <${Heading} title=${html`<${Text}>${job.name}<//>`} aside=${html`<${Copy} text=${job.name} label="Copy name" /><a class="button" href=${link("/lineage", { kind: "job", ...identity })}>Lineage</a>`}>
      <span><${Text}>${job.namespace}<//> · job ·</span>
      ${last ? html`<${Pill} trust=${last.trust}>${last.state}: <${Text}>${last.reason}<//><//>` : html`<${Pill} trust="unknown">no run<//>`}
      <span><a href=${link("/runs", { ...identity, trust: "proven" })}>${count(proven)}</a> of the last <a href=${link("/runs", identity)}>${counted(job.runs.length, "run")}</a> proven</span>
    <//>
    <${Card} title="Last runs"><${RunBars} runs=${job.runs} /><//>
    <div class="grid">
      <${Card} title="What it is meant to do">
        ${job.description && job.description !== job.documentation_url ? html`<p class="prose"><${Text} lines>${job.description}<//></p>` : null}
        <${Facts} items=${facts(job)} />
      <//>
      <${Card} title="SQL">${job.sql ? html`<pre class="code" tabindex="0"><${Text} lines>${job.sql}<//></pre>` : html`<p class="muted">No SQL is stated.</p>`}<//>
    </div>
    <div class="grid">
      <${Side} title="Reads" datasets=${job.inputs} />
      <${Side} title="Writes" datasets=${job.outputs} />
    </div>
    <${Card} title="Runs" aside=${html`<a href=${link("/runs", identity)}>all runs</a>`}>
      ${job.runs.length ? html`<${Table} columns=${runColumns({ job: false })} rows=${job.runs.slice(0, 20)} caption="Last runs" keyOf=${(/** @type {any} */ run) => run.run_id} />` : html`<${Nothing}>No event of a run has arrived; the job is known from an event of its own.<//>`}
    <//>
    <${Card} title="Facets"><${Tree} value=${job.facets} depth=${1} /><//>`;
}

/** @param {any} job @returns {[string, any][]} */
const facts = (job) => [
  ["owner", job.owners.length ? job.owners.map((/** @type {any} */ owner) => html`<${Text}>${owner.name}<//> `) : null],
  ["tags", job.tags.length ? html`<${Tags} tags=${job.tags} />` : null],
  ["documentation", job.documentation_url ? html`<${Outside} href=${job.documentation_url} />` : null],
  ["code", job.source_code_url ? html`<${Outside} href=${job.source_code_url} />` : null],
  ["at most", job.max_duration_ms !== null ? duration(job.max_duration_ms) : html`<span class="unknown-text">? no limit is declared</span>`],
  ["fresh within", job.freshness_minutes !== null ? duration(job.freshness_minutes * 60_000) : html`<span class="unknown-text">? no limit is declared</span>`],
  ["kind", [job.processing_type, job.integration, job.job_type].filter(Boolean).join(" · ")],
  ["parent", job.parent ? html`<${Name} kind="job" ...${job.parent} />` : null],
  ["seen", html`<${Time} at=${job.first_seen_at} /> to <${Time} at=${job.last_seen_at} />`],
];

/** @param {{title: string, datasets: any[]}} props */
function Side({ title, datasets }) {
  const columns = [
    { id: "name", label: "dataset", cell: (/** @type {any} */ one) => html`<${Name} kind="dataset" ...${one} full />` },
    { id: "seen", label: "last seen", cell: (/** @type {any} */ one) => html`<${Time} at=${one.last_seen_at} />` },
  ];
  return html`<${Card} title=${title} aside=${html`<span class="muted">${count(datasets.length)}</span>`}>
    ${datasets.length ? html`<${Table} columns=${columns} rows=${datasets} caption=${title} />` : html`<${Nothing}>No dataset is stated.<//>`}
  <//>`;
}
