/**
 * Preact and htm, for every other file: the vendored files are imported here and nowhere else.
 *
 *   import { html, useState } from "../lib/dom.js";
 *   const Hello = ({ name }) => html`<p class="muted">Hello <${Name} name=${name} /></p>`;
 *
 * htm escapes everything that is put into a template. Nothing uses innerHTML, and no markup has a `style="…"` text:
 * the policy of the page (see ../routes.py) forbids it. An object, `style=${{ width: "50%" }}`, is set by script and works.
 */

import htm from "../vendor/htm/htm.mjs";
import { h } from "../vendor/preact/preact.mjs";

export { Component, Fragment, createContext, h, render } from "../vendor/preact/preact.mjs";
export {
  useCallback,
  useContext,
  useEffect,
  useErrorBoundary,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "../vendor/preact/hooks.mjs";

export const html = htm.bind(h);
