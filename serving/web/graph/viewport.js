/** Which part of a graph is on the screen: x and y of the graph's origin in pixels, and the scale k. */

/** @typedef {{x: number, y: number, k: number}} View */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

const MIN = 0.002;
const MAX = 2.5;
const READABLE = 0.72;
const ROOM = 24;
const KEPT = 60;

/** @param {number} k */
const bounded = (k) => Math.min(MAX, Math.max(MIN, k));

/**
 * Zoom with a point of the screen kept in place.
 * @param {View} view
 * @param {number} factor
 * @param {number} x
 * @param {number} y
 * @returns {View}
 */
export function zoomed(view, factor, x, y, least = MIN) {
  const k = Math.max(Math.min(least, view.k), bounded(view.k * factor));
  return { k, x: x - ((x - view.x) * k) / view.k, y: y - ((y - view.y) * k) / view.k };
}

/**
 * The same with some of the graph on the screen, so that nobody gets lost.
 * @param {View} view
 * @param {{width: number, height: number}} graph
 * @param {{width: number, height: number}} screen
 * @returns {View}
 */
export function kept(view, graph, screen) {
  const within = (/** @type {number} */ at, /** @type {number} */ size, /** @type {number} */ room) => Math.min(room - KEPT, Math.max(KEPT - size, at));
  return { k: view.k, x: within(view.x, graph.width * view.k, screen.width), y: within(view.y, graph.height * view.k, screen.height) };
}

/**
 * The whole graph.
 * @param {{width: number, height: number}} graph
 * @param {{width: number, height: number}} screen
 * @returns {View}
 */
export function whole(graph, screen) {
  const k = bounded(Math.min(1, screen.width / graph.width, screen.height / graph.height));
  return { k, x: (screen.width - graph.width * k) / 2, y: (screen.height - graph.height * k) / 2 };
}

/**
 * The whole graph if its names can be read then; else the part around a node.
 * @param {{width: number, height: number}} graph
 * @param {Box | undefined} around
 * @param {{width: number, height: number}} screen
 * @returns {View}
 */
export function first(graph, around, screen) {
  const all = whole(graph, screen);
  if (all.k >= READABLE || !around) return all;
  const k = screen.width < 600 ? 0.85 : 1;
  const view = centred(around, k, screen);
  // A graph that is wider or higher than the screen only in one direction is not cut in the other.
  if (graph.height * k <= screen.height) view.y = (screen.height - graph.height * k) / 2;
  if (graph.width * k <= screen.width) view.x = (screen.width - graph.width * k) / 2;
  return view;
}

/**
 * @param {Box} box
 * @param {number} k
 * @param {{width: number, height: number}} screen
 * @returns {View}
 */
export function centred(box, k, screen) {
  return { k, x: screen.width / 2 - (box.x + box.width / 2) * k, y: screen.height / 2 - (box.y + box.height / 2) * k };
}

/**
 * The smallest move that brings a box on the screen.
 * @param {View} view
 * @param {Box} box
 * @param {{width: number, height: number}} screen
 * @returns {View}
 */
export function revealed(view, box, screen) {
  const [left, top] = [box.x * view.k + view.x, box.y * view.k + view.y];
  const [right, bottom] = [left + box.width * view.k, top + box.height * view.k];
  const dx = left < ROOM ? ROOM - left : right > screen.width - ROOM ? screen.width - ROOM - right : 0;
  const dy = top < ROOM ? ROOM - top : bottom > screen.height - ROOM ? screen.height - ROOM - bottom : 0;
  return dx || dy ? { ...view, x: view.x + dx, y: view.y + dy } : view;
}

/**
 * What is on the screen, in the coordinates of the graph, with a share of it around.
 * @param {View} view
 * @param {{width: number, height: number}} screen
 * @param {number} [more]
 * @returns {Box}
 */
export function seen(view, screen, more = 0) {
  const [width, height] = [screen.width / view.k, screen.height / view.k];
  return { x: -view.x / view.k - width * more, y: -view.y / view.k - height * more, width: width * (1 + 2 * more), height: height * (1 + 2 * more) };
}

/** @param {Box} outer @param {Box} inner */
export const contains = (outer, inner) =>
  inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width && inner.y + inner.height <= outer.y + outer.height;

/** @param {Box} one @param {Box} other */
export const touches = (one, other) =>
  one.x < other.x + other.width && one.x + one.width > other.x && one.y < other.y + other.height && one.y + one.height > other.y;

/**
 * For the address: where the middle of the screen is, from the middle of a node, and the scale.
 * @param {View} view
 * @param {Box} node
 * @param {{width: number, height: number}} screen
 */
export function asText(view, node, screen) {
  const x = (screen.width / 2 - view.x) / view.k - node.x - node.width / 2;
  const y = (screen.height / 2 - view.y) / view.k - node.y - node.height / 2;
  return `${Math.round(x)},${Math.round(y)},${Number(view.k.toFixed(3))}`;
}

/**
 * @param {string} text
 * @param {Box} node
 * @param {{width: number, height: number}} screen
 * @returns {View | null}
 */
export function fromText(text, node, screen) {
  const [x, y, k] = text.split(",").map(Number);
  if (![x, y, k].every(Number.isFinite) || !k || k <= 0) return null;
  const at = { x: node.x + Number(x), y: node.y + Number(y), width: node.width, height: node.height };
  return centred(at, bounded(k), screen);
}
