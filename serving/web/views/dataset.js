/** Can I trust this figure? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { counted, duration } from "../lib/format.js";
import { link } from "../lib/router.js";
import { Heading } from "../parts/card.js";
import { Tabs } from "../parts/filters.js";
import { Copy } from "../parts/copy.js";
import { Loaded, Nothing } from "../parts/loading.js";
import { Text } from "../parts/name.js";
import { Pill, trustOf } from "../parts/state.js";
import { DatasetFacts, Loads, Neighbours } from "../parts/dataset_facts.js";
import { Columns, SchemaHistory } from "../parts/dataset_schema.js";
import { TestList } from "../parts/test_list.js";
import { Card } from "../parts/card.js";
import { Tree } from "../parts/tree.js";

/** @param {{params: import("../lib/router.js").Params}} props */
export default function DatasetView({ params }) {
  const { namespace, name, tab = "trust" } = params;
  const answer = useApi(name ? "/dataset" : null, { namespace, name });
  if (!name) return html`<${Nothing} title="No dataset is named.">Choose one in the list of datasets.<//>`;
  return html`<${Loaded} answer=${answer} rows=${12}>${(/** @type {any} */ one) => html`
    <${Title} one=${one} />
    <${Tabs} label="Parts of the dataset" tabs=${[["trust", "Trust"], ["schema", `Schema (${one.schemas.length})`], ["tests", `Tests (${one.tests.length})`], ["facets", "Facets"]]} />
    ${tab === "schema" ? html`<${Columns} one=${one} field=${params["field"]} /><${SchemaHistory} one=${one} />`
      : tab === "tests" ? html`<${Card} title="Tests"><${TestList} tests=${one.tests} /><//>`
      : tab === "facets" ? html`<${Card} title="Facets"><${Tree} value=${one.facets} depth=${1} /><//>`
      : html`<${Loads} one=${one} /><${DatasetFacts} one=${one} /><${Neighbours} one=${one} /><${Columns} one=${one} field=${params["field"]} />`}
  `}<//>`;
}

/** @param {{one: any}} props */
function Title({ one }) {
  const identity = { namespace: one.namespace, name: one.name };
  const { freshness } = one;
  const proven = one.loads.filter((/** @type {any} */ load) => load.trust === "proven").length;
  return html`<${Heading} title=${html`<${Text}>${one.name}<//>`} aside=${html`<${Copy} text=${one.name} label="Copy name" /><a class="button" href=${link("/lineage", { kind: "dataset", ...identity })}>Lineage</a>`}>
    <span><${Text}>${one.namespace}<//> · dataset ·</span>
    <${Pill} trust=${one.trust}>${one.trust}${one.reason ? html`: <${Text}>${one.reason}<//>` : null}<//>
    <${Pill} trust=${trustOf(freshness.verdict)}>${freshness.verdict === "unknown" ? "freshness unknown" : freshness.verdict}${freshness.age_s === null ? "" : `, ${duration(freshness.age_s * 1000)}`}${freshness.limit_s === null ? "" : ` of ${duration(freshness.limit_s * 1000)}`}<//>
    ${one.loads.length ? html`<${Pill} trust=${proven === one.loads.length ? "proven" : "unknown"}>${proven} of ${counted(one.loads.length, "load")} proven<//>` : html`<${Pill} trust="unknown">never loaded<//>`}
    ${one.owners.map((/** @type {any} */ owner) => html`<span class="pill">owner: <${Text}>${owner.name}<//></span>`)}
    <span><a href=${link("/lineage", { kind: "dataset", ...identity, up: 9, down: 0 })}>${counted(one.upstream, "dataset")} upstream</a>,${" "}
      <a href=${link("/lineage", { kind: "dataset", ...identity, up: 0, down: 9 })}>${one.downstream} downstream</a></span>
  <//>`;
}
