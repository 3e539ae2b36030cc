/** Being written. */
import { html } from "../lib/dom.js";
import { Heading } from "../parts/card.js";
export default () => html`<${Heading} title="violations" />`;
