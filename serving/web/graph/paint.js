/** The graph on a canvas: from far away, where names cannot be read and thousands of elements would be slow; and small. */

import { colour } from "../lib/theme.js";

/** @typedef {{x: number, y: number, width: number, height: number, trust: string | null, kind: string}} Mark */

/** Below this scale a node is only a dot of its colour. */
const TINY = 0.12;
const STATES = ["proven", "broken", "unknown", "running"];

/** The colours of the theme, read once for a picture. */
export function colours() {
  return {
    edge: colour("--faint"), line: colour("--line"), surface: colour("--surface"), sunken: colour("--sunken"), accent: colour("--accent"),
    ...Object.fromEntries(STATES.map((state) => [state, colour(`--${state}`)])),
  };
}

/** @typedef {{calm: Path2D, many: boolean, loud: {path: Path2D, trust: string}[]}} Lines */

/**
 * Lines to paint again and again while the graph moves. With a box, only their parts in it.
 * @param {any[]} edges
 * @param {((one: [number, number], other: [number, number]) => boolean) | null} isSeen
 * @returns {Lines}
 */
export function linesOf(edges, isSeen) {
  const [calm, loud] = [new Path2D(), /** @type {Map<string, Path2D>} */ (new Map())];
  for (const edge of edges) {
    const trust = edge.difference ? (edge.trust ?? "unknown") : "";
    if (trust && !loud.has(trust)) loud.set(trust, new Path2D());
    trace(loud.get(trust) ?? calm, edge.points, isSeen);
  }
  return { calm, many: edges.length > 1500, loud: [...loud].map(([trust, path]) => ({ path, trust })) };
}

/** @typedef {{jobs: Path2D, others: Path2D, states: Map<string, {strips: Path2D, boxes: Path2D}>}} Boxes */

/** @param {Mark[]} nodes @returns {Boxes} */
export function boxesOf(nodes) {
  const [jobs, others] = [new Path2D(), new Path2D()];
  /** @type {Boxes["states"]} */
  const states = new Map();
  for (const { x, y, width, height, kind, trust } of nodes) {
    (kind === "job" ? jobs : others).roundRect(x, y, width, height, kind === "job" ? 22 : 7);
    const state = trust ?? "edge";
    const of = states.get(state) ?? { strips: new Path2D(), boxes: new Path2D() };
    if (kind !== "fold") of.strips.rect(x + 8, y + 14, 26, height - 28);
    of.boxes.rect(x, y, width, height);
    states.set(state, of);
  }
  return { jobs, others, states };
}

/**
 * Lines, and boxes without names.
 * @param {HTMLCanvasElement} canvas
 * @param {{lines: Lines, boxes: Boxes | null}} graph
 * @param {import("./viewport.js").View} view
 * @param {{width: number, height: number}} screen
 * @param {Record<string, string>} palette
 */
export function paint(canvas, { lines, boxes }, view, screen, palette) {
  const context = prepared(canvas, screen);
  if (!context) return;
  context.translate(view.x, view.y);
  context.scale(view.k, view.k);
  context.lineWidth = Math.max(1, 0.7 / view.k);
  context.globalAlpha = lines.many ? 0.35 : 0.7;
  context.strokeStyle = palette["edge"] ?? "";
  context.stroke(lines.calm);
  context.globalAlpha = 1;
  for (const { path, trust } of lines.loud) {
    context.strokeStyle = palette[trust] ?? "";
    context.stroke(path);
  }
  if (boxes) paintBoxes(context, boxes, palette, view.k < TINY);
}

/** @param {CanvasRenderingContext2D} context @param {Boxes} boxes @param {Record<string, string>} palette @param {boolean} isTiny */
function paintBoxes(context, boxes, palette, isTiny) {
  context.strokeStyle = palette["line"] ?? "";
  for (const [path, fill] of /** @type {const} */ ([[boxes.jobs, "sunken"], [boxes.others, "surface"]])) {
    context.fillStyle = palette[fill] ?? "";
    context.fill(path);
    context.stroke(path);
  }
  for (const [state, { strips, boxes: whole }] of boxes.states) {
    context.fillStyle = palette[state] ?? "";
    context.fill(isTiny ? whole : strips);
  }
}

/**
 * The whole graph in a small picture.
 * @param {HTMLCanvasElement} canvas
 * @param {Mark[]} nodes
 * @param {import("./viewport.js").View} view
 * @param {{width: number, height: number}} screen
 * @param {Record<string, string>} palette
 */
export function paintSmall(canvas, nodes, view, screen, palette) {
  const context = prepared(canvas, screen);
  if (!context) return;
  context.translate(view.x, view.y);
  context.scale(view.k, view.k);
  const least = 2.5 / view.k;
  for (const node of nodes) {
    context.fillStyle = palette[node.trust ?? "edge"] ?? palette["edge"] ?? "";
    context.fillRect(node.x, node.y, Math.max(least, node.width), Math.max(least, node.height));
  }
}

/** @param {HTMLCanvasElement} canvas @param {{width: number, height: number}} screen */
function prepared(canvas, screen) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(screen.width * ratio), Math.round(screen.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context?.setTransform(1, 0, 0, 1, 0, 0);
  context?.clearRect(0, 0, width, height);
  context?.scale(ratio, ratio);
  return context;
}

/**
 * @param {Path2D} path
 * @param {[number, number][]} points
 * @param {((one: [number, number], other: [number, number]) => boolean) | null} isSeen
 */
function trace(path, points, isSeen) {
  points.forEach((point, place) => {
    const before = points[place - 1];
    if (!before || (isSeen && !isSeen(before, point))) return;
    const [[fromX, fromY], [x, y]] = [before, point];
    path.moveTo(fromX, fromY);
    if (fromY === y) path.lineTo(x, y);
    else {
      const out = fromX === x ? (place === 1 ? 34 : -34) : (x - fromX) / 2;
      path.bezierCurveTo(fromX + out, fromY, fromX === x ? x + out : x - out, y, x, y);
    }
  });
}
