/** Everything that has a text in its name. */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count } from "../lib/format.js";
import { Card, Heading } from "../parts/card.js";
import { Choice, Filters, Typed } from "../parts/filters.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { Found, byKind, kindOf, target } from "../parts/search.js";
import { Pages } from "../parts/table.js";

const KINDS = /** @type {[string, string][]} */ ([["", "all"], ["dataset", "datasets"], ["job", "jobs"], ["column", "columns"], ["run", "runs"]]);

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Search({ params }) {
  const { q, kind } = params;
  const answer = useApi(q ? "/search" : null, { q, kind, limit: 100 });
  return html`
    <${Heading} title="Search" />
    <${Filters}><${Typed} name="q" label="Name" placeholder="part of a name" /><${Choice} name="kind" label="Kind" options=${KINDS} /><//>
    ${q ? html`<${Loaded} answer=${answer}>${(/** @type {any} */ page) => html`<${Groups} items=${byKind(page.items)} /><${Pages} page=${page} />`}<//>` : html`<${Nothing}>Type a part of the name of a job, dataset or column, or a run id.<//>`}`;
}

/** @param {{items: any[]}} props */
function Groups({ items }) {
  if (!items.length) return html`<${Nothing}>Nothing has this in its name.<//>`;
  const kinds = [...new Set(items.map((item) => item.kind))];
  return kinds.map((kind) => {
    const mine = items.filter((item) => item.kind === kind);
    return html`<${Card} key=${kind} title=${kindOf(mine[0])} aside=${html`<span class="muted">${count(mine.length)}</span>`}>
      <ul class="plain">${mine.map((item) => html`<li><a href=${target(item)}><${Found} result=${item} /></a></li>`)}</ul>
    <//>`;
  });
}
