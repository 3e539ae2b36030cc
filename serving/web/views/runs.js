/** Which runs there are, the newest first. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { link } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { Choice, Filters, Typed } from "../parts/filters.js";
import { Name } from "../parts/name.js";
import { runColumns } from "../parts/run_list.js";
import { List } from "../parts/table.js";

const STATES = /** @type {[string, string][]} */ ([["", "any"], ["NEW", "NEW"], ["RUNNING", "RUNNING"], ["COMPLETED", "COMPLETED"], ["FAILED", "FAILED"], ["ABORTED", "ABORTED"]]);
const TRUST = /** @type {[string, string][]} */ ([["", "any"], ["proven", "✓ proven"], ["broken", "✕ broken"], ["unknown", "? unknown"], ["running", "● running"]]);
const VERDICTS = /** @type {[string, string][]} */ ([
  ["", "any"],
  ...["balanced", "unbalanced", "misdeclared", "incomplete"].map((verdict) => [verdict, `ledger ${verdict}`]),
  ...["intact", "altered", "unknown algorithm"].map((verdict) => [verdict, `certificate ${verdict}`]),
]);

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Runs({ params }) {
  const { q, state, trust, verdict, since, until, namespace, name, cursor } = params;
  const answer = useApi("/runs", { q, state, trust, verdict, since, until, namespace, name, cursor });
  const filtered = [q, state, trust, verdict, since, until, name].some(Boolean);
  return html`
    <${Heading} title="Which runs can be trusted?">
      <span>Newest first.${name && namespace ? html` Of the job <${Name} kind="job" namespace=${namespace} name=${name} /> · <a href=${link("/runs")}>all jobs</a>` : null}</span>
    <//>
    <${Filters}>
      <${Typed} name="q" label="Job or run id" placeholder="part of it" />
      <${Choice} name="trust" label="Trust" options=${TRUST} />
      <${Choice} name="state" label="State" options=${STATES} />
      <${Choice} name="verdict" label="Verdict" options=${VERDICTS} />
      <${Typed} name="since" label="Since (UTC)" type="datetime-local" />
      <${Typed} name="until" label="Until (UTC)" type="datetime-local" />
      ${filtered ? html`<a class="button" href=${link("/runs")}>Clear</a>` : null}
    <//>
    <${Card} title="Runs">
      <${List} answer=${answer} columns=${runColumns()} caption="Runs, newest first" keyOf=${(/** @type {any} */ run) => run.run_id}
        empty=${filtered ? "No run has all of this. Clear a filter." : "No run yet. The overview says how to send the first event."} />
    <//>`;
}
