/**
 * Shows openapi.json: each route with its parameters, its answer and a command to try it. Texts are set as text, never
 * as markup, and nothing is asked of another host.
 */

const METHODS = ["get", "post", "put", "delete"];
const MAX_DEPTH = 4;
const state = /** @type {HTMLElement} */ (document.getElementById("state"));
const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const filter = /** @type {HTMLInputElement} */ (document.getElementById("filter"));

/** An element with attributes, and texts or elements in it. */
function element(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside.filter((one) => one !== null && one !== undefined));
  return made;
}

async function load() {
  const key = sessionStorage.getItem("lineproof.key"); // of the page, if one has signed in there
  const answer = await fetch("openapi.json", { headers: key ? { Authorization: `Bearer ${key}` } : {} });
  if (answer.status === 401) throw new Error("A key is needed. Sign in on the page of lineproof, and come back in the same tab.");
  if (!answer.ok) throw new Error(`openapi.json could not be loaded: ${answer.status}.`);
  return answer.json();
}

function draw(document_) {
  const byTag = new Map();
  for (const [path, item] of Object.entries(document_.paths)) {
    for (const method of METHODS.filter((one) => one in item)) {
      const operation = item[method];
      const tag = operation.tags?.[0] ?? "server";
      byTag.set(tag, [...(byTag.get(tag) ?? []), { path, method, operation }]);
    }
  }
  main.replaceChildren();
  for (const [tag, operations] of byTag) {
    const section = element("section", {}, element("h2", {}, tag), ...operations.map((one) => route(one, document_)));
    main.append(section);
  }
}

function route({ path, method, operation }, document_) {
  const body = element("div", { class: "body" });
  const made = element(
    "details",
    { id: `${method}-${path}` },
    element("summary", {}, element("b", {}, method.toUpperCase()), element("code", {}, path), element("span", {}, operation.summary ?? "")),
    body,
  );
  made.addEventListener("toggle", () => {
    if (!made.open || body.childElementCount > 0) return;
    body.append(...details(path, method, operation, document_));
  });
  return made;
}

function details(path, method, operation, document_) {
  const parts = [];
  if (operation.description) parts.push(element("p", {}, operation.description));
  if (operation.parameters?.length) parts.push(parameters(operation.parameters, document_));
  const schema = operation.responses?.["200"]?.content?.["application/json"]?.schema;
  if (schema) parts.push(element("h3", {}, "Answer"), element("pre", {}, shape(schema, document_)));
  if (method === "get") parts.push(element("h3", {}, "Try it"), element("pre", {}, command(path, operation)));
  return parts;
}

function parameters(list, document_) {
  const rows = list.map((one) =>
    element(
      "tr",
      {},
      element("td", {}, element("code", {}, one.name), one.required ? " *" : ""),
      element("td", {}, element("code", {}, shape(one.schema ?? {}, document_))),
      element("td", {}, one.description ?? one.schema?.description ?? ""),
    ),
  );
  const head = element("tr", {}, ...["parameter", "type", "meaning"].map((one) => element("th", { scope: "col" }, one)));
  return element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
}

/** A schema as the JSON that it stands for. */
function shape(schema, document_, depth = 0) {
  if (schema.$ref) return shape(resolved(schema.$ref, document_), document_, depth);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return options.map((one) => shape(one, document_, depth)).join(" | ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.type === "array") return `[${shape(schema.items ?? {}, document_, depth)}]`;
  if (schema.properties) return properties(schema, document_, depth);
  if (schema.type === "object") return "{…}";
  return schema.format ?? schema.type ?? "any JSON";
}

function properties(schema, document_, depth) {
  if (depth >= MAX_DEPTH) return "{…}";
  const indent = "  ".repeat(depth + 1);
  const lines = Object.entries(schema.properties).map(([name, of]) => `${indent}${name}: ${shape(of, document_, depth + 1)}`);
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}

function resolved(reference, document_) {
  return reference.split("/").slice(1).reduce((at, name) => at?.[name], document_) ?? {};
}

function command(path, operation) {
  const needed = (operation.parameters ?? []).filter((one) => one.in === "query" && one.required);
  const query = needed.map((one) => ` --data-urlencode '${one.name}=…'`).join("");
  const base = new URL(".", location.href).href.replace(/\/$/, "");
  return query ? `curl -sG '${base}${path}'${query}` : `curl -s '${base}${path}'`;
}

function applyFilter() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const section of main.querySelectorAll("section")) {
    let shown = 0;
    for (const one of section.querySelectorAll("details")) {
      const text = (one.id + one.querySelector("summary")?.textContent).toLowerCase();
      one.hidden = !words.every((word) => text.includes(word));
      shown += one.hidden ? 0 : 1;
    }
    section.hidden = shown === 0;
  }
}

try {
  draw(await load());
  filter.addEventListener("input", applyFilter);
} catch (error) {
  state.textContent = String(error instanceof Error ? error.message : error);
}
