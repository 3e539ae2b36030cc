/** Pan and zoom with mouse, touch and buttons. The camera moves the picture itself, without drawing it again. */

import { centred, kept, revealed, whole, zoomed } from "./viewport.js";

const DRAG_FROM = 4;
const WHEEL = 0.0016;

export class Camera {
  /** @param {() => void} moved called once a frame while the view changes */
  constructor(moved) {
    this.view = { x: 0, y: 0, k: 1 };
    this.screen = { width: 0, height: 0 };
    this.isSet = false;
    /** The size of what is seen. @type {{width: number, height: number} | null} */
    this.graph = null;
    /** Whether a person chose what is in view, so that it belongs into the address. */
    this.isChosen = false;
    this.moved = moved;
    this.frame = 0;
    /** @type {Map<number, {x: number, y: number}>} */
    this.pointers = new Map();
    this.travelled = 0;
  }

  /** @param {import("./viewport.js").View} view */
  set(view, chosen = true) {
    this.view = this.graph ? kept(view, this.graph, this.screen) : view;
    this.isSet = true;
    this.isChosen ||= chosen;
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.moved();
    });
  }

  /** At once, before the browser paints. @param {import("./viewport.js").View} view */
  jump(view) {
    this.view = view;
    this.isSet = true;
    this.moved();
  }

  /** Further away there is nothing more to see. */
  get least() {
    return this.graph ? Math.min(0.5, whole(this.graph, this.screen).k * 0.8) : 0;
  }

  /** @param {number} factor */
  zoom(factor) {
    this.set(zoomed(this.view, factor, this.screen.width / 2, this.screen.height / 2, this.least));
  }

  /** @param {{width: number, height: number}} graph */
  fit(graph) {
    this.set(whole(graph, this.screen));
  }

  /** @param {import("./viewport.js").Box} box */
  reveal(box) {
    const next = revealed(this.view, box, this.screen);
    if (next !== this.view) this.set(next);
  }

  /** @param {import("./viewport.js").Box} box */
  centre(box, k = this.view.k) {
    this.set(centred(box, k, this.screen));
  }

  /** @param {HTMLElement} element @returns {() => void} */
  attach(element) {
    const listen = (/** @type {string} */ type, /** @type {(event: any) => void} */ listener, /** @type {AddEventListenerOptions} */ how = {}) => {
      element.addEventListener(type, listener, how);
      return () => element.removeEventListener(type, listener, how);
    };
    const removers = [
      listen("wheel", (event) => this.wheel(event, element), { passive: false }),
      listen("pointerdown", (event) => this.down(event, element)),
      listen("pointermove", (event) => this.move(event, element)),
      listen("pointerup", (event) => this.up(event)),
      listen("pointercancel", (event) => this.up(event)),
      listen("click", (event) => this.clicked(event), { capture: true }),
    ];
    return () => {
      removers.forEach((remove) => remove());
      cancelAnimationFrame(this.frame);
      this.frame = 0;
    };
  }

  /** @param {WheelEvent} event @param {HTMLElement} element */
  wheel(event, element) {
    if (isTool(event)) return;
    event.preventDefault();
    const [x, y] = inside(event, element);
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.set({ ...this.view, x: this.view.x - (event.deltaX || event.deltaY) * lines });
      return;
    }
    const strength = event.ctrlKey ? 4 : 1; // a pinch on a touchpad comes as small steps with ctrl
    this.set(zoomed(this.view, Math.exp(-event.deltaY * lines * WHEEL * strength), x, y, this.least));
  }

  /** @param {PointerEvent} event @param {HTMLElement} element */
  down(event, element) {
    if (event.button !== 0 || isTool(event)) return;
    if (!this.pointers.size) this.travelled = 0;
    const [x, y] = inside(event, element);
    this.pointers.set(event.pointerId, { x, y });
  }

  /** @param {PointerEvent} event @param {HTMLElement} element */
  move(event, element) {
    const former = this.pointers.get(event.pointerId);
    if (!former) return;
    const [x, y] = inside(event, element);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.travelled += Math.hypot(x - former.x, y - former.y);
    this.pointers.set(event.pointerId, { x, y });
    if (this.travelled < DRAG_FROM) return;
    if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
    const other = others[0];
    if (other) {
      const factor = Math.hypot(x - other.x, y - other.y) / Math.max(1, Math.hypot(former.x - other.x, former.y - other.y));
      const view = zoomed(this.view, factor, (x + other.x) / 2, (y + other.y) / 2, this.least);
      this.set({ ...view, x: view.x + (x - former.x) / 2, y: view.y + (y - former.y) / 2 });
    } else this.set({ ...this.view, x: this.view.x + x - former.x, y: this.view.y + y - former.y });
  }

  /** The end of a drag is no click. @param {MouseEvent} event */
  clicked(event) {
    if (this.travelled >= DRAG_FROM && !isTool(event)) event.stopPropagation();
    this.travelled = 0;
  }

  /** @param {PointerEvent} event */
  up(event) {
    this.pointers.delete(event.pointerId);
  }
}

/** @param {MouseEvent} event @param {HTMLElement} element @returns {[number, number]} */
export function inside(event, element) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** Buttons and the small picture on the stage are not part of the graph. @param {Event} event */
const isTool = (event) => event.target instanceof Element && event.target.closest(".stage-tools, .minimap") !== null;
