/** What is seen before the first event: how to get one. */

import { html } from "../lib/dom.js";
import { Card, Heading } from "./card.js";
import { Command } from "./copy.js";
import { Pill } from "./state.js";

/** @param {{at?: string | undefined}} props at: the time of the page, if it is not now */
export function FirstSteps({ at }) {
  if (at) return html`<${Heading} title="Nothing was known then"><${Pill} trust="unknown">no events<//><span>At this time no event was in the tables yet.</span><//>`;
  const here = new URL(".", location.href).origin;
  return html`
    <${Heading} title="No events yet">
      <${Pill} trust="unknown">nothing to prove<//>
      <span>The server runs and the tables are empty. Everything that arrives shows up here within seconds.</span>
    <//>
    <div class="grid stretch steps">
      <${Card} title="1 · See it work">
        <p>A broker, twelve pipelines that emit lineage, the job, and its tables:</p>
        <${Command}>lineproof demo<//>
      <//>
      <${Card} title="2 · Send an event">
        <p>Any OpenLineage client sends to this server:</p>
        <${Command}>${`export OPENLINEAGE_URL=${here}`}<//>
        <p>or a file of events:</p>
        <${Command}>lineproof load events.jsonl<//>
      <//>
      <${Card} title="3 · Is the job running?">
        <p>Events become visible when the job has written them to the tables:</p>
        <${Command}>lineproof status<//>
        <${Command}>lineproof up --detach<//>
      <//>
    </div>`;
}
