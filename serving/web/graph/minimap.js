/** The whole graph in a corner, with a frame around what is on the screen. Drag in it to move. */

import { html, useEffect, useMemo, useRef } from "../lib/dom.js";
import { colours, paintSmall } from "./paint.js";
import { inside } from "./camera.js";
import { seen, whole } from "./viewport.js";

const SCREEN = { width: 152, height: 72 };

/** @param {{graph: any, marks: import("./paint.js").Mark[], camera: import("./camera.js").Camera, theme: string, register: (draw: () => void) => void}} props */
export function Minimap({ graph, marks, camera, theme, register }) {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const small = useMemo(() => whole(graph, SCREEN), [graph]);
  useEffect(() => {
    if (canvas.current) paintSmall(canvas.current, marks, small, SCREEN, colours());
  }, [marks, graph, theme]);
  useEffect(() => {
    register(() => {
      const box = seen(camera.view, camera.screen);
      if (!frame.current || !element.current) return;
      const all = { x: 0, y: 0, width: graph.width, height: graph.height };
      const isWhole = box.x <= all.x + 30 && box.y <= all.y + 30 && box.x + box.width >= all.width - 30 && box.y + box.height >= all.height - 30;
      element.current.hidden = isWhole;
      const left = Math.max(0, box.x * small.k + small.x);
      const top = Math.max(0, box.y * small.k + small.y);
      Object.assign(frame.current.style, {
        left: `${left}px`, top: `${top}px`,
        width: `${Math.max(4, Math.min(SCREEN.width, (box.x + box.width) * small.k + small.x) - left)}px`,
        height: `${Math.max(4, Math.min(SCREEN.height, (box.y + box.height) * small.k + small.y) - top)}px`,
      });
    });
  });
  const go = (/** @type {PointerEvent} */ event) => {
    if (!element.current || !(event.buttons & 1)) return;
    const [x, y] = inside(event, element.current);
    camera.centre({ x: (x - small.x) / small.k, y: (y - small.y) / small.k, width: 0, height: 0 });
  };
  return html`<div class="minimap" ref=${element} hidden aria-hidden="true" onPointerDown=${go} onPointerMove=${go}>
    <canvas ref=${canvas}></canvas><div class="frame" ref=${frame}></div>
  </div>`;
}
