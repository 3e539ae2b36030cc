/** A chart over time (uPlot), in the colours of the theme. uPlot is loaded with the first chart. */

import { html, useEffect, useRef, useState } from "../lib/dom.js";
import { count, time } from "../lib/format.js";
import { useStore } from "../lib/store.js";
import { colour, shown } from "../lib/theme.js";

/** @type {Promise<any> | null} */
let library = null;

/**
 * @param {{points: {at: string, value: number}[], kind: "bars" | "line", token: string, label: string, unit: string,
 *   height?: number, goal?: number}} props
 */
export function TimeChart({ points, kind, token, label, unit, height = 140, goal }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [at, setAt] = useState(-1);
  const theme = useStore(shown);
  const said = points[at] ?? points[points.length - 1];
  const key = JSON.stringify(points);
  useEffect(() => {
    const element = place.current;
    if (!element || !points.length) return undefined;
    let chart = /** @type {any} */ (null);
    const observer = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height }));
    let gone = false;
    void (library ??= load()).then((uPlot) => {
      if (gone) return;
      const data = [points.map((point) => Date.parse(point.at) / 1000), points.map((point) => point.value)];
      if (goal !== undefined) data.push(points.map(() => goal));
      chart = new uPlot(options(uPlot, { kind, token, height, width: element.clientWidth, goal, few: points.length < 40, setAt }), data, element);
      observer.observe(element);
    });
    return () => ((gone = true), observer.disconnect(), chart?.destroy());
  }, [key, theme]);
  if (!points.length) return html`<p class="muted">No ${unit} yet.</p>`;
  const most = Math.max(...points.map((point) => point.value));
  return html`<figure class="chart">
    <figcaption><h3>${label}</h3><output class="muted">${said ? `${time(said.at).slice(0, -3)} · ${count(said.value)} ${said.value === 1 ? unit.replace(/(?<=..)s$/, "") : unit}` : ""}</output></figcaption>
    <div ref=${place} class="plot" role="img" aria-label=${`${label}: ${points.length} minutes, at most ${count(most)} ${unit}`}></div>
  </figure>`;
}

/** @param {any} uPlot @param {any} how */
function options(uPlot, { kind, token, height, width, goal, few, setAt }) {
  const line = colour("--line");
  const axis = { stroke: colour("--muted"), font: "11px system-ui, sans-serif", ticks: { show: false }, gap: 4 };
  const bars = kind === "bars";
  const grid = { stroke: line, width: 1 };
  return {
    width,
    height,
    tzDate: (/** @type {number} */ seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    legend: { show: false },
    cursor: { y: false, points: { show: !bars, size: 6 }, drag: { setScale: false, x: false, y: false } },
    hooks: { setCursor: [(/** @type {any} */ chart) => setAt(chart.cursor.idx ?? -1)] },
    scales: { x: { range: bars ? padded : undefined }, y: { range: (/** @type {any} */ _c, /** @type {number} */ _low, /** @type {number} */ high) => [0, Math.max(high, goal ?? 0, 1e-3) * 1.1] } },
    axes: [
      { ...axis, grid: { show: false }, size: 24, space: 64, values: (/** @type {any} */ _c, /** @type {number[]} */ ticks) => ticks.map(clock) },
      { ...axis, grid, size: 44, space: 32, values: (/** @type {any} */ _c, /** @type {number[]} */ ticks) => ticks.map((tick) => count(tick)) },
    ],
    series: [
      {},
      {
        stroke: colour(token),
        width: bars ? 0 : 2,
        fill: bars ? colour(token) : undefined,
        points: { show: !bars && few, size: 5, fill: colour(token) },
        ...(bars ? { paths: uPlot.paths.bars({ size: [0.75, 18], radius: 0.15 }) } : {}),
      },
      ...(goal === undefined ? [] : [{ stroke: colour("--faint"), width: 1, dash: [4, 4], points: { show: false } }]),
    ],
  };
}

/** @param {number} seconds */
const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 16);

/** Room for half a bar at both ends. @param {any} _chart @param {number} from @param {number} to */
const padded = (_chart, from, to) => [from - 45, Math.max(to, from + 600) + 45];

/** Its module cannot be imported: it sets a global, so it is a script of its own. @returns {Promise<any>} */
function load() {
  const base = new URL("../vendor/uplot/", import.meta.url);
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${base}uPlot.min.css` });
  const script = Object.assign(document.createElement("script"), { src: `${base}uPlot.iife.min.js` });
  document.head.append(style, script);
  return new Promise((resolve, reject) => {
    script.onload = () => resolve(/** @type {any} */ (globalThis).uPlot ?? /** @type {any} */ (window)["uPlot"]);
    script.onerror = () => reject(new Error("uPlot was not loaded"));
  });
}
