/** What is known of a dataset besides its columns: loads, owners, rules, neighbours. */

import { html } from "../lib/dom.js";
import { count, counted, duration, percent, size } from "../lib/format.js";
import { link } from "../lib/router.js";
import { RunBars } from "./bars.js";
import { Card, Facts } from "./card.js";
import { Nothing } from "./loading.js";
import { Name, Outside, RunId, Text, Time } from "./name.js";
import { Shape } from "./state.js";
import { Table } from "./table.js";
import { Tags } from "./tags.js";

const SHOWN = 10;

/** @type {import("./table.js").Column[]} */
const LOADS = [
  { id: "trust", label: "trust", cell: (load) => html`<${Shape} trust=${load.trust} /> ${load.trust}` },
  { id: "at", label: "ended", cell: (load) => html`<${Time} at=${load.ended_at} />` },
  { id: "job", label: "job", cell: (load) => html`<${Name} kind="job" ...${load.job} />` },
  { id: "run", label: "run", cell: (load) => html`<${RunId} run_id=${load.run_id} />` },
  { id: "rows", label: "rows", number: true, cell: (load) => count(load.row_count) },
  { id: "size", label: "size", number: true, cell: (load) => size(load.size) },
  { id: "duration", label: "duration", number: true, cell: (load) => duration(load.duration_ms) },
];

/** @param {{one: any}} props */
export function Loads({ one }) {
  const loads = one.loads;
  return html`<${Card} title="Loads">
    ${loads.length
      ? html`<${RunBars} runs=${loads} />
          <${Table} columns=${LOADS} rows=${loads.slice(0, SHOWN)} caption="Last loads" keyOf=${(/** @type {any} */ load) => load.run_id} />
          ${loads.length > SHOWN ? html`<p class="muted">The last ${SHOWN} of ${count(loads.length)}.</p>` : null}`
      : html`<${Nothing}>No run that wrote it has completed, so nothing proves what is in it.<//>`}
  <//>`;
}

/** @param {{fresh: number, late: number, unknown: number}} share */
const freshnessShare = ({ fresh, late, unknown }) => `${percent(fresh)} of minutes; late ${percent(late)}; unknown ${percent(unknown)}`;

/** @param {{one: any}} props */
export function DatasetFacts({ one }) {
  const { freshness } = one;
  return html`<div class="grid">
    <${Card} title="What it is">
      ${one.description ? html`<p class="prose"><${Text} lines>${one.description}<//></p>` : null}
      <${Facts} items=${[
        ["type", one.dataset_type],
        ["rows", one.row_count === null ? null : count(one.row_count)],
        ["size", one.size === null ? null : size(one.size)],
        ["version", one.version === null ? null : html`<${Text}>${one.version}<//>`],
        ["state", one.lifecycle_state],
        ["source", one.source_uri ? html`<${Outside} href=${one.source_uri} />` : null],
        ["other names", one.aliases.length ? one.aliases.map((/** @type {any} */ alias) => html`<${Text}>${alias.namespace} ${alias.name}<//> `) : null],
        ["seen", html`<${Time} at=${one.first_seen_at} /> to <${Time} at=${one.last_seen_at} />`],
      ]} />
    <//>
    <${Card} title="Who and which rules">
      <${Facts} items=${[
        ["owners", one.owners.length ? one.owners.map((/** @type {any} */ owner) => html`<${Text}>${owner.name}<//> `) : html`<span class="unknown-text">? nobody is named</span>`],
        ["tags", one.tags.length ? html`<${Tags} tags=${one.tags} />` : null],
        ["GDPR", one.gdpr_category ?? html`<span class="muted">no category is stated</span>`],
        ["residency", one.residency ?? html`<span class="muted">not stated</span>`],
        ["fresh within", freshness.limit_s === null ? html`<span class="unknown-text">? ${freshness.reason || "no limit is declared"}</span>` : duration(freshness.limit_s * 1000)],
        ["limit from", freshness.limit_s === null ? null : html`<${Text}>${freshness.source}<//>${freshness.learned ? ` (${freshness.learned.k} of the last ${freshness.learned.n} gaps ${freshness.learned.k === 1 ? "was" : "were"} as long${freshness.learned.is_weekly ? ", by weekday" : ""}; by chance at most ${percent(freshness.learned.false_alarms)} are longer)` : null}`],
        ["data from", freshness.effective ? html`<${Time} at=${freshness.effective.loaded_at} />, from <${Text}>${freshness.effective.of.name}<//>${freshness.effective.sources.length ? ` and ${counted(freshness.effective.sources.length, "source")} of unknown age` : null}${freshness.effective.is_complete ? null : ", or earlier"}` : null],
        ["fresh in 30 days", freshness.slo.length ? freshnessShare(freshness.slo[freshness.slo.length - 1]) : null],
        ["loaded", one.last_loaded_at ? html`<${Time} at=${one.last_loaded_at} />` : "never"],
        ["quality score", one.quality_score],
        ["tests passed", one.test_pass_rate === null ? null : percent(one.test_pass_rate)],
      ]} />
    <//>
  </div>`;
}

/** @param {{one: any}} props */
export function Neighbours({ one }) {
  return html`<div class="grid">
    <${Jobs} title="Written by" jobs=${one.produced_by} empty="No job is known to write it." />
    <${Jobs} title="Read by" jobs=${one.consumed_by} empty="No job is known to read it." />
  </div>`;
}

/** @param {{title: string, jobs: any[], empty: string}} props */
const Jobs = ({ title, jobs, empty }) =>
  html`<${Card} title=${title} aside=${html`<span class="muted">${count(jobs.length)}</span>`}>
    ${jobs.length ? html`<ul class="plain">${jobs.map((job) => html`<li><${Name} kind="job" ...${job} full /> <a class="small-link" href=${link("/lineage", { kind: "job", ...job })}>lineage</a></li>`)}</ul>` : html`<${Nothing}>${empty}<//>`}
  <//>`;
