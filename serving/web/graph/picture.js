/** The whole graph as a picture to keep: SVG that looks the same everywhere, and PNG made from it. */

import { html, render } from "../lib/dom.js";
import { visible } from "../lib/text.js";
import { EdgeLabel, EdgeShape } from "./shapes.js";

const SVG = "http://www.w3.org/2000/svg";
const MOST_PIXELS = 12_000_000;
const LONGEST_SIDE = 16_000;

/**
 * @param {{graph: any, overlay: string, draw: (node: any) => any, title: string}} what
 * @returns {string}
 */
export function svgOf({ graph, overlay, draw, title }) {
  const host = document.createElementNS(SVG, "svg");
  const [width, height] = [Math.ceil(graph.width), Math.ceil(graph.height)];
  render(
    html`<title>${visible(title)}</title><rect class="paper" width=${width} height=${height} />
      <g class="world">
        ${graph.edges.map((/** @type {any} */ edge) => html`<${EdgeShape} key=${edge.id} edge=${edge} overlay=${overlay} />`)}
        ${graph.nodes.map((/** @type {any} */ node) => html`<g key=${node.id} class="node" transform=${`translate(${node.x} ${node.y})`}>${draw(node)}</g>`)}
        ${graph.edges.map((/** @type {any} */ edge) => html`<${EdgeLabel} key=${edge.id} edge=${edge} overlay=${overlay} />`)}
      </g>`,
    host,
  );
  host.setAttribute("xmlns", SVG);
  host.setAttribute("viewBox", `0 0 ${width} ${height}`);
  host.setAttribute("width", String(width));
  host.setAttribute("height", String(height));
  const style = document.createElementNS(SVG, "style");
  style.textContent = rules();
  host.prepend(style);
  return new XMLSerializer().serializeToString(host);
}

/** The rules of the graph with the colours of the theme: no variables, which other programs do not know. */
function rules() {
  const root = getComputedStyle(document.documentElement);
  const texts = [".paper { fill: var(--surface); }"];
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (rule instanceof CSSStyleRule && rule.selectorText.startsWith(".world") && !rule.selectorText.includes(":")) texts.push(rule.cssText);
    }
  }
  return texts.join("\n").replace(/var\((--[\w-]+)\)/g, (_, name) => root.getPropertyValue(name).trim());
}

/**
 * @param {string} svg
 * @param {{width: number, height: number}} graph
 * @returns {Promise<Blob>}
 */
export async function pngOf(svg, graph) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const scale = Math.min(2, Math.sqrt(MOST_PIXELS / (graph.width * graph.height)), LONGEST_SIDE / Math.max(graph.width, graph.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(graph.width * scale));
    canvas.height = Math.max(1, Math.round(graph.height * scale));
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The browser cannot make a picture of this size."))), "image/png"),
    );
  } finally {
    URL.revokeObjectURL(url);
  }
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(blob);
  anchor.download = name;
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}

/** A name for a file on any system. @param {string} text */
export const fileName = (text) => `lineage-${text.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(-80) || "graph"}`;
