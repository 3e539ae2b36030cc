/**
 * The shell: header, the view that the address names, help and sign-in.
 *
 * A view is a module in views/ whose default export is a component that takes `{ params }`; it is loaded when it is
 * first shown. It starts with a `Heading` that answers its question (parts/card.js), and gets everything with `useApi`.
 */

import { html, render, useEffect, useErrorBoundary, useRef, useState } from "./lib/dom.js";
import { asking } from "./lib/api.js";
import { useRoute } from "./lib/router.js";
import { signIn, signedIn } from "./lib/session.js";
import { useStore } from "./lib/store.js";
import { AsOfBanner } from "./parts/as_of.js";
import { Header } from "./parts/header.js";
import { Help } from "./parts/help.js";
import { Problem, Skeleton } from "./parts/loading.js";
import { SignIn } from "./parts/sign_in.js";

/** @type {Record<string, [string, () => Promise<{default: any}>]>} */
const VIEWS = {
  "/": ["Overview", () => import("./views/overview.js")],
  "/lineage": ["Lineage", () => import("./views/lineage.js")],
  "/datasets": ["Datasets", () => import("./views/datasets.js")],
  "/dataset": ["Dataset", () => import("./views/dataset.js")],
  "/jobs": ["Jobs", () => import("./views/jobs.js")],
  "/job": ["Job", () => import("./views/job.js")],
  "/runs": ["Runs", () => import("./views/runs.js")],
  "/run": ["Run", () => import("./views/run.js")],
  "/quality": ["Quality", () => import("./views/quality.js")],
  "/proof": ["Proof", () => import("./views/proof.js")],
  "/violations": ["Violations", () => import("./views/violations.js")],
  "/dead-letters": ["Dead letters", () => import("./views/dead_letters.js")],
  "/defects": ["Defects", () => import("./views/defects.js")],
  "/time": ["Time", () => import("./views/time.js")],
  "/search": ["Search", () => import("./views/search.js")],
};

function App() {
  const { path, params } = useRoute();
  const asked = useStore(signIn);
  const session = useStore(signedIn);
  const busy = useStore(asking) > 0;
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "/") document.getElementById("search")?.focus();
      else if (event.key === "?") setHelp(true);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <${Header} path=${path} help=${() => setHelp(true)} />
    <${AsOfBanner} />
    <main id="main" tabindex="-1" aria-busy=${busy}>
      ${asked === null ? html`<${View} key=${`${path} ${session}`} path=${path} params=${params} />` : html`<${SignIn} message=${asked} />`}
    </main>
    <footer class="foot"><span>Times are UTC.</span><a href="docs">HTTP API</a></footer>
    <${Help} open=${help} close=${() => setHelp(false)} />
  `;
}

/** @param {{path: string, params: import("./lib/router.js").Params}} props */
function View({ path, params }) {
  const [view, setView] = useState(/** @type {any} */ (null));
  const [failed, setFailed] = useState(/** @type {Error | null} */ (null));
  const [broken] = useErrorBoundary((error) => console.error(error));
  const first = useRef(isFirst);
  const [title, load] = VIEWS[path] ?? ["Not found", null];
  useEffect(() => {
    document.title = `${title} · lineproof`;
    isFirst = false;
    if (!first.current) focusMain(); // so that the keyboard continues in the new view
    load?.().then((module) => setView(() => module.default), setFailed);
  }, []);
  if (broken) return html`<${Problem} error=${Object.assign(new Error("This view cannot be drawn."), { advice: `${broken.message ?? broken} Load the page again; if it stays, report it.` })} retry=${() => location.reload()} />`;
  if (!load) return html`<${Problem} error=${Object.assign(new Error(`There is no view “${path}”.`), { status: 404, advice: "Choose one in the header, or search with /." })} />`;
  if (failed) return html`<${Problem} error=${Object.assign(new Error("The view could not be loaded."), { advice: "Is `lineproof serve` running? Load the page again." })} retry=${() => location.reload()} />`;
  return view ? html`<${view} params=${params} />` : html`<${Skeleton} />`;
}

let isFirst = true;

function focusMain() {
  if (document.activeElement?.closest(".search, dialog")) return;
  document.getElementById("main")?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** The link cannot be one: the address after # is the state. @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** @param {Event} event */
function isTyping(event) {
  const target = event.target;
  return target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));
}

const root = document.getElementById("app");
if (root) {
  root.replaceChildren();
  render(html`<${App} />`, root);
}
