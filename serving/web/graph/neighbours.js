/** Where the arrow keys lead: left and right along the edges, up and down in a column. */

/**
 * @param {any} graph
 * @param {any} node
 * @param {string} key
 * @returns {any}
 */
export function beside(graph, node, key) {
  const middle = node.y + node.height / 2;
  const nearest = (/** @type {any[]} */ nodes) =>
    nodes.reduce((best, one) => (!best || Math.abs(one.y + one.height / 2 - middle) < Math.abs(best.y + best.height / 2 - middle) ? one : best), null);
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const isLeft = key === "ArrowLeft";
    const ids = new Set(graph.edges.flatMap((/** @type {any} */ edge) => (isLeft ? (edge.target === node.id ? [edge.source] : []) : edge.source === node.id ? [edge.target] : [])));
    return nearest(graph.nodes.filter((/** @type {any} */ one) => ids.has(one.id) && one.id !== node.id));
  }
  if (key === "ArrowUp" || key === "ArrowDown") {
    const sign = key === "ArrowUp" ? -1 : 1;
    return nearest(graph.nodes.filter((/** @type {any} */ one) => Math.abs(one.x - node.x) < node.width && sign * (one.y - node.y) > 0));
  }
  return null;
}
