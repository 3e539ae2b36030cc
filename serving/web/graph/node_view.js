/** The graph around a dataset or a job. */

import { html, useMemo, useRef } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, counted } from "../lib/format.js";
import { setParams } from "../lib/router.js";
import { visible } from "../lib/text.js";
import { Heading } from "../parts/card.js";
import { Sql } from "../parts/copy.js";
import { Loaded, Problem } from "../parts/loading.js";
import { Text } from "../parts/name.js";
import { Pill } from "../parts/state.js";
import { Details } from "./details.js";
import { NodeList } from "./list.js";
import { NodeShape, said } from "./shapes.js";
import { Sides, canClose, hidden, sideId } from "./sides.js";
import { Stage } from "./stage.js";
import { close, listAsText, open } from "./state.js";
import { Exports, OverlayChooser, Stepper } from "./toolbar.js";

const SMALL = 300;
const EVERY_MS = 15_000;

/** @param {{state: import("./state.js").State}} props */
export function NodeView({ state }) {
  const { kind, namespace, name } = state;
  const query = { kind, namespace, name, up: state.up, down: state.down, open: listAsText(state.opened), closed: listAsText(state.closed) };
  const kept = useRef(/** @type {any} */ (null));
  const size = kept.current?.graph.nodes.length ?? 0;
  const answer = useApi("/lineage", query, { every: size && size <= SMALL ? EVERY_MS : 0 });
  const about = JSON.stringify([kind, namespace, name]);
  if (answer.data) kept.current = { about, graph: answer.data };
  // While a node opens, the former graph stays.
  const graph = answer.data ?? (kept.current?.about === about ? kept.current.graph : null);
  if (!graph) return html`<${Loaded} answer=${answer} rows=${10}>${() => null}<//>`;
  return html`${answer.error ? html`<${Problem} error=${answer.error} retry=${answer.retry} />` : null}<${Drawn} graph=${graph} state=${state} query=${query} />`;
}

/** @param {{graph: any, state: import("./state.js").State, query: any}} props */
function Drawn({ graph, state, query }) {
  const anchor = useRef(/** @type {string | null} */ (null));
  const { overlay } = state;
  const center = graph.nodes.find((/** @type {any} */ node) => node.id === graph.center);
  const selected = graph.nodes.find((/** @type {any} */ node) => node.id === state.selected && node.kind !== "fold") ?? center;
  const openSides = (/** @type {string[]} */ sides, /** @type {any} */ node) => {
    anchor.current = node.id;
    open(state, sides);
  };
  const closeSides = (/** @type {string[]} */ sides, /** @type {any} */ node) => {
    anchor.current = node.id;
    close(state, sides);
  };
  const select = (/** @type {any} */ node) => {
    if (node.kind !== "fold") return setParams({ sel: node.id === graph.center ? null : node.id }, { replace: true });
    anchor.current = node.parent;
    return open(state, [node.id]);
  };
  const key = (/** @type {any} */ node, /** @type {string} */ pressed) => {
    const both = /** @type {import("./state.js").Side[]} */ (["down", "up"]);
    if (pressed === "+" || pressed === "=") {
      const sides = both.filter((side) => hidden(node, side) > 0).map((side) => sideId(node, side));
      if (sides.length) openSides(sides, node);
      return true;
    }
    if (pressed !== "-" && pressed !== "−") return false;
    const sides = both.filter((side) => canClose(node, side)).map((side) => sideId(node, side));
    if (sides.length) closeSides(sides, node);
    return true;
  };
  // Drawn again only if something changes in it, not while the graph is moved.
  const below = useMemo(
    () => html`<${Details} key=${selected.id} node=${selected} graph=${graph} overlay=${overlay} />
      <${NodeList} graph=${graph} overlay=${overlay} open=${openSides} close=${closeSides} select=${select} />`,
    [graph, selected, overlay, query.open, query.closed],
  );
  const draw = (/** @type {any} */ node) => html`<${NodeShape} node=${node} overlay=${overlay} />`;
  return html`
    <${Title} node=${center} graph=${graph} />
    <div class="toolbar">
      <${Stepper} name="up" value=${state.up} /><${Stepper} name="down" value=${state.down} />
      <${OverlayChooser} value=${overlay} />
      <${Exports} graph=${graph} overlay=${overlay} draw=${draw} title=${center.name} csv=${{ path: "/lineage/export", query: { ...query, format: "csv" } }} />
    </div>
    <${Stage} graph=${graph} label=${`Lineage of ${visible(center.name)}`} start=${graph.center} selected=${selected.id} overlay=${overlay} view=${state.view}
      draw=${draw} trustOf=${(/** @type {any} */ node) => (node.kind === "fold" ? null : said(node, overlay).trust)}
      tools=${(/** @type {any} */ node) => html`<${Sides} node=${node} open=${openSides} close=${closeSides} />`}
      onSelect=${select} onKey=${key} onView=${(/** @type {string} */ view) => setParams({ view }, { replace: true })} anchor=${anchor} />
    <${Note} graph=${graph} />
    ${below}
    <${Sql} sql=${graph.sql} />
  `;
}

/** @param {{node: any, graph: any}} props */
function Title({ node, graph }) {
  const counts = useMemo(() => countsOf(graph), [graph]);
  return html`<${Heading} title=${html`<${Text}>${node.name}<//>`}>
    <span class="brief"><${Text}>${node.namespace}<//> · ${node.kind} ·</span>
    <${Pill} trust=${node.trust}><${Text}>${node.status}<//><//>
    ${counts.broken ? html`<${Pill} trust="broken">${counts.broken} of ${counts.all} shown are broken<//>` : null}
    ${counts.unknown ? html`<${Pill} trust="unknown">${counts.unknown} of ${counts.all} not proven<//>` : null}
  <//>`;
}

/** @param {any} graph */
function countsOf(graph) {
  const nodes = graph.nodes.filter((/** @type {any} */ node) => node.kind !== "fold");
  const of = (/** @type {string} */ trust) => nodes.filter((/** @type {any} */ node) => node.trust === trust).length;
  return { all: nodes.length, broken: of("broken"), unknown: of("unknown") };
}

/** @param {{graph: any}} props */
const Note = ({ graph }) => html`<p class="stage-note">
  <span>${counted(graph.nodes.filter((/** @type {any} */ node) => node.kind !== "fold").length, "node")}, ${counted(graph.edges.length, "edge")}</span>
  <span>✓ proven ✕ broken ? not proven ● running · bars: the last five runs</span>
  ${graph.truncated ? html`<strong class="unknown-text">? There is more: only ${count(graph.limit)} nodes are shown. Go fewer steps, or start elsewhere.</strong>` : null}
</p>`;
