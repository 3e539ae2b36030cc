/** Do the tests pass? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { count, counted } from "../lib/format.js";
import { link } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { Choice, Filters } from "../parts/filters.js";
import { Name, Time } from "../parts/name.js";
import { Pill } from "../parts/state.js";
import { List, Table } from "../parts/table.js";
import { testColumns } from "../parts/test_list.js";

const RESULTS = /** @type {[string, string][]} */ ([["", "any"], ["false", "✕ failed"], ["true", "✓ passed"]]);

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Quality({ params }) {
  const { success, namespace, name, cursor } = params;
  const summary = useApi("/quality/summary", { limit: 1000 });
  const answer = useApi("/quality", { success, namespace, name, cursor });
  return html`
    <${Heading} title="Do the tests pass?">
      <${Summary} rows=${summary.data?.items} />
      ${name && namespace ? html`<span>Of <${Name} kind="dataset" namespace=${namespace} name=${name} /> · <a href=${link("/quality")}>all datasets</a></span>` : null}
    <//>
    <${Filters}><${Choice} name="success" label="Result" options=${RESULTS} /><//>
    ${name || success || !summary.data?.items.length ? null : html`<${Card} title="Latest results by dataset" sql=${summary.data.sql}>
      <${Table} columns=${BY_DATASET} rows=${summary.data.items} caption="Latest results by dataset" /><//>`}
    <${Card} title="Results, newest first">
      <${List} answer=${answer} columns=${testColumns()} caption="Results of tests, newest first" empty=${success || name ? "No result is of this kind." : html`No test was ever run, which is not the same as no test failed. <code>lineproof quality run</code> runs tests.`} />
    <//>`;
}

/** @type {import("../parts/table.js").Column[]} */
const BY_DATASET = [
  { id: "trust", label: "state", cell: (one) => html`<${Pill} trust=${one.failed > one.not_run ? "broken" : one.not_run ? "unknown" : "proven"}>${one.failed > one.not_run ? "failed" : one.not_run ? "could not run" : "passed"}<//>` },
  { id: "dataset", label: "dataset", cell: (one) => (one.name ? html`<${Name} kind="dataset" namespace=${one.namespace} name=${one.name} full />` : html`<span class="muted">tests without a dataset</span>`) },
  { id: "tests", label: "tests", number: true, cell: (one) => html`<${Number} one=${one} value=${one.tests} />` },
  { id: "failed", label: "failed", number: true, cell: (one) => html`<${Number} one=${one} value=${one.failed} success="false" />` },
  { id: "not_run", label: "could not run", number: true, cell: (one) => count(one.not_run) },
  { id: "last", label: "last", cell: (one) => html`<${Time} at=${one.last_at} />` },
];

/** @param {{one: any, value: number, success?: string}} props */
const Number = ({ one, value, success }) =>
  one.name ? html`<a href=${link("/quality", { namespace: one.namespace, name: one.name, success })}>${count(value)}</a>` : count(value);

/** @param {{rows: any[] | undefined}} props */
function Summary({ rows }) {
  if (!rows) return null;
  const sum = (/** @type {"tests" | "failed" | "not_run"} */ name) => rows.reduce((all, row) => all + row[name], 0);
  const [tests, failed, notRun] = [sum("tests"), sum("failed"), sum("not_run")];
  if (!tests) return html`<${Pill} trust="unknown">no test was ever run<//>`;
  const really = failed - notRun;
  return html`${really > 0 ? html`<a href=${link("/quality", { success: "false" })}><${Pill} trust="broken">${counted(really, "test")} failed<//></a>` : null}
    ${notRun ? html`<${Pill} trust="unknown">${counted(notRun, "test")} could not run<//>` : null}
    <a href=${link("/quality", { success: "true" })}><${Pill} trust="proven">${counted(tests - failed, "test")} passed<//></a>`;
}
