/** The keys of the page, and who is signed in. */

import { html, useEffect, useRef } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { forgetKey, key } from "../lib/session.js";

const KEYS = [
  ["/", "Search"],
  ["↑ ↓ Enter", "Choose a result"],
  ["?", "This help"],
  ["Esc", "Close what is open"],
  ["Tab", "Next link or control"],
  ["Alt ←", "Back: every filter, page and time is in the address"],
];

/** @param {{open: boolean, close: () => void}} props */
export function Help({ open, close }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) dialog.current.close();
  }, [open]);
  return html`<dialog ref=${dialog} onClose=${close} aria-labelledby="help-title">
    <h2 id="help-title">Keyboard</h2>
    <dl class="facts">${KEYS.map(([keys, what]) => html`<div><dt><kbd>${keys}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    ${open ? html`<${About} />` : null}
    <form method="dialog"><button class="primary">Close</button></form>
  </dialog>`;
}

function About() {
  const me = useApi("/me");
  return html`<p class="muted">
    ${me.data?.key ? `Signed in with the key ${me.data.key}. ` : null}
    ${key() ? html`<button type="button" class="small" onClick=${forgetKey}>Sign out</button>` : null}
  </p>`;
}
