/** The search box of the header: results by kind, chosen with the arrows. */

import { html, useEffect, useRef, useState } from "../lib/dom.js";
import { get } from "../lib/api.js";
import { ago } from "../lib/format.js";
import { go, internal, link, parse } from "../lib/router.js";
import { Text } from "./name.js";
import { shortId } from "../lib/text.js";

const TYPING_MS = 120;
export const KINDS = /** @type {const} */ ({ dataset: "Datasets", job: "Jobs", column: "Columns", run: "Runs" });

export function SearchBox() {
  const [query, setQuery] = useState("");
  const [found, setFound] = useState(/** @type {any[] | null} */ (null));
  const [failed, setFailed] = useState("");
  const [at, setAt] = useState(-1);
  const [open, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLInputElement | null} */ (null));
  const asked = query.trim();
  useEffect(() => {
    setAt(-1);
    if (!asked) return void setFound(null);
    const abort = new AbortController();
    const search = () =>
      get("/search", { q: asked, limit: 24 }, abort.signal).then(
        (page) => (setFailed(""), setFound(byKind(page.items))),
        (error) => abort.signal.aborted || setFailed(`${error.message} ${error.advice ?? ""}`),
      );
    const timer = setTimeout(search, TYPING_MS);
    return () => (clearTimeout(timer), abort.abort());
  }, [asked]);
  const close = () => (setOpen(false), setAt(-1));
  const choose = (/** @type {any} */ result) => (close(), setQuery(""), box.current?.blur(), open_(result));
  const typed = (/** @type {KeyboardEvent} */ event) => {
    const last = (found?.length ?? 0) - 1;
    if (event.key === "ArrowDown") setAt(at >= last ? 0 : at + 1);
    else if (event.key === "ArrowUp") setAt(at <= 0 ? last : at - 1);
    else if (event.key === "Escape") return void (close(), box.current?.blur());
    else if (event.key === "Enter" && found?.[at]) choose(found[at]);
    else if (event.key === "Enter" && asked) (close(), go("/search", { q: asked }));
    else return;
    event.preventDefault();
  };
  const shows = open && asked !== "";
  return html`<div class="search" onFocusOut=${(/** @type {any} */ event) => event.currentTarget.contains(event.relatedTarget) || close()}>
    <input ref=${box} type="search" id="search" placeholder="Search jobs, datasets, columns, runs" autocomplete="off" spellcheck=${false}
      role="combobox" aria-label="Search jobs, datasets, columns and runs" aria-expanded=${shows} aria-controls="results" aria-autocomplete="list"
      aria-activedescendant=${shows && at >= 0 ? `result-${at}` : null} value=${query}
      onFocus=${() => setOpen(true)} onInput=${(/** @type {any} */ event) => (setQuery(event.target.value), setOpen(true))} onKeyDown=${typed} />
    <kbd aria-hidden="true">/</kbd>
    ${shows ? html`<div class="results"><${Results} found=${found} failed=${failed} at=${at} choose=${choose} asked=${asked} /></div>` : null}
  </div>`;
}

/** @param {{found: any[] | null, failed: string, at: number, choose: (result: any) => void, asked: string}} props */
function Results({ found, failed, at, choose, asked }) {
  if (failed) return html`<p role="alert">${failed}</p>`;
  if (!found) return html`<p role="status">Searching …</p>`;
  if (!found.length) return html`<p role="status">No job, dataset, column or run has “<${Text}>${asked}<//>” in its name.</p>`;
  return html`<div role="listbox" id="results" aria-label="Results">
    ${found.map(
      (result, place) => html`${result.kind !== found[place - 1]?.kind ? html`<h3 role="presentation">${kindOf(result)}</h3>` : null}
        <div role="option" id=${`result-${place}`} key=${place} aria-selected=${place === at}
          ref=${place === at ? (/** @type {HTMLElement | null} */ node) => node?.scrollIntoView({ block: "nearest" }) : null}
          onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()} onClick=${() => choose(result)}>
          <${Found} result=${result} /></div>`,
    )}
  </div>`;
}

/** @param {{result: any}} props */
export function Found({ result }) {
  return html`<${Text}>${result.kind === "run" ? shortId(result.run_id) : result.name}${result.field ? `.${result.field}` : ""}<//>${" "}
    <small><${Text}>${result.kind === "run" ? result.name : result.namespace}<//>${result.updated_at ? ` · ${ago(result.updated_at)}` : ""}</small>`;
}

/** Where a result leads. @param {any} result */
export function target(result) {
  const stated = internal(result.href);
  if (stated) return stated;
  if (result.kind === "run") return link("/run", { run_id: result.run_id });
  const { namespace, name, field } = result;
  return link(result.kind === "job" ? "/job" : "/dataset", { namespace, name, field });
}

/** @param {any} result */
function open_(result) {
  const { path, params } = parse(target(result));
  go(path, params);
}

/** @param {any} result */
export const kindOf = (result) => KINDS[/** @type {keyof typeof KINDS} */ (result.kind)] ?? result.kind;

/** Best first within each kind; the kind of the best result comes first. @param {any[]} items */
export function byKind(items) {
  const kinds = [...new Set(items.map((item) => item.kind))];
  return kinds.flatMap((kind) => items.filter((item) => item.kind === kind));
}
