/** What was known at a time, against what is known now? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { counted, fullTime } from "../lib/format.js";
import { link, setParams } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { Command } from "../parts/copy.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { Name, RunId, Text } from "../parts/name.js";
import { Pill } from "../parts/state.js";

const MOST = 200;

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
  const nothing = [runs.added, runs.changed, datasets.added, datasets.removed, jobs.added, jobs.removed, edges.added, edges.removed, schemas].every((list) => !list?.length);
  return html`
    <p class="answer"><strong>${fullTime(diff.at.slice(0, 19))}</strong>
      <span>${known.how === "event time" ? "by event time: the files of that time are gone" : known.how === "version" ? "by version: the tables as they were" : "now"}${known.oldest_at ? ` · oldest readable version: ${fullTime(known.oldest_at.slice(0, 19))}` : ""}</span>
      <a class="button" href=${link("/", { as_of: at })}>Show the whole page at that time</a></p>
    ${nothing ? html`<${Card} title="Since then"><${Nothing}>Nothing has changed since then.<//><//>` : null}
    <div class="grid">
      <${Changes} title="Runs" added=${runs.added} changed=${runs.changed} draw=${drawRun} />
      <${Changes} title="Datasets" added=${datasets.added} removed=${datasets.removed} draw=${(/** @type {any} */ one) => html`<${Name} kind="dataset" ...${one} full />`} />
      <${Changes} title="Jobs" added=${jobs.added} removed=${jobs.removed} draw=${(/** @type {any} */ one) => html`<${Name} kind="job" ...${one} full />`} />
      <${Changes} title="Edges" added=${edges.added} removed=${edges.removed} draw=${drawEdge} />
      <${Changes} title="Schemas" changed=${schemas} draw=${drawSchema} />
    </div>
    <${Card} title="On the command line"><${Command}>${`lineproof sql "SELECT * FROM runs" --as-of ${diff.at}`}<//><//>`;
}

/** @param {{title: string, added?: any[], removed?: any[], changed?: any[], draw: (one: any) => any}} props */
function Changes({ title, added = [], removed = [], changed = [], draw }) {
  const lists = /** @type {[string, string, string, any[]][]} */ ([["added", "+", "new since then", added], ["changed", "~", "changed since then", changed], ["removed", "−", "gone since then", removed]]);
  if (lists.every(([, , , list]) => !list.length)) return null;
  return html`<${Card} title=${title}>
    ${lists.filter(([, , , list]) => list.length).map(([style, sign, said, list]) => html`
      <h3 class="sub">${counted(list.length, said, said)}</h3>
      <ul class="diff">${list.slice(0, MOST).map((one, place) => html`<li key=${place} class=${style}>${sign} ${draw(one)}</li>`)}</ul>
      ${list.length > MOST ? html`<p class="muted">and ${list.length - MOST} more</p>` : null}`)}
  <//>`;
}

/** @param {any} run */
function drawRun(run) {
  const id = run.run_id ?? run;
  return html`<${RunId} run_id=${id} />${run.job ? html` <${Name} kind="job" ...${run.job} />` : null}
    ${run.before !== undefined ? html` <${Side} side=${run.before} /> → <${Side} side=${run.after} />` : null}`;
}

/** A run before or after: a summary, or a state. @param {{side: any}} props */
function Side({ side }) {
  if (side === null || typeof side !== "object") return html`<${Text}>${side ?? "–"}<//>`;
  return html`<${Pill} trust=${side.trust}>${side.state ?? side.trust}<//>`;
}

/** @param {any} edge */
const drawEdge = (edge) => html`<${End} end=${edge.source ?? edge[0]} /> → <${End} end=${edge.target ?? edge[1]} />`;

/** @param {{end: any}} props */
function End({ end }) {
  if (end === null || typeof end !== "object") return html`<${Text}>${end}<//>`;
  return html`<${Name} kind=${end.kind ?? "dataset"} namespace=${end.namespace} name=${end.name} />`;
}

/** @param {any} one */
const drawSchema = (one) => html`<${Name} kind="dataset" namespace=${one.namespace} name=${one.name} />
  <small>${[...one.added.map((/** @type {string} */ name) => `+ ${name}`), ...one.removed.map((/** @type {string} */ name) => `− ${name}`), ...one.changed.map((/** @type {any} */ change) => `~ ${change.name ?? change}`)].map((text) => html`<${Text}>${text}<//> `)}</small>`;
