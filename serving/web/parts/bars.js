/** Bars: the last runs of a job or dataset, and the ledger of a run. */

import { html } from "../lib/dom.js";
import { count, duration, fullTime } from "../lib/format.js";
import { link } from "../lib/router.js";
import { visible } from "../lib/text.js";
import { SHAPES, asTrust, trustOf } from "./state.js";

/**
 * One bar for each run, oldest first: its height is the duration, its colour and shape the state, the mark the ledger.
 * @param {{runs: any[]}} props newest first, as the API has them
 */
export function RunBars({ runs }) {
  if (!runs.length) return html`<p class="muted">No runs.</p>`;
  const longest = Math.max(1, ...runs.map((run) => run.duration_ms ?? 0));
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Durations of the last runs"><ol class="run-bars ${runs.length < 40 ? "few" : ""}">
    ${[...runs].reverse().map((run) => {
      const trust = asTrust(run.trust) ?? "unknown";
      const height = `${Math.max(6, Math.round((100 * (run.duration_ms ?? 0)) / longest))}%`;
      const ledger = run.ledger_verdict && run.ledger_verdict !== "unknown" ? run.ledger_verdict : "";
      const said = `${trust}: ${run.state ?? "run"}, ${duration(run.duration_ms)}${ledger ? `, ledger ${ledger}` : ""}, ${fullTime(run.started_at ?? run.ended_at)}${run.reason ? `, ${visible(run.reason)}` : ""}`;
      return html`<li key=${run.run_id}><a href=${link("/run", { run_id: run.run_id })} title=${said} aria-label=${said}>
        <span class="mark" aria-hidden="true">${ledger ? (trustOf(ledger) === "proven" ? "=" : "≠") : ""}</span>
        <span class="bar ${trust}" style=${{ height }}></span>
        <span class="shape ${trust}" aria-hidden="true">${SHAPES[trust]}</span>
      </a></li>`;
    })}
  </ol></div>
  <p class="legend muted">Oldest first. Height: duration, up to ${duration(longest)}. ✓ proven, ✕ broken, ? nothing proves it, ● running.${runs.some((run) => run.ledger_verdict) ? " Above: ledger = balanced, ≠ not." : ""}</p>`;
}

/** @param {{ledger: any, compact?: boolean}} props */
export function LedgerBars({ ledger, compact = false }) {
  const { input, parts, accounted } = amounts(ledger);
  const whole = Math.max(input, accounted, 1);
  const missing = input - accounted;
  const difference = ledger.difference ?? missing;
  return html`<div class="ledger ${compact ? "compact" : ""}">
    ${compact ? null : html`<p class="muted">input ${count(ledger.input_count)}</p>`}
    <div class="bar-line" role="img" aria-label=${`${count(ledger.input_count)} records read`}>
      <${Part} of=${whole} value=${input} look="read" label=${`${count(ledger.input_count)} records read`} />
    </div>
    ${compact ? null : html`<p class="muted">accounted for ${count(sum(ledger))}</p>`}
    <div class="bar-line" role="img" aria-label=${parts.map(({ label }) => label).join(", ")}>
      ${parts.map((part) => html`<${Part} key=${part.look} of=${whole} ...${part} />`)}
      ${missing > 0 ? html`<${Part} of=${whole} value=${missing} look="missing" label=${`${count(difference)} missing`} />` : null}
    </div>
    ${compact ? null : html`<p class="legend"><span class="key processed"></span>processed ${count(ledger.processed_count)}
      <span class="key filtered"></span>filtered ${count(ledger.filtered_count)}
      <span class="key errored"></span>errored ${count(ledger.errored_count)}
      ${missing > 0 ? html`<span class="key missing"></span>missing ${count(difference)}` : null}</p>`}
  </div>`;
}

/** @param {{of: number, value: number, look: string, label: string}} props */
function Part({ of, value, look, label }) {
  if (value <= 0) return null;
  const share = (100 * value) / of;
  return html`<span class="part ${look}" style=${{ width: `${share}%` }} title=${label}>${share > 14 ? label : ""}</span>`;
}

/** @param {any} ledger */
function amounts(ledger) {
  const counts = /** @type {const} */ ({ processed: ledger.processed_count, filtered: ledger.filtered_count, errored: ledger.errored_count });
  const parts = Object.entries(counts).map(([look, value]) => ({ look, value: Math.max(0, Number(value ?? 0)), label: `${count(value ?? 0)} ${look}` }));
  return { input: Math.max(0, Number(ledger.input_count ?? 0)), parts, accounted: parts.reduce((all, part) => all + part.value, 0) };
}

/** Exact, also beyond 2^53. @param {any} ledger */
function sum(ledger) {
  return [ledger.processed_count, ledger.filtered_count, ledger.errored_count].reduce((all, one) => all + BigInt(one ?? 0), 0n).toString();
}
