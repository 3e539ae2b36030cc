/** Above the graph: how far it goes, what it says, and what to take away. */

import { html, useState } from "../lib/dom.js";
import { download } from "../lib/api.js";
import { setParams } from "../lib/router.js";
import { Copy } from "../parts/copy.js";
import { fileName, pngOf, save, svgOf } from "./picture.js";
import { OVERLAYS } from "./state.js";

/** @param {{name: "up" | "down", value: number, most?: number}} props */
export function Stepper({ name, value, most = 100 }) {
  const label = name === "up" ? "Up" : "Down";
  const set = (/** @type {number} */ next) => setParams({ [name]: String(Math.min(most, Math.max(0, next))) });
  return html`<span class="stepper" role="group" aria-label=${`${label}: steps ${name === "up" ? "upstream" : "downstream"}`}>
    <span>${label} <strong>${value}</strong></span>
    <button type="button" aria-label=${`One step less ${name}stream`} disabled=${value <= 0} onClick=${() => set(value - 1)}>−</button>
    <button type="button" aria-label=${`One step more ${name}stream`} disabled=${value >= most} onClick=${() => set(value + 1)}>+</button>
  </span>`;
}

/** @param {{value: string}} props */
export const OverlayChooser = ({ value }) => html`<label class="filter"><span>Overlay</span>
  <select value=${value} onChange=${(/** @type {any} */ event) => setParams({ overlay: event.target.value === "state" ? null : event.target.value })}>
    ${OVERLAYS.map(([id, text]) => html`<option key=${id} value=${id} selected=${id === value}>${text}</option>`)}
  </select>
</label>`;

/**
 * @param {{graph: any, overlay: string, draw: (node: any) => any, title: string, csv?: {path: string, query: import("../lib/api.js").Query} | null}} props
 */
export function Exports({ graph, overlay, draw, title, csv }) {
  const [failed, setFailed] = useState("");
  const attempt = (/** @type {() => Promise<void>} */ make) => () => {
    setFailed("");
    make().catch((error) => setFailed(error.message));
  };
  const name = fileName(title);
  const svg = async () => save(new Blob([svgOf({ graph, overlay, draw, title })], { type: "image/svg+xml" }), `${name}.svg`);
  const png = async () => save(await pngOf(svgOf({ graph, overlay, draw, title }), graph), `${name}.png`);
  const table = async () => csv && save(await download(csv.path, csv.query), `${name}.csv`);
  return html`<span class="end" role="group" aria-label="Export">
    ${failed ? html`<span class="broken-text" role="alert">✕ ${failed}</span>` : null}
    <button type="button" onClick=${attempt(svg)}>SVG</button>
    <button type="button" onClick=${attempt(png)}>PNG</button>
    ${csv ? html`<button type="button" onClick=${attempt(async () => void (await table()))}>CSV</button>` : null}
    <${CopyLink} />
  </span>`;
}

const CopyLink = () => html`<${Copy} text=${location.href} label="Copy link" key=${location.href} />`;
