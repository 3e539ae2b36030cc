/** Which producers send events with which defects? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count } from "../lib/format.js";
import { visible } from "../lib/text.js";
import { Card, Heading } from "../parts/card.js";
import { Copy } from "../parts/copy.js";
import { FaultsNav } from "../parts/faults_nav.js";
import { Hash, Text, Time } from "../parts/name.js";
import { Pill } from "../parts/state.js";
import { List } from "../parts/table.js";

/** @type {import("../parts/table.js").Column[]} */
const COLUMNS = [
  { id: "defect", label: "defect", cell: (one) => html`<${Pill} trust="unknown">${one.defect}<//>` },
  { id: "producer", label: "producer", cell: (one) => html`<${Text}>${one.producer ?? "not stated"}<//>` },
  { id: "events", label: "events", number: true, cell: (one) => count(one.events) },
  { id: "meaning", label: "what it means and what to do", wide: true, cell: (one) => html`<div class="stack-s"><p>${one.meaning}: ${one.effect}</p><p class="muted">${one.remedy}</p><${Example} one=${one} /></div>` },
  { id: "last", label: "last", cell: (one) => html`<${Time} at=${one.last_at} />` },
];

/** The latest event with the defect, to send to the maintainers of the producer. @param {{one: any}} props */
function Example({ one }) {
  return html`<details class="sql"><summary>example: event <${Hash} id=${one.example_event_id} /></summary>
    ${one.example ? html`<pre tabindex="0" dir="ltr">${visible(one.example, { lines: true })}</pre><${Copy} text=${one.example} label="Copy JSON" />` : html`<p class="muted">It is no longer in the tables.</p>`}
  </details>`;
}

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Defects({ params }) {
  const answer = useApi("/defects", { cursor: params["cursor"] });
  return html`
    <${Heading} title="What is wrong with the events themselves?"><span>These events are in the tables; a part of each could not be used.</span><//>
    <${FaultsNav} />
    <${Card} title="Defects by producer">
      <${List} answer=${answer} columns=${COLUMNS} caption="Defects by producer" empty=${html`<${Pill} trust="proven">none<//> Every event is as the specification says.`} />
    <//>`;
}
