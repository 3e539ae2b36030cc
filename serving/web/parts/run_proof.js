/** The evidence of a run: intent, logic and proof side by side, its ledger, and its certificates in their chain. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, counted, duration } from "../lib/format.js";
import { link } from "../lib/router.js";
import { LedgerBars } from "./bars.js";
import { Card, Facts } from "./card.js";
import { Chain } from "./chain.js";
import { Hash, Name, Outside, RunId, Text } from "./name.js";
import { Pill, trustOf } from "./state.js";
import { Tree } from "./tree.js";

/** @param {{run: any}} props */
export function Triangulation({ run }) {
  const { intent, logic } = run;
  return html`<div class="grid stretch">
    <${Card} title="Intent">
      ${intent.documentation && intent.documentation !== intent.documentation_url ? html`<p class="prose"><${Text} lines>${intent.documentation}<//></p>` : null}
      <${Facts} items=${[
        ["owner", intent.owners.length ? intent.owners.map((/** @type {any} */ owner) => html`<${Text}>${owner.name}<//> `) : null],
        ["documentation", intent.documentation_url ? html`<${Outside} href=${intent.documentation_url} />` : null],
        ["at most", intent.max_duration_ms !== null ? duration(intent.max_duration_ms) : null],
        ["fresh within", intent.freshness_minutes !== null ? duration(intent.freshness_minutes * 60_000) : null],
      ]} />
    <//>
    <${Card} title="Logic">
      ${logic.sql ? html`<pre class="code" tabindex="0"><${Text} lines>${logic.sql}<//></pre>` : null}
      ${logic.morphism ? html`<${Tree} value=${content(logic.morphism)} search=${false} depth=${3} />` : null}
      <${Facts} quiet items=${[
        ["code", logic.source_code_url ? html`<${Outside} href=${logic.source_code_url} />` : null],
        ...manifest(logic.manifest),
        ["morphism", logic.morphism || logic.sql ? null : html`<span class="muted">neither SQL nor a morphism is stated</span>`],
      ]} />
    <//>
    <${Card} title="Proof"><${Evidence} run=${run} /><//>
  </div>`;
}

/** Without the members that every facet has. @param {any} facet */
const content = (facet) => (facet && typeof facet === "object" && !Array.isArray(facet) ? Object.fromEntries(Object.entries(facet).filter(([name]) => !name.startsWith("_"))) : facet);

/** The hashes of a manifest, short; its other members stay in the facets. @param {any} stated @returns {[string, any][]} */
const manifest = (stated) =>
  Object.entries(stated ?? {})
    .filter(([name, value]) => typeof value === "string" && !name.startsWith("_"))
    .slice(0, 8)
    .map(([name, value]) => [name, /^https?:/.test(value) ? html`<${Outside} href=${value} />` : html`<${Hash} id=${value} />`]);

/** @param {{run: any}} props */
function Evidence({ run }) {
  const { ledger, certificates, reconciliation, emitters } = run.proof;
  return html`<ul class="evidence">
    <li>${ledger ? html`<${Pill} trust=${trustOf(ledger.verdict)}>${ledger.verdict}<//> ledger` : html`<${Pill} trust="unknown">no ledger<//> nothing says what became of the records`}</li>
    ${certificates.map((/** @type {any} */ one) => html`<li key=${one.chain_hash}><${Pill} trust=${trustOf(one.verdict)}>${one.verdict}<//> certificate <${Hash} id=${one.certificate_id} /></li>`)}
    ${certificates.length ? null : html`<li><${Pill} trust="unknown">no certificate<//> its outputs are not sealed</li>`}
    ${reconciliation.map((/** @type {any} */ one) => html`<li key=${`${one.namespace} ${one.name}`}><${Reconciled} one=${one} /></li>`)}
    ${emitters.map(
      (/** @type {any} */ one) => html`<li key=${one.emitter_id}>${one.missing
        ? html`<${Pill} trust="unknown">${counted(one.missing, "event")} missing<//>`
        : html`<${Pill} trust="proven">complete<//>`} emitter <${Hash} id=${one.emitter_id} />, ${count(one.first_sequence)} … ${count(one.last_sequence)}</li>`,
    )}
  </ul>`;
}

/** Rows read against the rows that the run before wrote. @param {{one: any}} props */
function Reconciled({ one }) {
  const known = one.difference !== null && one.difference !== undefined;
  const equal = known && String(one.difference) === "0";
  return html`${known
      ? html`<${Pill} trust=${equal ? "proven" : "broken"}>${count(one.rows_read)} ${equal ? "=" : "≠"} ${count(one.rows_written_before)}<//>`
      : html`<${Pill} trust="unknown">${one.rows_read === null ? "rows read" : "rows written"} unknown<//>`}
    ${known ? "read against written before" : `${count(one.rows_read)} read, ${count(one.rows_written_before)} written before`}, <${Name} kind="dataset" namespace=${one.namespace} name=${one.name} />
    ${one.written_by_run ? html`, <${RunId} run_id=${one.written_by_run} />` : null}`;
}

/** @param {{run: any}} props */
export function RunLedger({ run }) {
  const ledger = run.proof.ledger;
  if (!ledger) return null;
  const off = ledger.difference === null ? null : BigInt(ledger.difference);
  return html`<${Card} title="Ledger">
    <${LedgerBars} ledger=${ledger} />
    <p>${
      ledger.verdict === "balanced"
        ? html`<strong class="proven-text">✓ Balanced.</strong> Every record that was read is processed, filtered or errored.`
        : off !== null && off > 0n
          ? html`<strong class="broken-text">✕ ${counted(off.toString(), "record")} missing.</strong> <span class="muted">Neither processed, filtered nor errored. The run counts as not successful; its output does not refresh anything.</span>`
          : off !== null && off < 0n
            ? html`<strong class="broken-text">✕ ${counted((-off).toString(), "record")} too many.</strong> <span class="muted">More are accounted for than were read.</span>`
            : html`<strong class="broken-text">✕ ${ledger.verdict}.</strong> <span class="muted">The run says of its ledger that ${ledger.declared_balanced ? "it balances" : "it does not balance"}.</span>`
    }</p>
  <//>`;
}

/** @param {{run: any}} props */
export function RunCertificates({ run }) {
  const has = run.proof.certificates.length > 0;
  const answer = useApi(has ? "/certificates/chains" : null, { run_id: run.run_id });
  if (!has) return null;
  const mine = (answer.data?.items ?? []).filter((/** @type {any} */ chain) => chain.certificates.some((/** @type {any} */ one) => one.run_id === run.run_id));
  const chains = mine.length ? mine : [{ length: run.proof.certificates.length, certificates: run.proof.certificates.map((/** @type {any} */ one) => ({ ...one, run_id: run.run_id })) }];
  return html`<${Card} title="Certificate chain" aside=${html`<a href=${link("/proof", { tab: "certificates" })}>all chains</a>`}>
    ${chains.map((/** @type {any} */ chain, /** @type {number} */ place) => html`<${Chain} key=${place} chain=${chain} marked=${run.run_id} />`)}
  <//>`;
}
