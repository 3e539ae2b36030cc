/** Can the lineage be trusted right now? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { counted } from "../lib/format.js";
import { internal, link } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { TimeChart } from "../parts/chart.js";
import { Sql } from "../parts/copy.js";
import { FirstSteps } from "../parts/first_steps.js";
import { Loaded } from "../parts/loading.js";
import { Text, Time } from "../parts/name.js";
import { Pill } from "../parts/state.js";

const EVERY_MS = 5000;
const GOAL_S = 5;

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Overview({ params }) {
  const answer = useApi("/overview", {}, { every: EVERY_MS });
  return html`<${Loaded} answer=${answer} rows=${10}>${(/** @type {any} */ overview) =>
    isEmpty(overview) ? html`<${FirstSteps} at=${params["as_of"]} />` : html`<${Filled} overview=${overview} />`}<//>`;
}

/** @param {any} overview */
const isEmpty = (overview) =>
  Object.values(overview.counts).every((number) => !number) && !overview.tiles.some((/** @type {any} */ tile) => tile.id === "dead_letters" && Number(tile.value));

/** @param {{overview: any}} props */
function Filled({ overview }) {
  const { counts } = overview;
  const rest = overview.detail.split(" · ").slice(1); // the first part has the counts, which are links here
  return html`
    <${Heading} title=${overview.question}>
      <${Pill} trust=${overview.trust}>${overview.answer}<//>
      <span><a href=${link("/runs")}>${counted(counts.runs, "run")}</a>, <a href=${link("/jobs")}>${counted(counts.jobs, "job")}</a>,${" "}
        <a href=${link("/datasets")}>${counted(counts.datasets, "dataset")}</a>, <a href=${link("/runs")}>${counted(counts.events, "event")}</a>${
          rest.length ? html` · <${Text}>${rest.join(" · ")}<//>` : null
        }</span>
    <//>
    <div class="tiles">${overview.tiles.map((/** @type {any} */ tile) => html`<${Tile} key=${tile.id} tile=${tile} />`)}</div>
    <div class="wide-left">
      <${Card} title="Traffic">
        <${TimeChart} label="Events per minute" kind="bars" token="--accent" unit="events" height=${170}
          points=${overview.events_per_minute.map((/** @type {any} */ one) => ({ at: one.at, value: one.events }))} />
        <${TimeChart} label=${`Seconds until they are seen, p95 (goal ${GOAL_S} s)`} kind="line" token="--unknown" unit="s" height=${140} goal=${GOAL_S}
          points=${overview.seen_after_p95.map((/** @type {any} */ one) => ({ at: one.at, value: one.seconds }))} />
      <//>
      <${Card} title="What changed"><${Changes} changes=${overview.changes} /><//>
    </div>`;
}

/** @param {{tile: any}} props */
function Tile({ tile }) {
  const href = internal(tile.href);
  const value = html`<${Text}>${tile.value.replace(/^([\d,]+) of ([\d,]+)$/, "$1/$2")}<//>`;
  return html`<section class="card tile">
    <h2>${tile.label}</h2>
    <p class="tile-value ${/[a-z]{3}/.test(tile.value) ? "words" : ""} ${tile.trust ? `${tile.trust}-text` : ""}">${href ? html`<a href=${href}>${value}</a>` : value}</p>
    <p class="muted"><${Text}>${tile.detail}<//></p>
    <${Sql} sql=${tile.sql} />
  </section>`;
}

/** @param {{changes: any[]}} props */
function Changes({ changes }) {
  if (!changes.length) return html`<p class="muted">Nothing was opened or resolved yet.</p>`;
  return html`<ol class="changes" tabindex="0" aria-label="What changed, newest first">
    ${changes.map((change, place) => {
      const href = internal(change.href);
      const text = html`<${Text}>${change.text}<//>`;
      return html`<li key=${place}><${Pill} trust=${change.trust}>${change.kind}<//>
        ${href ? html`<a class="quiet" href=${href}>${text}</a>` : text}<${Time} at=${change.at} /></li>`;
    })}
  </ol>`;
}
