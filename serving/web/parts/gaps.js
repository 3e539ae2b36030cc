/** What never arrived: offsets of the topic that the archive does not have, numbers of emitters that are missing. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, counted } from "../lib/format.js";
import { Card } from "./card.js";
import { Sql } from "./copy.js";
import { Loaded, Nothing } from "./loading.js";
import { Text } from "./name.js";
import { NumberLine } from "./number_line.js";
import { Pill } from "./state.js";

export function Gaps() {
  const answer = useApi("/gaps");
  return html`<${Loaded} answer=${answer}>${(/** @type {any} */ gaps) => html`
    <${Card} title="Emitters">
      <p class="muted">Every emitter numbers its events. A missing number is an event that was sent and is not here.</p>
      <${Lines} rows=${gaps.emitters} keyOf=${(/** @type {any} */ gap) => gap.emitter_id} name=${(/** @type {any} */ gap) => html`emitter <${Text}>${gap.emitter_id}<//>`}
        first="first_missing" last="last_missing" trust=${() => "unknown"} empty="No number is missing." />
    <//>
    <${Card} title="Archive">
      <p class="muted">Offsets of the topic that the archive does not have. Only lost records are a loss.</p>
      <${Lines} rows=${gaps.archive} keyOf=${(/** @type {any} */ gap) => `${gap.topic}/${gap.partition}`} name=${(/** @type {any} */ gap) => html`<${Text}>${gap.topic}<//>, partition ${gap.partition}`}
        first="first" last="last" trust=${(/** @type {any} */ gap) => (gap.cause === "lost" ? "broken" : "expected")} empty="The archive has every offset." />
    <//>
    ${gaps.is_complete ? null : html`<p class="unknown-text">? There are more than are shown here.</p>`}
    <${Sql} sql=${gaps.sql} />`}<//>`;
}

/** @param {{rows: any[], keyOf: (gap: any) => string, name: (gap: any) => any, first: string, last: string, trust: (gap: any) => string, empty: string}} props */
function Lines({ rows, keyOf, name, first, last, trust, empty }) {
  if (!rows.length) return html`<${Nothing}><${Pill} trust="proven">complete<//> ${empty}<//>`;
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const gap of rows) groups.set(keyOf(gap), [...(groups.get(keyOf(gap)) ?? []), gap]);
  return [...groups].map(([key, gaps]) => {
    const missing = gaps.reduce((sum, gap) => sum + Number(gap.missing ?? 0), 0);
    const holes = gaps.map((gap) => ({ first: gap[first], last: gap[last] ?? gap.extent[1], trust: trust(gap), said: `${gap[last] === null ? `from ${count(gap[first])}` : range(gap[first], gap[last])}${gap.cause ? `: ${gap.cause}` : ""}` }));
    const extent = gaps[0].extent;
    return html`<div class="gap-line" key=${key}>
      <p>${name(gaps[0])} · <span class=${holes.some((hole) => hole.trust === "broken") ? "broken-text" : "unknown-text"}>${counted(missing, "number")} missing</span>
        <span class="muted"> ${holes.slice(0, 8).map((hole) => hole.said).join("; ")}${holes.length > 8 ? "; …" : ""}</span></p>
      <${NumberLine} from=${Math.min(extent[0], ...holes.map((hole) => hole.first))} to=${Math.max(extent[1], ...holes.map((hole) => hole.last))} holes=${holes} label=${key} />
    </div>`;
  });
}

/** @param {number} first @param {number} last */
const range = (first, last) => (first === last ? count(first) : `${count(first)} to ${count(last)}`);
