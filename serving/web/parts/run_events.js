/** What a run said, unchanged: its facets as a tree, its events as they came. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { Card } from "./card.js";
import { Copy } from "./copy.js";
import { Loaded, Nothing } from "./loading.js";
import { Hash, Time } from "./name.js";
import { Pill } from "./state.js";
import { Pages } from "./table.js";
import { Tree } from "./tree.js";

/** @param {{id: string}} props */
export function RunFacets({ id }) {
  const answer = useApi(`/runs/${encodeURIComponent(id)}/facets`);
  return html`<${Card} title="Facets">
    <p class="muted">Of each facet, the latest that an event of the run stated.</p>
    <${Loaded} answer=${answer}>${(/** @type {any} */ facets) => html`<${Tree} value=${named(facets)} />`}<//>
  <//>`;
}

/** Datasets by their names, so that the search finds them. @param {any} facets */
function named(facets) {
  const byName = (/** @type {any[]} */ datasets) => Object.fromEntries((datasets ?? []).map((one) => [`${one.namespace} ${one.name}`, one.facets]));
  return { run: facets.run, job: facets.job, inputs: byName(facets.inputs), outputs: byName(facets.outputs) };
}

/** @param {{id: string, cursor?: string | undefined}} props */
export function RunEvents({ id, cursor }) {
  const answer = useApi(`/runs/${encodeURIComponent(id)}/events`, { cursor, limit: 50 });
  return html`<${Card} title="Events">
    <${Loaded} answer=${answer}>${(/** @type {any} */ page) => html`
      ${page.items.length ? page.items.map((/** @type {any} */ event) => html`<${Event} key=${event.event_id} event=${event} />`) : html`<${Nothing}>The events are no longer in the tables.<//>`}
      <${Pages} page=${page} />`}<//>
  <//>`;
}

/** @param {{event: any}} props */
function Event({ event }) {
  const parsed = json(event.event);
  return html`<details class="event">
    <summary><strong>${event.event_type}</strong> <span class="mono"><${Time} at=${event.event_time} ms /></span> <${Hash} id=${event.event_id} />
      ${(event.defects ?? []).map((/** @type {string} */ defect) => html` <${Pill} trust="unknown">${defect}<//>`)}</summary>
    <${Tree} value=${parsed ?? { event: event.event }} search=${false} depth=${2} />
    <${Copy} text=${event.event ?? ""} label="Copy JSON" />
  </details>`;
}

/** @param {string} text */
function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
