/** Where to start: a dataset or a job. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { link } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { Typed } from "../parts/filters.js";
import { FirstSteps } from "../parts/first_steps.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { Text } from "../parts/name.js";

const SHOWN = 40;

/** @param {{params: import("../lib/router.js").Params}} props */
export function Choose({ params }) {
  const q = params["q"];
  const datasets = useApi("/datasets", { q, limit: SHOWN });
  const jobs = useApi("/jobs", { q, limit: SHOWN });
  const isEmpty = !q && datasets.data?.items.length === 0 && jobs.data?.items.length === 0;
  if (isEmpty) return html`<${FirstSteps} at=${params["as_of"]} />`;
  return html`
    <${Heading} title="Where does data come from, and where does it go?"><span>Choose a dataset or a job to start from.</span><//>
    <div class="filters"><${Typed} name="q" label="Name" placeholder="a part of the name" /></div>
    <div class="grid">
      <${Card} title="Datasets"><${Links} kind="dataset" answer=${datasets} /><//>
      <${Card} title="Jobs"><${Links} kind="job" answer=${jobs} /><//>
    </div>
  `;
}

/** @param {{kind: string, answer: import("../lib/api.js").Answer<any>}} props */
const Links = ({ kind, answer }) => html`<${Loaded} answer=${answer}>${(/** @type {any} */ page) =>
  page.items.length
    ? html`<ul class="plain">${page.items.map((/** @type {any} */ one) => html`<li key=${`${one.namespace} ${one.name}`}>
        <a class="name" href=${link("/lineage", { kind, namespace: one.namespace, name: one.name })}><small><${Text}>${one.namespace}<//></small> <${Text}>${one.name}<//></a></li>`)}
        ${page.next_cursor ? html`<li class="muted">There are more: type a part of the name.</li>` : null}</ul>`
    : html`<${Nothing}>None has this in its name.<//>`}<//>`;
