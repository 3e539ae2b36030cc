/**
 * The read API. In a view:
 *
 *   const answer = useApi("/run-like/path", { run_id: params.run_id });
 *   return html`<${Loaded} answer=${answer}>${(run) => html`…`}<//>`;     (../parts/loading.js)
 *
 * `useApi` adds the key and the page's `as_of`, asks again when they change, shows the former answer of the same address
 * while it asks, and repeats every `every` ms while the tab is visible. `get` is the same, once, as a promise.
 */

import { useEffect, useState } from "./dom.js";
import { route, useRoute } from "./router.js";
import { key, signIn, signedIn } from "./session.js";
import { store, useStore } from "./store.js";

const ROOT = "api/lineproof/v1";
const KEPT = 60;

/** @typedef {Record<string, string | number | boolean | null | undefined>} Query */
/** @typedef {{how: "now" | "version" | "event time", at: string | null, oldest_at: string | null}} Known */

/**
 * @template T
 * @typedef {{data: T | null, error: ApiError | null, loading: boolean, retry: () => void}} Answer
 */

/** Which state of the tables the answers on the page are from. @type {import("./store.js").Store<Known | null>} */
export const known = store(/** @type {Known | null} */ (null));

/** How many questions are under way. @type {import("./store.js").Store<number>} */
export const asking = store(0);

/** Former answers by address, so that "back" shows something at once. @type {Map<string, unknown>} */
const kept = new Map();
signIn.subscribe(() => kept.clear()); // another key may see less

export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {string} advice
   */
  constructor(status, code, message, advice) {
    super(message);
    this.status = status;
    this.code = code;
    this.advice = advice;
  }
}

/**
 * The address of a question, for `fetch` or a download.
 * @param {string} path
 * @param {Query} [query]
 */
export function address(path, query = {}) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries({ as_of: route.get().params["as_of"], ...query })) {
    if (value !== null && value !== undefined && value !== "") all.set(name, String(value));
  }
  const text = all.toString();
  return `${ROOT}${path}${text ? `?${text}` : ""}`;
}

/**
 * @param {string} path
 * @param {Query} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function get(path, query, signal) {
  const response = await ask(address(path, query), signal);
  const said = response.headers.get("Lineproof-Known");
  if (said) known.set(sameAs(known.get(), JSON.parse(said)));
  return response.json();
}

/**
 * A file of the API (CSV), with the key.
 * @param {string} path
 * @param {Query} [query]
 */
export async function download(path, query) {
  return (await ask(address(path, query))).blob();
}

/**
 * @template [T=any]
 * @param {string | null} path null asks nothing
 * @param {Query} [query]
 * @param {{every?: number}} [how]
 * @returns {Answer<T>}
 */
export function useApi(path, query = {}, { every = 0 } = {}) {
  useRoute(); // as_of is part of the address
  const url = path === null ? null : address(path, query);
  const session = useStore(signedIn);
  const [state, setState] = useState(
    /** @type {{url: string | null, data: any, error: ApiError | null}} */ ({ url: null, data: null, error: null }),
  );
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    const question = () =>
      get(path, query, abort.signal).then(
        (data) => {
          keep(/** @type {string} */ (url), data);
          setState({ url, data, error: null });
        },
        (error) => {
          if (!abort.signal.aborted) setState((former) => ({ url, data: former.url === url ? former.data : null, error }));
        },
      );
    void question();
    const timer = every ? setInterval(() => document.hidden || void question(), every) : 0;
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [url, asked, session, every]);
  const mine = state.url === url;
  const data = mine && state.data !== null ? state.data : url ? (kept.get(url) ?? null) : null;
  const error = mine ? state.error : null;
  return { data, error, loading: url !== null && !mine && data === null, retry: () => setAsked(asked + 1) };
}

/**
 * @param {string} url
 * @param {AbortSignal} [signal]
 */
async function ask(url, signal) {
  const secret = key();
  asking.set(asking.get() + 1);
  /** @type {Response} */
  let response;
  try {
    response = await fetch(url, {
      headers: secret ? { Authorization: `Bearer ${secret}` } : {},
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The server does not answer.", "Is `lineproof serve` running? Try again.");
  } finally {
    asking.set(asking.get() - 1);
  }
  if (response.ok) return response;
  const error = await asError(response);
  if (response.status === 401) signIn.set(secret ? `This key is not accepted. ${error.message}` : error.message);
  throw error;
}

/** @param {Response} response */
async function asError(response) {
  const body = await response.json().catch(() => ({}));
  return new ApiError(
    response.status,
    String(body.error ?? "error"),
    String(body.message ?? `The server answered ${response.status}.`),
    String(body.advice ?? "Try again. If it stays, see the log of `lineproof serve`."),
  );
}

/**
 * The former value if nothing changed, so that nothing is drawn again.
 * @param {Known | null} former
 * @param {Known} next
 */
const sameAs = (former, next) => (JSON.stringify(former) === JSON.stringify(next) ? former : next);

/**
 * @param {string} url
 * @param {unknown} data
 */
function keep(url, data) {
  kept.delete(url);
  kept.set(url, data);
  const oldest = kept.keys().next().value;
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
}
