/** Which records could not be used, why, and how to send them again. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, size } from "../lib/format.js";
import { link } from "../lib/router.js";
import { visible } from "../lib/text.js";
import { Card, Heading } from "../parts/card.js";
import { Command } from "../parts/copy.js";
import { FaultsNav } from "../parts/faults_nav.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { Text, Time } from "../parts/name.js";
import { Pill } from "../parts/state.js";
import { Pages } from "../parts/table.js";

/** @param {{params: import("../lib/router.js").Params}} props */
export default function DeadLetters({ params }) {
  const { reason, cursor } = params;
  const reasons = useApi("/dead-letters/reasons");
  const answer = useApi("/dead-letters", { reason, cursor, limit: 50 });
  const counts = /** @type {any[]} */ (reasons.data?.items ?? []);
  return html`
    <${Heading} title="Which records could not be used?"><span>They are kept, byte for byte, with the reason. Nothing is lost.</span><//>
    <${FaultsNav} />
    ${counts.length ? html`<nav class="choices" aria-label="Reasons">
      <a class="button" href=${link("/dead-letters")} aria-current=${reason ? null : "page"}>all</a>
      ${counts.map((one) => html`<a key=${one.reason} class="button" title=${one.meaning} href=${link("/dead-letters", { reason: one.reason })} aria-current=${one.reason === reason ? "page" : null}>${one.reason} <strong>${count(one.records)}</strong></a>`)}
    </nav>` : null}
    <${Card} title="Dead letters">
      <${Loaded} answer=${answer}>${(/** @type {any} */ page) => html`
        ${page.items.length
          ? html`<ol class="feed">${page.items.map((/** @type {any} */ one) => html`<${Letter} key=${`${one.topic}/${one.partition}/${one.offset}`} one=${one} />`)}</ol>`
          : html`<${Nothing}><${Pill} trust="proven">none<//> ${reason ? "No record has this reason." : "Every record could be used."}<//>`}
        <${Pages} page=${page} />`}<//>
    <//>`;
}

/** @param {{one: any}} props */
function Letter({ one }) {
  return html`<li>
    <div class="feed-state"><${Pill} trust=${one.redriven_as ? (one.redriven_reason ? "broken" : "proven") : "unknown"}>${one.redriven_as ? (one.redriven_reason ? "sent again, in vain" : "sent again") : one.reason}<//></div>
    <div class="stack-s">
      <p><span class="mono"><${Text}>${one.topic}<//>/${one.partition}/${one.offset}</span> · ${size(one.size)}${one.key_text ? html` · key <code><${Text}>${one.key_text}<//></code>` : null}</p>
      <p>${one.meaning}${one.error ? html` <span class="muted"><${Text}>${one.error}<//></span>` : null}</p>
      ${one.remedy ? html`<p class="muted">${one.remedy}</p>` : null}
      ${one.redriven_as ? html`<p>Sent again as <code><${Text}>${one.redriven_as}<//></code>${one.redriven_reason ? html`, which cannot be used either: ${one.redriven_reason}` : null}</p>` : html`<${Command}>${one.redrive}<//>`}
      ${one.value_text ? html`<details class="sql"><summary>The record</summary><pre tabindex="0" dir="ltr">${visible(one.value_text, { lines: true })}</pre></details>` : null}
    </div>
    <div class="feed-times muted"><${Time} at=${one.timestamp} /></div>
  </li>`;
}
