/** The same graph as a list, for screen readers and for reading in order. */

import { html, useState } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { Name, Text } from "../parts/name.js";
import { Pill } from "../parts/state.js";
import { Table } from "../parts/table.js";
import { said } from "./shapes.js";
import { canClose, hidden, sideId } from "./sides.js";

const MOST = 500;

/**
 * @param {{graph: any, overlay: string, open: (sides: string[], node: any) => void, close: (sides: string[], node: any) => void, select: (node: any) => void}} props
 */
export function NodeList(props) {
  const [isOpen, setOpen] = useState(false); // a closed list of thousands is not made
  const all = props.graph.nodes.filter((/** @type {any} */ node) => node.kind !== "fold").length;
  return html`<details class="card" onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}><summary>As a list: ${count(all)} nodes</summary>
    ${isOpen ? html`<${Rows} ...${props} />` : null}
  </details>`;
}

/** @param {Parameters<typeof NodeList>[0]} props */
function Rows({ graph, overlay, open, close, select }) {
  const names = new Map(graph.nodes.map((/** @type {any} */ node) => [node.id, node.name]));
  const nodes = graph.nodes.filter((/** @type {any} */ node) => node.kind !== "fold").sort((/** @type {any} */ one, /** @type {any} */ other) => one.x - other.x || one.y - other.y);
  const sources = grouped(graph, "target", "source", names);
  const targets = grouped(graph, "source", "target", names);
  const columns = [
    { id: "name", label: "name", cell: (/** @type {any} */ node) => html`<${Name} kind=${node.kind} namespace=${node.namespace} name=${node.name} full />` },
    { id: "kind", label: "kind", cell: (/** @type {any} */ node) => node.kind },
    { id: "state", label: "state", cell: (/** @type {any} */ node) => html`<${Pill} trust=${said(node, overlay).trust}><${Text}>${said(node, overlay).text}<//><//>` },
    { id: "from", label: "from", cell: (/** @type {any} */ node) => html`<${Neighbours} names=${sources.get(node.id)} node=${node} side="up" open=${open} close=${close} />` },
    { id: "to", label: "to", cell: (/** @type {any} */ node) => html`<${Neighbours} names=${targets.get(node.id)} node=${node} side="down" open=${open} close=${close} />` },
    { id: "show", label: "details", cell: (/** @type {any} */ node) => html`<button type="button" class="small" onClick=${() => select(node)}>Show</button>` },
  ];
  return html`<${Table} columns=${columns} rows=${nodes.slice(0, MOST)} caption="Nodes of the graph" keyOf=${(/** @type {any} */ node) => node.id} />
    ${nodes.length > MOST ? html`<p class="muted">The first ${count(MOST)} of ${count(nodes.length)}; CSV has all of them.</p>` : null}`;
}

/** @param {any} props */
function Neighbours({ names = [], node, side, open, close }) {
  const more = hidden(node, side) + (node[side]?.folded ?? 0);
  return html`${names.slice(0, 5).map((/** @type {string} */ name) => html`<div><${Text}>${name}<//></div>`)}
    ${names.length > 5 ? html`<div class="muted">and ${names.length - 5} more</div>` : null}
    ${more > 0 ? html`<button type="button" class="small" onClick=${() => open([node[side].folded ? `fold:${sideId(node, side)}` : sideId(node, side)], node)}>Show ${count(more)} more</button>` : null}
    ${canClose(node, side) ? html`<button type="button" class="small" onClick=${() => close([sideId(node, side)], node)}>Hide</button>` : null}`;
}

/** @param {any} graph @param {string} of @param {string} to @param {Map<string, string>} names */
function grouped(graph, of, to, names) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const edge of graph.edges) {
    const name = names.get(edge[to]);
    const before = found.get(edge[of]);
    if (name !== undefined && before) before.push(name);
    else if (name !== undefined) found.set(edge[of], [name]);
  }
  return found;
}
