/** The graph on a canvas: from far away, where names cannot be read and thousands of elements would be slow; and small. */

import { colour } from "../lib/theme.js";

/** @typedef {{x: number, y: number, width: number, height: number, trust: string | null, kind: string}} Mark */

const STATES = ["proven", "broken", "unknown", "running"];

/** The colours of the theme, read once for a picture. */
export function colours() {
  return {
    edge: colour("--faint"), line: colour("--line"), surface: colour("--surface"), sunken: colour("--sunken"), accent: colour("--accent"),
    ...Object.fromEntries(STATES.map((state) => [state, colour(`--${state}`)])),
  };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{nodes: Mark[], edges: {points: [number, number][], difference?: number | null, trust?: string | null}[]}} graph
 * @param {import("./viewport.js").View} view
 * @param {{width: number, height: number}} screen
 * @param {Record<string, string>} palette
 */
export function paint(canvas, graph, view, screen, palette) {
  const context = prepared(canvas, screen);
  if (!context) return;
  context.translate(view.x, view.y);
  context.scale(view.k, view.k);
  context.lineWidth = Math.min(4, 0.7 / view.k);
  const calm = new Path2D();
  for (const edge of graph.edges) {
    if (edge.difference) continue;
    trace(calm, edge.points);
  }
  context.globalAlpha = graph.edges.length > 1500 ? 0.35 : 0.7;
  context.strokeStyle = palette["edge"] ?? "";
  context.stroke(calm);
  context.globalAlpha = 1;
  for (const edge of graph.edges) {
    if (!edge.difference) continue;
    const path = new Path2D();
    trace(path, edge.points);
    context.strokeStyle = palette[edge.trust ?? "edge"] ?? "";
    context.stroke(path);
  }
  boxes(context, graph.nodes, palette);
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

/** @param {CanvasRenderingContext2D} context @param {Mark[]} nodes @param {Record<string, string>} palette */
function boxes(context, nodes, palette) {
  context.strokeStyle = palette["line"] ?? "";
  for (const node of nodes) {
    context.fillStyle = palette[node.kind === "job" ? "sunken" : "surface"] ?? "";
    context.beginPath();
    context.roundRect(node.x, node.y, node.width, node.height, node.kind === "job" ? 22 : 7);
    context.fill();
    context.stroke();
    context.fillStyle = palette[node.trust ?? "edge"] ?? "";
    context.fillRect(node.x + 8, node.y + 14, node.kind === "fold" ? 0 : 26, node.height - 28);
  }
}

/** @param {Path2D} path @param {[number, number][]} points */
function trace(path, points) {
  points.forEach(([x, y], place) => {
    const before = points[place - 1];
    if (!before) path.moveTo(x, y);
    else if (before[1] === y) path.lineTo(x, y);
    else if (before[0] === x) path.bezierCurveTo(x + (place === 1 ? 34 : -34), before[1], x + (place === 1 ? 34 : -34), y, x, y);
    else {
      const half = (x - before[0]) / 2;
      path.bezierCurveTo(before[0] + half, before[1], x - half, y, x, y);
    }
  });
}
