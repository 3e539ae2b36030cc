/** What is wrong, since when, and what to do? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { internal } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { FaultsNav } from "../parts/faults_nav.js";
import { Choice, Filters } from "../parts/filters.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { RunId, Text, Time } from "../parts/name.js";
import { Pill, trustOf } from "../parts/state.js";
import { Pages } from "../parts/table.js";

const KINDS = /** @type {[string, string][]} */ ([["", "all"], ["ledger", "ledgers"], ["certificate", "certificates"], ["quality", "tests"], ["emitter", "missing events"], ["archive", "missing records"], ["quarantine", "quarantine"]]);
const STANDS = /** @type {[string, string][]} */ ([["", "open"], ["false", "resolved"], ["all", "open and resolved"]]);

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Violations({ params }) {
  const { kind, stands = "true", cursor } = params;
  const answer = useApi("/violations", { kind, stands, cursor });
  return html`
    <${Heading} title="What is wrong, and what to do?"><span>Checks that failed: each stays until the data says otherwise.</span><//>
    <${FaultsNav} />
    <${Filters}>
      <${Choice} name="kind" label="Kind" options=${KINDS} />
      <${Choice} name="stands" label="State" options=${STANDS} />
    <//>
    <${Card} title="Violations">
      <${Loaded} answer=${answer}>${(/** @type {any} */ page) => html`
        ${page.items.length
          ? html`<ol class="feed">${page.items.map((/** @type {any} */ one, /** @type {number} */ place) => html`<${Violation} key=${place} one=${one} />`)}</ol>`
          : html`<${Nothing}><${Pill} trust="proven">none<//> ${stands === "true" ? "No check fails." : "No violation is of this kind and state."}<//>`}
        <${Pages} page=${page} />`}<//>
    <//>`;
}

/** @param {{one: any}} props */
function Violation({ one }) {
  const href = internal(one.href);
  const subject = html`<${Text}>${one.subject}<//>`;
  return html`<li>
    <div class="feed-state">${one.stands ? html`<${Pill} trust=${trustOf(one.verdict) === "unknown" ? "unknown" : "broken"}>opened<//>` : html`<${Pill} trust="proven">resolved<//>`}</div>
    <div class="stack-s">
      <p><strong>${one.kind}</strong> · ${one.verdict} · ${href ? html`<a href=${href}>${subject}</a>` : subject}${one.run_id && one.run_id !== one.subject ? html` · run <${RunId} run_id=${one.run_id} />` : null}</p>
      ${one.detail ? html`<p><${Text}>${one.detail}<//></p>` : null}
      ${one.remedy ? html`<p class="muted">${one.remedy}</p>` : null}
    </div>
    <div class="feed-times muted">
      <span>opened <${Time} at=${one.opened_at} /></span>
      ${one.resolved_at ? html`<span>resolved <${Time} at=${one.resolved_at} /></span>` : null}
    </div>
  </li>`;
}
