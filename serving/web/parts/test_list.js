/** Results of tests, as cards that say what was expected and what was found. */

import { html } from "../lib/dom.js";
import { count, percent } from "../lib/format.js";
import { Nothing } from "./loading.js";
import { Name, RunId, Text, Time } from "./name.js";
import { Pill } from "./state.js";
import { Table } from "./table.js";

/** @param {{dataset?: boolean}} [with_] @returns {import("./table.js").Column[]} */
export function testColumns({ dataset = true } = {}) {
  const columns = [
    { id: "result", label: "result", cell: (/** @type {any} */ test) => html`<${Result} test=${test} />` },
    { id: "dataset", label: "dataset", cell: (/** @type {any} */ test) => (test.name ? html`<${Name} kind="dataset" namespace=${test.namespace} name=${test.name} full />` : html`<span class="faint">–</span>`) },
    { id: "test", label: "test", cell: (/** @type {any} */ test) => html`<${Text}>${test.expectation}<//>${test.column ? html` <code><${Text}>${test.column}<//></code>` : null}${test.suite ? html`<br /><small><${Text}>${test.suite}<//></small>` : null}` },
    { id: "found", label: "expected and found", wide: true, cell: (/** @type {any} */ test) => html`<${Found} test=${test} />` },
    { id: "since", label: "since", cell: (/** @type {any} */ test) => html`<${Time} at=${test.since ?? test.event_time} />` },
    { id: "run", label: "run", cell: (/** @type {any} */ test) => (test.run_id ? html`<${RunId} run_id=${test.run_id} />` : html`<span class="faint">–</span>`) },
  ];
  return columns.filter((column) => dataset || column.id !== "dataset");
}

/** @param {{tests: any[]}} props */
export const TestList = ({ tests }) =>
  tests.length
    ? html`<${Table} columns=${testColumns({ dataset: false })} rows=${tests} caption="Latest result of each test" />`
    : html`<${Nothing}>No test of it was ever run, so its quality is unknown. <code>lineproof quality run</code> runs tests.<//>`;

/** @param {{test: any}} props */
function Result({ test }) {
  if (test.success === null && !test.error) return html`<${Pill} trust="unknown">skipped<//>`;
  if (test.error) return html`<${Pill} trust="unknown">could not run<//>`;
  return test.success ? html`<${Pill} trust="proven">passed<//>` : html`<${Pill} trust="broken">failed<//>`;
}

/** @param {{test: any}} props */
function Found({ test }) {
  const samples = test.samples ?? [];
  return html`<div>
    ${test.expected ? html`<p><span class="muted">expected</span> <${Text}>${test.expected}<//></p>` : null}
    ${test.observed ? html`<p><span class="muted">found</span> <${Text}>${test.observed}<//></p>` : null}
    ${test.unexpected_count ? html`<p class="broken-text">✕ ${count(test.unexpected_count)} unexpected${test.unexpected_share === null ? "" : `, ${percent(test.unexpected_share)}`}</p>` : null}
    ${samples.length ? html`<p><span class="muted">such as</span> ${samples.slice(0, 5).map((/** @type {any} */ sample) => html`<code><${Text}>${sample}<//></code> `)}</p>` : null}
    ${test.error ? html`<p class="unknown-text">? <${Text}>${test.error}<//></p>` : null}
  </div>`;
}
