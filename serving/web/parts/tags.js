/** Tags of a dataset, a column or a job. */

import { html } from "../lib/dom.js";
import { link } from "../lib/router.js";
import { Text } from "./name.js";

/** @param {{tags: any[]}} props a tag is a text, or has a key, a value and perhaps a field */
export const Tags = ({ tags }) =>
  tags.map((tag, place) => {
    const one = typeof tag === "string" ? { key: tag } : tag;
    return html`<a key=${place} class="pill" href=${link("/datasets", { tag: one.key })}><${Text}>${[one.field, [one.key, one.value].filter(Boolean).join(": ")].filter(Boolean).join(" · ")}<//></a> `;
  });
