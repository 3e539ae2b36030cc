/**
 * The stage that a graph is drawn on: pan, zoom, keyboard, and only what is in view as elements. From far away, where
 * names cannot be read, a canvas shows it. What is drawn, and what happens at a click, comes from the view. What it
 * draws for a node begins with a <title>, which names the node for screen readers.
 */

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../lib/dom.js";
import { shown } from "../lib/theme.js";
import { useStore } from "../lib/store.js";
import { Camera, inside } from "./camera.js";
import { Minimap } from "./minimap.js";
import { beside } from "./neighbours.js";
import { boxesOf, colours, linesOf, paint } from "./paint.js";
import { EdgeLabel, EdgeShape } from "./shapes.js";
import { asText, contains, first, fromText, seen, touches } from "./viewport.js";

const FAR = 0.36;
const MORE = 0.4;
/** More lines than this are slow as elements. */
const MANY_EDGES = 250;
const RECORD_MS = 300;

/**
 * @param {{graph: any, label: string, start: string, selected: string | null, overlay: string, view: string | null,
 *   draw: (node: any) => any, trustOf: (node: any) => string | null,
 *   tools?: (node: any) => any, onSelect: (node: any) => void, onKey?: (node: any, key: string) => boolean,
 *   onView: (view: string) => void, anchor: {current: string | null}}} props
 */
export function Stage({ graph, label, start, selected, overlay, view, draw, trustOf, tools, onSelect, onKey, onView, anchor }) {
  const theme = useStore(shown);
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const world = useRef(/** @type {SVGGElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const minimap = useRef(() => {});
  const recorded = useRef(view);
  const timer = useRef(/** @type {any} */ (0));
  const former = useRef(/** @type {any} */ (null));
  const latest = useRef(/** @type {any} */ ({}));
  const toFocus = useRef(/** @type {string | null} */ (null));
  const [active, setActive] = useState(selected ?? start);
  const [culled, setCulled] = useState({ x: 0, y: 0, width: 0, height: 0, far: false, edges: /** @type {any[]} */ ([]), lines: /** @type {any} */ (null) });

  const byId = useMemo(() => new Map(graph.nodes.map((/** @type {any} */ node) => [node.id, node])), [graph]);
  const marks = useMemo(() => graph.nodes.map((/** @type {any} */ node) => ({ x: node.x, y: node.y, width: node.width, height: node.height, kind: node.kind, trust: trustOf(node) })), [graph, overlay]);
  const boxes = useMemo(() => new Map(graph.edges.map((/** @type {any} */ edge) => [edge, around(edge.points)])), [graph]);
  const all = useMemo(() => once(() => linesOf(graph.edges, null)), [graph]);
  const painted = useMemo(() => once(() => boxesOf(marks)), [marks]);
  latest.current = { ...latest.current, all, painted, graph, byId, marks, boxes, culled, start, onView };

  /** @type {Camera} */
  const camera = useMemo(() => new Camera(() => {
    const now = latest.current;
    const { x, y, k } = camera.view;
    world.current?.setAttribute("transform", `translate(${x} ${y}) scale(${k})`);
    minimap.current();
    const far = k < FAR;
    if (far !== now.culled.far || now.graph !== now.culled.graph || (!far && !contains(now.culled, seen(camera.view, camera.screen)))) {
      const box = seen(camera.view, camera.screen, MORE);
      const edges = far ? now.graph.edges : now.graph.edges.filter((/** @type {any} */ edge) => crosses(box, edge, now.boxes.get(edge)));
      const isSeen = (/** @type {[number, number]} */ one, /** @type {[number, number]} */ other) => isNearBox(box, one, other);
      const lines = far ? now.all() : edges.length > MANY_EDGES ? linesOf(edges, isSeen) : null;
      now.culled = { ...box, far, edges, lines, graph: now.graph };
      setCulled(now.culled);
    }
    if (canvas.current) {
      canvas.current.hidden = !now.culled.lines;
      if (now.culled.lines) paint(canvas.current, { lines: now.culled.lines, boxes: far ? now.painted() : null }, camera.view, camera.screen, now.palette ?? colours());
    }
    clearTimeout(timer.current);
    if (!camera.isChosen) return;
    timer.current = setTimeout(() => {
      const node = latest.current.byId.get(latest.current.start);
      if (!node) return;
      const text = asText(camera.view, node, camera.screen);
      if (text === recorded.current) return;
      recorded.current = text;
      latest.current.onView(text);
    }, RECORD_MS);
  }), []);
  latest.current.palette = useMemo(colours, [theme]);

  useLayoutEffect(() => {
    const stage = element.current;
    if (!stage) return undefined;
    const measure = () => {
      const { width, height } = stage.getBoundingClientRect();
      const before = camera.screen;
      camera.screen = { width, height };
      if (!camera.isSet || !before.width) return;
      camera.jump({ ...camera.view, x: camera.view.x + (width - before.width) / 2, y: camera.view.y + (height - before.height) / 2 });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(stage);
    const detach = camera.attach(stage);
    return () => {
      observer.disconnect();
      detach();
      clearTimeout(timer.current);
    };
  }, []);

  // Another graph: what the person looks at stays where it is on the screen.
  useLayoutEffect(() => {
    const before = former.current;
    former.current = { start, byId };
    camera.graph = graph;
    const node = byId.get(start);
    if (before?.start === start) {
      const kept = [anchor.current, selected, start, ...before.byId.keys()].find((id) => id && before.byId.has(id) && byId.has(id));
      const [from, to] = [before.byId.get(kept), byId.get(kept)];
      if (from && to) camera.jump({ ...camera.view, x: camera.view.x + (from.x - to.x) * camera.view.k, y: camera.view.y + (from.y - to.y) * camera.view.k });
    } else {
      const stated = view && node ? fromText(view, node, camera.screen) : null;
      camera.isChosen = Boolean(stated);
      recorded.current = view;
      camera.jump(stated ?? first(graph, node, camera.screen));
      setActive(selected && byId.has(selected) ? selected : start);
    }
    anchor.current = null;
  }, [graph, start]);

  // The address was changed, by "back" for example.
  useLayoutEffect(() => {
    if (view === recorded.current) return;
    const node = byId.get(start);
    recorded.current = view;
    if (node) camera.jump((view && fromText(view, node, camera.screen)) || first(graph, node, camera.screen));
  }, [view]);

  useEffect(() => camera.moved(), [theme, overlay]);

  useLayoutEffect(() => {
    if (toFocus.current === null) return;
    const place = graph.nodes.findIndex((/** @type {any} */ node) => node.id === toFocus.current);
    const found = world.current?.querySelector(`[data-place="${place}"] .target`);
    if (found instanceof SVGElement) {
      toFocus.current = null;
      found.focus({ preventScroll: true });
    }
  });

  const move = (/** @type {any} */ node) => {
    toFocus.current = node.id;
    setActive(node.id);
    camera.reveal(node);
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = byId.get(active) ?? byId.get(start);
    if (event.key === "0" || event.key === "f") camera.fit(graph);
    else if (event.key === "Home") move(byId.get(start));
    else if (event.key.startsWith("Arrow") && event.shiftKey) {
      const { x, y, k } = camera.view;
      const step = 80;
      camera.set({ k, x: x + (event.key === "ArrowLeft" ? step : event.key === "ArrowRight" ? -step : 0), y: y + (event.key === "ArrowUp" ? step : event.key === "ArrowDown" ? -step : 0) });
    } else if (event.key.startsWith("Arrow")) {
      const next = beside(graph, node, event.key);
      if (next) move(next);
    } else if (event.key === "Enter" || event.key === " ") onSelect(node);
    else if (!onKey?.(node, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const clickedFar = (/** @type {MouseEvent} */ event) => {
    if (!element.current) return;
    const [x, y] = inside(event, element.current);
    const [gx, gy] = [(x - camera.view.x) / camera.view.k, (y - camera.view.y) / camera.view.k];
    const node = graph.nodes.find((/** @type {any} */ one) => gx >= one.x && gy >= one.y && gx <= one.x + one.width && gy <= one.y + one.height);
    if (!node) return;
    camera.centre(node, 1);
    onSelect(node);
  };

  const focusable = byId.has(active) ? active : start;
  const nodes = graph.nodes.map((/** @type {any} */ node, /** @type {number} */ place) => /** @type {[any, number]} */ ([node, place]))
    .filter((/** @type {[any, number]} */ [node]) => node.id === selected || node.id === focusable || (!culled.far && touches(culled, node)));
  const inView = culled.far ? [] : culled.edges;
  const isNear = (/** @type {any} */ edge) => selected !== start && (edge.source === selected || edge.target === selected);
  // The others are on the canvas.
  const edges = inView.length > MANY_EDGES ? inView.filter((/** @type {any} */ edge) => isNear(edge) || edge.difference) : inView;
  return html`<div class="stage" ref=${element} data-nodes=${graph.nodes.length} data-drawn=${nodes.length}>
    <canvas class="far" ref=${canvas} hidden onClick=${clickedFar} aria-hidden="true"></canvas>
    <svg role="group" aria-label=${`${label}. Arrow keys move between nodes, Enter shows one, + and − open and close it, 0 shows the whole graph.`} onKeyDown=${pressed}>
      <g ref=${world} class="world">
        ${edges.map((/** @type {any} */ edge) => html`<${EdgeShape} key=${edge.id} edge=${edge} overlay=${overlay} near=${isNear(edge)} />`)}
        ${nodes.map((/** @type {[any, number]} */ [node, place]) => html`<g key=${node.id} data-place=${place} class="node ${node.kind ?? ""} ${node.id === selected ? "selected" : ""} ${node.id === start ? "start" : ""}" transform=${`translate(${node.x} ${node.y})`}>
          <g class="target" role="button" tabindex=${node.id === focusable ? 0 : -1} aria-pressed=${node.id === selected}
            onClick=${() => (setActive(node.id), onSelect(node))} onFocus=${() => setActive(node.id)}>${draw(node)}</g>
          ${tools?.(node)}
        </g>`)}
        ${edges.map((/** @type {any} */ edge) => html`<${EdgeLabel} key=${edge.id} edge=${edge} overlay=${overlay} />`)}
      </g>
    </svg>
    <div class="stage-tools">
      <button type="button" aria-label="Zoom in" title="Zoom in" onClick=${() => camera.zoom(1.3)}>+</button>
      <button type="button" aria-label="Zoom out" title="Zoom out" onClick=${() => camera.zoom(1 / 1.3)}>−</button>
      <button type="button" title="Show the whole graph (0)" onClick=${() => camera.fit(graph)}>Fit</button>
    </div>
    <${Minimap} graph=${graph} marks=${marks} camera=${camera} theme=${theme} register=${(/** @type {() => void} */ draw) => { minimap.current = draw; draw(); }} />
  </div>`;
}

/**
 * Whether a part of an edge is in a box: the box around a long edge says little.
 * @param {import("./viewport.js").Box} box
 * @param {any} edge
 * @param {import("./viewport.js").Box} whole
 */
const crosses = (box, edge, whole) =>
  touches(box, whole) && edge.points.some((/** @type {[number, number]} */ at, /** @type {number} */ place) => place > 0 && isNearBox(box, edge.points[place - 1], at));

/**
 * Whether the part of an edge between two points may be in a box.
 * @param {import("./viewport.js").Box} box
 * @param {[number, number]} one
 * @param {[number, number]} other
 */
const isNearBox = (box, one, other) =>
  Math.min(one[0], other[0]) - 40 < box.x + box.width && Math.max(one[0], other[0]) + 40 > box.x && Math.min(one[1], other[1]) - 12 < box.y + box.height && Math.max(one[1], other[1]) + 12 > box.y;

/** Made when it is needed first. @template T @param {() => T} make @returns {() => T} */
function once(make) {
  /** @type {T | undefined} */
  let made;
  return () => (made ??= make());
}

/** The box around a route. @param {[number, number][]} points */
function around(points) {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs) - 40, Math.min(...ys) - 12];
  return { x: left, y: top, width: Math.max(...xs) + 40 - left, height: Math.max(...ys) + 12 - top };
}
