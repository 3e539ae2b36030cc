/** Missing numbers on a line: offsets of a partition, sequence numbers of an emitter. */

import { html } from "../lib/dom.js";
import { count } from "../lib/format.js";

/** @param {{from: number, to: number, holes: {first: number, last: number, trust: string, said: string}[], label: string}} props */
export function NumberLine({ from, to, holes, label }) {
  const length = Math.max(1, to - from + 1);
  return html`<figure class="number-line">
    <div class="line" role="img" aria-label=${`${label}: ${count(from)} to ${count(to)}, missing ${holes.map((hole) => hole.said).join("; ")}`}>
      ${holes.map((hole) => {
        const left = (100 * (hole.first - from)) / length;
        const width = (100 * (hole.last - hole.first + 1)) / length;
        return html`<span class="hole ${hole.trust}" title=${hole.said} style=${{ left: `min(${left}%, calc(100% - 4px))`, width: `max(4px, ${width}%)` }}></span>`;
      })}
    </div>
    <figcaption class="muted"><span>${count(from)}</span><span>${count(to)}</span></figcaption>
  </figure>`;
}
