/** What is proven, and where is the proof broken? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, counted } from "../lib/format.js";
import { link } from "../lib/router.js";
import { LedgerBars } from "../parts/bars.js";
import { Card, Heading } from "../parts/card.js";
import { Chain } from "../parts/chain.js";
import { Choice, Filters, Tabs } from "../parts/filters.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { Name, RunId, Time } from "../parts/name.js";
import { Gaps } from "../parts/gaps.js";
import { Pill, trustOf } from "../parts/state.js";
import { List, Pages } from "../parts/table.js";

const VERDICTS = /** @type {[string, string][]} */ ([["", "any"], ["balanced", "✓ balanced"], ["unbalanced", "✕ unbalanced"], ["misdeclared", "✕ misdeclared"], ["incomplete", "✕ incomplete"]]);
const TABS = /** @type {[string, string][]} */ ([["ledgers", "Ledgers"], ["certificates", "Certificate chains"], ["gaps", "Missing events and records"]]);

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Proof({ params }) {
  const { tab = "ledgers" } = params;
  return html`
    <${Heading} title="What proves it, and where is the proof broken?"><span>Row counts that add up, certificates that nobody changed, events that all arrived.</span><//>
    <${Tabs} label="Kinds of proof" tabs=${TABS} />
    ${tab === "certificates" ? html`<${Chains} params=${params} />` : tab === "gaps" ? html`<${Gaps} />` : html`<${Ledgers} params=${params} />`}`;
}

/** @type {import("../parts/table.js").Column[]} */
const COLUMNS = [
  { id: "verdict", label: "verdict", cell: (one) => html`<${Pill} trust=${trustOf(one.verdict)}>${one.verdict}<//>` },
  { id: "job", label: "job", cell: (one) => html`<${Name} kind="job" ...${{ namespace: one.job_namespace ?? "", name: one.job_name ?? "" }} full />` },
  { id: "run", label: "run", cell: (one) => html`<${RunId} run_id=${one.run_id} />` },
  { id: "bars", label: "input against processed + filtered + errored", wide: true, cell: (one) => html`<${LedgerBars} ledger=${one} compact />` },
  { id: "sum", label: "sum", cell: (one) => html`<span class="figure">${count(one.input_count)} ${one.verdict === "balanced" ? "=" : "≠"} ${count(one.processed_count)} + ${count(one.filtered_count)} + ${count(one.errored_count)}</span>` },
  { id: "difference", label: "missing", number: true, cell: (one) => count(one.difference) },
  { id: "at", label: "stated", cell: (one) => html`<${Time} at=${one.stated_at} />` },
];

/** @param {{params: import("../lib/router.js").Params}} props */
function Ledgers({ params }) {
  const { verdict, cursor } = params;
  const answer = useApi("/ledgers", { verdict, cursor });
  return html`<${Filters}><${Choice} name="verdict" label="Verdict" options=${VERDICTS} /><//>
    <${Card} title="Ledgers"><${List} answer=${answer} columns=${COLUMNS} caption="Ledgers" keyOf=${(/** @type {any} */ one) => one.run_id}
      empty=${verdict ? "No ledger has this verdict." : "No run stated a ledger: nothing says what became of the records that were read."} /><//>`;
}

/** @param {{params: import("../lib/router.js").Params}} props */
function Chains({ params }) {
  const answer = useApi("/certificates/chains", { cursor: params["cursor"] });
  return html`<${Loaded} answer=${answer}>${(/** @type {any} */ page) => html`
    ${page.items.length ? null : html`<${Card} title="Certificate chains"><${Nothing}>No certificate has arrived, so no output is sealed.<//><//>`}
    ${page.items.map((/** @type {any} */ chain, /** @type {number} */ place) => html`
      <${Card} key=${chain.chain ?? place} title=${`Chain of ${counted(chain.length, "certificate")}`}
        aside=${html`<span>${chain.broken ? html`<${Pill} trust="broken">${count(chain.broken)} broken<//> ` : null}${chain.unknown ? html`<${Pill} trust="unknown">${count(chain.unknown)} unknown<//> ` : null}<${Pill} trust=${chain.genuine ? "proven" : null}>${count(chain.genuine)} genuine<//></span>`}>
        <${Chain} chain=${chain} />
      <//>`)}
    <${Pages} page=${page} />
    <p class="muted">A block is a certificate: ✓ genuine, ✕ altered or out of place, ? its predecessor is missing. <a href=${link("/violations", { kind: "certificate" })}>Violations of certificates</a></p>`}<//>`;
}
