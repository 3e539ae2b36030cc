/** + and − at the sides of a node, with the number of neighbours that are not shown. */

import { html } from "../lib/dom.js";
import { count } from "../lib/format.js";

/** @typedef {import("./state.js").Side} Side */

const HEIGHT = 18;

/** How many neighbours could be shown on a side. @param {any} node @param {Side} side */
export const hidden = (node, side) => (node[side] ? node[side].total - node[side].shown - node[side].folded : 0);

/** Whether a side can be closed. @param {any} node @param {Side} side */
export const canClose = (node, side) => Boolean(node[side]?.is_open && node[side].shown > 0);

/** @param {any} node @param {Side} side */
export const sideId = (node, side) => `${side}:${node.id}`;

/** @param {{node: any, open: (sides: string[], node: any) => void, close: (sides: string[], node: any) => void}} props */
export function Sides({ node, open, close }) {
  if (node.kind === "fold") return null;
  return /** @type {Side[]} */ (["up", "down"]).map((side) => {
    const more = hidden(node, side);
    if (more > 0) {
      return html`<${Button} key=${side} node=${node} side=${side} text=${`+${count(more)}`} look="plus"
        title=${`Show ${count(more)} more ${side === "up" ? "upstream" : "downstream"}`} onClick=${() => open([sideId(node, side)], node)} />`;
    }
    if (!canClose(node, side)) return null;
    return html`<${Button} key=${side} node=${node} side=${side} text="−" look="minus"
      title=${`Hide what is ${side === "up" ? "upstream" : "downstream"}`} onClick=${() => close([sideId(node, side)], node)} />`;
  });
}

/** @param {{node: any, side: Side, text: string, look: string, title: string, onClick: () => void}} props */
function Button({ node, side, text, look, title, onClick }) {
  const width = Math.max(HEIGHT, 9 + 6.6 * text.length);
  const x = side === "up" ? -width - 5 : node.width + 5;
  // Below the edges of this side, if there are any.
  const y = node[side].shown ? node.height - HEIGHT + 3 : (node.height - HEIGHT) / 2;
  const clicked = (/** @type {Event} */ event) => (event.stopPropagation(), onClick());
  return html`<g class="side ${look} ${side}" role="button" tabindex="-1" aria-label=${title} transform=${`translate(${x} ${y})`} onClick=${clicked}>
    <title>${title}</title>
    <rect width=${width} height=${HEIGHT} rx=${HEIGHT / 2} />
    <text x=${width / 2} y="13" text-anchor="middle">${text}</text>
  </g>`;
}
