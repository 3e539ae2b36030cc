/** The frame of everything: a view's question and answer, and cards under it. */

import { html } from "../lib/dom.js";
import { Sql } from "./copy.js";

/** The first lines of a view: what it is about, and the answer. @param {{title: any, children?: any, aside?: any}} props aside: buttons */
export const Heading = ({ title, children, aside }) =>
  html`<header class="heading"><div class="heading-line"><h1>${title}</h1>${aside ? html`<div class="buttons">${aside}</div>` : null}</div>${children ? html`<p class="answer">${children}</p>` : null}</header>`;

/** @param {{title: any, sql?: string | null, children?: any, class?: string, id?: string, aside?: any}} props */
export const Card = ({ title, sql, children, id, aside, ...props }) =>
  html`<section class="card ${props.class ?? ""}" id=${id}>
    <div class="card-title"><h2>${title}</h2>${aside}</div>
    ${children}
    <${Sql} sql=${sql} />
  </section>`;

/** Terms and what is known of them; those without a value are left out. @param {{items: [any, any][], quiet?: boolean}} props */
export const Facts = ({ items, quiet = false }) => {
  const known = items.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return known.length
    ? html`<dl class="facts">${known.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`
    : quiet ? null : html`<p class="muted">Not stated.</p>`;
};
