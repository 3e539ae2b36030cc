/** The time of the whole page: now, an earlier time, or a version of lineage_events. */

import { html, useRef } from "../lib/dom.js";
import { known } from "../lib/api.js";
import { fullTime } from "../lib/format.js";
import { setParams, useRoute } from "../lib/router.js";
import { useStore } from "../lib/store.js";
import { visible } from "../lib/text.js";

export function AsOf() {
  const { params } = useRoute();
  const menu = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  const at = params["as_of"] ?? "";
  const show = (/** @type {string | null} */ as_of) => {
    if (menu.current) menu.current.open = false;
    setParams({ as_of });
  };
  const submitted = (/** @type {any} */ event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const time = String(form.get("time") ?? "");
    show(String(form.get("version") ?? "").trim() || (time ? `${time.length === 16 ? `${time}:00` : time}Z` : null));
  };
  const escaped = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape" && menu.current) menu.current.open = false;
  };
  return html`<details class="asof" ref=${menu} onKeyDown=${escaped}>
    <summary>as known <strong>${at ? said(at) : "now"}</strong> <span aria-hidden="true">▾</span></summary>
    <div class="popover">
      <p class="muted">Show everything as it was known at an earlier time.</p>
      <form onSubmit=${submitted} key=${at}>
        <label class="filter"><span>Time (UTC)</span><input type="datetime-local" name="time" step="1" value=${isTime(at) ? at.slice(0, 19) : ""} /></label>
        <label class="filter"><span>or version of lineage_events</span><input name="version" inputmode="numeric" pattern="[0-9]*" value=${isTime(at) ? "" : at} /></label>
        <div class="row"><button class="primary">Show</button>${at ? html`<button type="button" onClick=${() => show(null)}>Back to now</button>` : null}</div>
      </form>
    </div>
  </details>`;
}

/** Says on every view that it does not show what is known now. */
export function AsOfBanner() {
  const { params } = useRoute();
  const state = useStore(known);
  const at = params["as_of"];
  if (!at) return null;
  const time = state?.at ?? (isTime(at) ? at : null);
  const how = state?.how === "event time" ? "by event time: the files of that time are gone" : state?.how === "version" ? "by version: the tables as they were" : "";
  return html`<div class="banner" role="status">
    <strong><span aria-hidden="true">◷ </span>As known on ${time ? fullTime(time.slice(0, 19)) : `version ${visible(at)}`}</strong>
    ${how ? html`<span>${how}</span>` : null}
    ${state?.oldest_at ? html`<span>oldest readable version: ${fullTime(state.oldest_at.slice(0, 19))}</span>` : null}
    <a href="#" onClick=${(/** @type {Event} */ event) => (event.preventDefault(), setParams({ as_of: null }))}>Back to now</a>
  </div>`;
}

const isTime = (/** @type {string} */ at) => /^\d{4}-/.test(at);
const said = (/** @type {string} */ at) => (isTime(at) ? at.slice(0, 16).replace("T", " ") : `version ${visible(at)}`);
