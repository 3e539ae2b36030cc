/** Values that several components share: read with `useStore`, changed with `set`. */

import { useEffect, useState } from "./dom.js";

/**
 * @template T
 * @typedef {{get: () => T, set: (value: T) => void, subscribe: (listener: () => void) => () => void}} Store
 */

/**
 * @template T
 * @param {T} initial
 * @returns {Store<T>}
 */
export function store(initial) {
  let value = initial;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * The value, and another render whenever it changes.
 * @template T
 * @param {Store<T>} shared
 * @returns {T}
 */
export function useStore(shared) {
  const [, again] = useState({});
  const value = shared.get();
  useEffect(() => {
    const render = () => again({});
    if (!Object.is(shared.get(), value)) render(); // it changed between the render and now
    return shared.subscribe(render);
  }, [shared]);
  return value;
}
