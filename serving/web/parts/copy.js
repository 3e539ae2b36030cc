/** Texts to take away: SQL that gave the rows on the page, commands to run. */

import { html, useEffect, useState } from "../lib/dom.js";
import { visible } from "../lib/text.js";

/** @param {{text: string, label?: string}} props */
export function Copy({ text, label = "Copy" }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!said) return undefined;
    const timer = setTimeout(() => setSaid(""), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () => copied(text).then((done) => setSaid(done ? "Copied" : "Select and copy it yourself"));
  return html`<button type="button" class="small" onClick=${copy}><span aria-live="polite">${said || label}</span></button>`;
}

/** A command with its button. @param {{children: any}} props */
export function Command({ children }) {
  const text = String(children);
  return html`<div class="command"><code><bdi dir="ltr">${visible(text)}</bdi></code><${Copy} text=${text} /></div>`;
}

/** The SQL behind the rows. @param {{sql: string | null | undefined, label?: string}} props */
export function Sql({ sql, label = "SQL" }) {
  if (!sql) return null;
  return html`<details class="sql">
    <summary>${label}</summary>
    <div><pre tabindex="0"><code>${visible(sql, { lines: true })}</code></pre><${Copy} text=${sql} label="Copy SQL" /></div>
  </details>`;
}

/** Without https:// there is no clipboard API, so fall back to a selection. @param {string} text */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
