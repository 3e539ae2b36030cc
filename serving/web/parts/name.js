/**
 * Names of producers, as links. A name keeps its own direction (`<bdi>`), shows its control characters, wraps anywhere,
 * and is cut to a few lines by the style sheet, never by us: the whole name is in the title.
 */

import { html } from "../lib/dom.js";
import { link } from "../lib/router.js";
import { shortId, visible } from "../lib/text.js";
import { fullTime, time } from "../lib/format.js";

/** @param {{children?: any, class?: string, lines?: boolean, clamp?: boolean}} props clamp: at most four lines, as a block */
export function Text({ children, lines = false, clamp = false, ...props }) {
  const text = visible(flat(children), { lines });
  return html`<bdi dir="auto" class="text ${clamp ? "clamp" : ""} ${props.class ?? ""}" title=${text.length > 60 ? text.slice(0, 2000) : null}>${text}</bdi>`;
}

/** A dataset or a job. @param {{kind: "dataset" | "job", namespace: string, name: string, field?: string | null, full?: boolean}} props */
export function Name({ kind, namespace, name, field, full = false }) {
  return html`<a class="name" href=${link(`/${kind}`, { namespace, name, field })}
    >${full ? html`<small><${Text}>${namespace}<//></small> ` : null}<${Text}>${name}<//>${
      field ? html`<span class="faint">.</span><${Text}>${field}<//>` : null
    }</a
  >`;
}

/** @param {{run_id: string, tab?: string, children?: any}} props */
export function RunId({ run_id, tab, children }) {
  return html`<a class="name mono" href=${link("/run", { run_id, tab })} title=${visible(run_id)}
    >${children ?? html`<bdi>${shortId(run_id)}</bdi>`}</a
  >`;
}

/** A hash or id that is too long to read. @param {{id: string | null | undefined}} props */
export const Hash = ({ id }) =>
  id ? html`<code class="hash" title=${visible(id)}><bdi>${shortId(id)}</bdi></code>` : html`<span class="faint">–</span>`;

/** @param {{at: string | null | undefined, ms?: boolean}} props */
export const Time = ({ at, ms = false }) =>
  at ? html`<time class="figure" datetime=${at} title=${fullTime(at)}>${time(at, { ms })}</time>` : html`<span class="faint">–</span>`;

/** An address that a producer stated, as a link only if it is one of the web. @param {{href: string | null | undefined}} props */
export const Outside = ({ href }) =>
  href && /^https?:\/\//i.test(href)
    ? html`<a href=${href} rel="noreferrer noopener" target="_blank"><${Text}>${href}<//> ↗</a>`
    : html`<${Text} class="muted" clamp>${href}<//>`;

/** @param {unknown} children @returns {string} */
const flat = (children) => (Array.isArray(children) ? children.map(flat).join("") : String(children ?? ""));
