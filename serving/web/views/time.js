/** What was known at a time, against what is known now? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, fullTime } from "../lib/format.js";
import { link, setParams } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { Sql } from "../parts/copy.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { Name, RunId, Text } from "../parts/name.js";

const MOST = 20;

/** @param {{params: import("../lib/router.js").Params}} props */
export default function TimeView({ params }) {
  const { at = "" } = params;
  const answer = useApi(at ? "/time" : null, { at, as_of: null });
  return html`
    <${Heading} title="What was known then, and what is known now?">
      <span>Events arrive late. An answer from yesterday can differ from today's answer about yesterday.</span>
    <//>
    <${When} at=${at} />
    ${at ? html`<${Loaded} answer=${answer}>${(/** @type {any} */ diff) => html`<${Diff} diff=${diff} at=${at} />`}<//>` : html`<${Nothing}>Choose a time.<//>`}`;
}

/** @param {{at: string}} props */
function When({ at }) {
  const submitted = (/** @type {any} */ event) => {
    event.preventDefault();
    const value = String(new FormData(event.target).get("at") ?? "");
    if (value) setParams({ at: `${value.length === 16 ? `${value}:00` : value}Z` });
  };
  const earlier = (/** @type {number} */ minutes) => new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19) + "Z";
  return html`<form class="filters" onSubmit=${submitted} key=${at}>
    <label class="filter"><span>Time (UTC)</span><input type="datetime-local" step="1" name="at" required value=${at.replace(/(\.\d+)?Z$/, "").slice(0, 19)} /></label>
    <button class="primary">Compare</button>
    ${/** @type {[string, number][]} */ ([["10 minutes ago", 10], ["an hour ago", 60], ["a day ago", 1440], ["a week ago", 10_080]]).map(
      ([label, minutes]) => html`<button type="button" key=${label} onClick=${() => setParams({ at: earlier(minutes) })}>${label}</button>`,
    )}
  </form>`;
}

/** @param {{diff: any, at: string}} props */
function Diff({ diff, at }) {
  const { known, runs, datasets, jobs, edges, schemas } = diff;
  const nothing = [runs, datasets, jobs, edges].every((one) => !one.added_count && !one.removed_count && !one.changed_count) && !schemas.length;
  return html`
    <p class="answer"><strong>${fullTime((diff.at ?? at).slice(0, 19))}</strong>
      <span>${HOW[known.how] ?? ""}${known.oldest_at ? ` · oldest readable version: ${fullTime(known.oldest_at.slice(0, 19))}` : ""}</span>
      <a class="button" href=${link("/", { as_of: at })}>Show the whole page at that time</a></p>
    ${nothing ? html`<${Card} title="Since then"><${Nothing}>Nothing has changed since then.<//><//>` : null}
    <div class="grid">
      <${Changes} title="Runs" of=${runs} draw=${drawRun} />
      <${Changes} title="Datasets" of=${datasets} draw=${(/** @type {any} */ one) => html`<${Name} kind="dataset" ...${one} full />`} />
      <${Changes} title="Jobs" of=${jobs} draw=${(/** @type {any} */ one) => html`<${Name} kind="job" ...${one} full />`} />
      <${Changes} title="Edges" of=${edges} draw=${drawEdge} />
      <${Changes} title="Schemas" of=${{ changed: schemas, changed_count: schemas.length }} draw=${drawSchema} />
    </div>
    <${Sql} sql=${diff.sql} />`;
}

/** @type {Record<string, string>} */
const HOW = { "event time": "by event time: the files of that time are gone", version: "by version: the tables as they were", now: "now" };
const LISTS = /** @type {const} */ ([["added", "+", "new since then"], ["changed", "~", "changed since then"], ["removed", "−", "gone since then"]]);

/** @param {{title: string, of: any, draw: (one: any) => any}} props */
function Changes({ title, of, draw }) {
  const lists = LISTS.filter(([kind]) => of[`${kind}_count`]);
  if (!lists.length) return null;
  return html`<${Card} title=${title}>
    ${lists.map(([kind, sign, said]) => {
      const shown = of[kind].slice(0, MOST);
      const more = of[`${kind}_count`] - shown.length;
      return html`<h3 class="sub">${count(of[`${kind}_count`])} ${said}</h3>
        <ul class="diff">${shown.map((/** @type {any} */ one, /** @type {number} */ place) => html`<li key=${place} class=${kind}>${sign} ${draw(one)}</li>`)}</ul>
        ${more > 0 ? html`<p class="muted">and ${count(more)} more</p>` : null}`;
    })}
  <//>`;
}

/** @param {any} run */
const drawRun = (run) => html`<${RunId} run_id=${run.run_id} /> <${Name} kind="job" ...${run.job} />
  ${run.before ? html` <${RunState} of=${run.before} /> → <${RunState} of=${run.after} />` : ` ${run.state}`}`;

/** What was known of a run. @param {{of: any}} props */
const RunState = ({ of }) => html`<span>${[of.state, of.ledger_verdict && `ledger ${of.ledger_verdict}`, of.certificate_verdict && `certificate ${of.certificate_verdict}`].filter(Boolean).join(", ")}</span>`;

/** @param {any} edge */
const drawEdge = (edge) => html`<${Name} kind=${edge.source_kind} ...${edge.source} /> → <${Name} kind=${edge.target_kind} ...${edge.target} />`;

/** @param {any} one */
const drawSchema = (one) => html`<${Name} kind="dataset" namespace=${one.namespace} name=${one.name} />
  <small> <${Text}>${[...one.added.map((/** @type {string} */ name) => `+ ${name}`), ...one.removed.map((/** @type {string} */ name) => `− ${name}`), ...one.changed.map((/** @type {any} */ change) => `~ ${change.name}: ${change.before} → ${change.after}`)].join(", ")}<//></small>`;
