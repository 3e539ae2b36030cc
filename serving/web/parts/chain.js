/** A chain of certificates as a strip: one block for each, the broken links with both hashes. */

import { html } from "../lib/dom.js";
import { count, fullTime } from "../lib/format.js";
import { link } from "../lib/router.js";
import { Hash, RunId } from "./name.js";
import { Pill, SHAPES, trustOf } from "./state.js";

/** What each verdict means, for those who read it for the first time. @type {Record<string, string>} */
const MEANING = {
  altered: "its content does not have the hash that it states",
  gap: "the certificate before it has not arrived",
  fork: "another certificate names the same predecessor",
  reordered: "it was issued before its predecessor",
  "unknown algorithm": "its hash algorithm is not known, so it cannot be checked",
};

/** @param {{chain: any, marked?: string}} props marked: the run whose certificates are framed */
export function Chain({ chain, marked }) {
  const before = Math.max(0, chain.length - chain.certificates.length);
  const faults = chain.certificates.map((/** @type {any} */ one, /** @type {number} */ place) => ({ ...one, place: place + 1 + before })).filter((/** @type {any} */ one) => one.verdict !== "genuine");
  return html`<div class="chain">
    ${chain.is_complete === false ? html`<p class="muted">The latest ${count(chain.certificates.length)} of ${count(chain.length)}.</p>` : null}
    <ol class="links">
      ${chain.certificates.map((/** @type {any} */ one, /** @type {number} */ place) => {
        const trust = trustOf(one.verdict);
        const said = `Certificate ${place + 1 + before} of ${chain.length}: ${one.verdict}, ${fullTime(one.issued_at)}`;
        return html`<li key=${place}><a class="link ${trust} ${one.run_id === marked ? "marked" : ""}" href=${link("/run", { run_id: one.run_id })}
          title=${said} aria-label=${said}>${SHAPES[trust]}</a></li>`;
      })}
    </ol>
    ${faults.length
      ? html`<ul class="faults">${faults.slice(0, 20).map(
          (/** @type {any} */ one) => html`<li key=${one.place}><${Pill} trust=${trustOf(one.verdict)}>${one.verdict}<//>
            <span>certificate ${count(one.place)} of ${count(chain.length)}: ${MEANING[one.verdict] ?? ""}</span>
            <span class="muted">stated <${Hash} id=${one.chain_hash} />, computed <${Hash} id=${one.computed_hash} />, before it <${Hash} id=${one.previous_hash} /></span>
            <${RunId} run_id=${one.run_id}>run<//></li>`,
        )}</ul>`
      : html`<p class="muted">Every hash is that of its content, and every link leads to the certificate before.</p>`}
  </div>`;
}
