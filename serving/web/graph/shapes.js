/** How nodes and edges are drawn, on the page and in exported pictures: SVG with the classes of style/graph.css. */

import { html } from "../lib/dom.js";
import { count, duration } from "../lib/format.js";
import { shortId, visible } from "../lib/text.js";
import { SHAPES, asTrust } from "../parts/state.js";
import { begin, fit, mono, sans } from "./fit_text.js";

const PADDING = 14;
const BARS = { width: 5, gap: 3, height: 13 };
const SMALL = sans(10);
const NAME = sans(12.5, 600);
const STATUS = sans(10.5);

/** What an overlay says of a node. @param {any} node @param {string} overlay */
export const said = (node, overlay) => node.overlays?.[overlay] ?? node.overlays?.["state"] ?? { trust: node.trust ?? null, text: node.status ?? "" };

/** @param {any} node @param {string} overlay */
function labelOf(node, overlay) {
  if (node.kind === "fold") return `${count(node.count)} more: ${node.names.map((/** @type {string} */ name) => visible(name)).join(", ")}`;
  const { trust, text } = said(node, overlay);
  return `${node.kind} ${visible(node.name)} in ${visible(node.namespace)}: ${[trust, text].filter(Boolean).join(", ")}`;
}

/** @param {{node: any, overlay: string}} props */
export function NodeShape({ node, overlay }) {
  if (node.kind === "fold") return html`<${Fold} node=${node} />`;
  const { trust, text } = said(node, overlay);
  const isJob = node.kind === "job";
  const bars = isJob ? node.runs : [];
  const room = node.width - 2 * PADDING;
  const barsWidth = bars.length ? bars.length * (BARS.width + BARS.gap) + 6 : 0;
  const known = asTrust(trust);
  return html`
    <title>${labelOf(node, overlay)}</title>
    <rect class="box ${node.kind}" width=${node.width} height=${node.height} rx=${isJob ? node.height / 2.6 : 7} />
    ${isJob ? null : html`<rect class="strip ${known ?? "none"}" x="4" y="8" width="3.5" height=${node.height - 16} rx="1.75" />`}
    <text class="namespace" x=${PADDING} y="17">${fit(node.namespace, room, SMALL)}</text>
    <text class="title" x=${PADDING} y="33">${fit(node.name, room, NAME)}</text>
    <text class="status ${known ?? "none"}" x=${PADDING} y="48">${begin(`${known ? `${SHAPES[known]} ` : ""}${text}`, room - barsWidth, STATUS)}</text>
    ${bars.length ? html`<${Bars} runs=${bars} x=${node.width - PADDING - barsWidth + 6} y=${node.height - 9} />` : null}
  `;
}

/** The last runs, oldest first: the height is the duration. @param {{runs: any[], x: number, y: number}} props */
function Bars({ runs, x, y }) {
  const longest = Math.max(1, ...runs.map((run) => run.duration_ms ?? 0));
  return runs.map((run, place) => {
    const height = Math.max(4, (BARS.height * (run.duration_ms ?? 0)) / longest);
    return html`<rect key=${run.run_id} class="bar ${run.trust}" x=${x + place * (BARS.width + BARS.gap)} y=${y - height}
      width=${BARS.width} height=${height} rx="1"><title>${run.trust}: ${visible(run.state)}, ${duration(run.duration_ms)}, ${visible(run.reason)}</title></rect>`;
  });
}

/** @param {{node: any}} props */
const Fold = ({ node }) => html`
  <title>${labelOf(node, "")}</title>
  <rect class="box fold" width=${node.width} height=${node.height} rx="7" />
  <text class="title" x=${PADDING} y="26">+ ${count(node.count)} more</text>
  <text class="namespace" x=${PADDING} y="43">${fit(`${node.names.join(", ")}${node.count > node.names.length ? ", …" : ""}`, node.width - 2 * PADDING, SMALL)}</text>
`;

/** A run in the lineage of runs. @param {{node: any}} props */
export const RunShape = ({ node }) => {
  const known = asTrust(node.trust) ?? "unknown";
  const room = node.width - 2 * PADDING;
  return html`
    <title>${labelOfRun(node)}</title>
    <rect class="box job" width=${node.width} height=${node.height} rx=${node.height / 2.6} />
    <text class="namespace" x=${PADDING} y="17">${fit(`${shortId(node.run_id)} · ${(node.started_at ?? "").slice(0, 19).replace("T", " ")}`, room, SMALL)}</text>
    <text class="title" x=${PADDING} y="33">${fit(node.job.name, room, NAME)}</text>
    <text class="status ${known}" x=${PADDING} y="48">${begin(`${SHAPES[known]} ${node.reason}`, room, STATUS)}</text>
  `;
};

/** @param {any} node */
const labelOfRun = (node) => `run ${visible(node.run_id)} of ${visible(node.job.name)}: ${node.trust}, ${visible(node.reason)}`;

/** A dataset with the columns of a path. @param {{node: any, path: any, choose: (field: string) => void}} props */
export function ColumnShape({ node, path, choose }) {
  const room = node.width - 2 * PADDING;
  return html`
    <title>dataset ${visible(node.name)} in ${visible(node.namespace)}: ${node.fields.map((/** @type {string | null} */ field) => (field === null ? "its rows" : visible(field))).join(", ")}</title>
    <rect class="box dataset" width=${node.width} height=${node.height} rx="7" />
    <text class="namespace" x=${PADDING} y="17">${fit(node.namespace, room, SMALL)}</text>
    <text class="title" x=${PADDING} y="33">${fit(node.name, room, NAME)}</text>
    ${node.fields.map((/** @type {string | null} */ field, /** @type {number} */ place) => {
      const y = path.header + path.row * place;
      const isChosen = node.id === path.center && field === path.field;
      return html`<g key=${field} class="column ${isChosen ? "chosen" : ""}" onClick=${field === null ? null : (/** @type {Event} */ event) => (event.stopPropagation(), choose(field))}>
        <title>${field === null ? "which rows there are" : visible(field)}</title>
        <rect x="6" y=${y + 1} width=${node.width - 12} height=${path.row - 2} rx="4" />
        <text class=${field === null ? "rows" : "field"} x=${PADDING} y=${y + path.row / 2 + 4}>${field === null ? "(its rows)" : fit(field, room, mono(11))}</text>
      </g>`;
    })}
  `;
}

/**
 * A path through the points of a route: straight through the columns of nodes, smooth between them.
 * @param {[number, number][]} points
 */
export function pathOf(points) {
  const first = points[0];
  if (!first) return "";
  let text = `M${first[0]} ${first[1]}`;
  points.slice(1).forEach(([x, y], place) => {
    const [fromX, fromY] = /** @type {[number, number]} */ (points[place]);
    if (y === fromY) text += `H${x}`;
    else if (x === fromX) {
      const out = place === 0 ? 34 : -34; // a loop beside the node
      text += `C${fromX + out} ${fromY} ${x + out} ${y} ${x} ${y}`;
    } else {
      const half = (x - fromX) / 2;
      text += `C${fromX + half} ${fromY} ${x - half} ${y} ${x} ${y}`;
    }
  });
  const [x, y] = /** @type {[number, number]} */ (points.at(-1));
  return `${text}M${x - 6} ${y - 3.5}L${x - 1} ${y}L${x - 6} ${y + 3.5}`;
}

/** @param {{edge: any, overlay: string, near?: boolean}} props */
export function EdgeShape({ edge, overlay, near = false }) {
  const label = labelOfEdge(edge, overlay);
  const disagrees = Boolean(edge.difference);
  return html`<path class="edge ${near ? "near" : ""} ${disagrees || label ? (edge.trust ?? "") : ""} ${disagrees ? "disagrees" : ""}" d=${pathOf(edge.points)}>
    ${edge.note || edge.title ? html`<title>${edge.note ?? edge.title}</title>` : null}
  </path>`;
}

/** Labels are drawn after all edges, so that no line crosses them. @param {{edge: any, overlay: string}} props */
export function EdgeLabel({ edge, overlay }) {
  const text = labelOfEdge(edge, overlay);
  if (!text) return null;
  const width = text.length * 6.1 + 6;
  // Beside the job, where the lines do not cross each other.
  const isWrite = edge.source.startsWith?.("job:");
  const [x, y] = isWrite ? edge.points[0] : edge.points.at(-1);
  return html`<g class="edge-label ${edge.trust ?? "none"}" transform=${`translate(${isWrite ? x + width / 2 + 6 : x - width / 2 - 8} ${y - 10})`}>
    ${edge.note ? html`<title>${edge.note}</title>` : null}
    <rect x=${-width / 2} y="-8" width=${width} height="15" rx="3" />
    <text text-anchor="middle" y="3.5">${text}</text>
  </g>`;
}

/** @param {any} edge @param {string} overlay */
function labelOfEdge(edge, overlay) {
  const { rows_written: written, rows_read: read } = edge;
  if (edge.difference) return `${brief(written)} ≠ ${brief(read)}`;
  if (overlay !== "rows") return null;
  if (written !== null && read !== null && written !== undefined && read !== undefined) return `${brief(written)} = ${brief(read)}`;
  const only = (edge.source.startsWith?.("job:") ? written : read) ?? null;
  return only === null ? null : `${brief(only)} row${only === 1 ? "" : "s"}`;
}

/** There is room for some digits only. @param {number} value */
const brief = (value) => (Math.abs(value) < 100_000 ? count(value) : value.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 4 }));
