/** Asks for an API key when the server wants one. The key stays in this tab. */

import { html } from "../lib/dom.js";
import { useKey } from "../lib/session.js";
import { Command } from "./copy.js";

/** @param {{message: string}} props */
export function SignIn({ message }) {
  const submitted = (/** @type {any} */ event) => {
    event.preventDefault();
    const value = String(new FormData(event.target).get("key") ?? "").trim();
    if (value) useKey(value);
  };
  return html`<section class="card sign-in">
    <h1>Sign in</h1>
    <p class="muted" role="alert">${message}</p>
    <form onSubmit=${submitted}>
      <label class="filter"><span>API key</span><input type="password" name="key" autocomplete="off" required autofocus /></label>
      <button class="primary">Sign in</button>
      <p class="muted">A key that may read is made with</p>
      <${Command}>lineproof keys add NAME --role read<//>
    </form>
  </section>`;
}
