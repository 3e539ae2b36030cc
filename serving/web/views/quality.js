/** Do the tests pass? */

import { html } from "../lib/dom.js";
import { useApi } from "../lib/api.js";
import { counted } from "../lib/format.js";
import { link } from "../lib/router.js";
import { Card, Heading } from "../parts/card.js";
import { Choice, Filters } from "../parts/filters.js";
import { Name } from "../parts/name.js";
import { Pill } from "../parts/state.js";
import { List } from "../parts/table.js";
import { testColumns } from "../parts/test_list.js";

const RESULTS = /** @type {[string, string][]} */ ([["", "any"], ["false", "✕ failed"], ["true", "✓ passed"]]);

/** @param {{params: import("../lib/router.js").Params}} props */
export default function Quality({ params }) {
  const { success, namespace, name, cursor } = params;
  const summary = useApi("/quality/summary");
  const answer = useApi("/quality", { success, namespace, name, cursor });
  return html`
    <${Heading} title="Do the tests pass?">
      <${Summary} summary=${summary.data} />
      ${name && namespace ? html`<span>Of <${Name} kind="dataset" namespace=${namespace} name=${name} /> · <a href=${link("/quality")}>all datasets</a></span>` : null}
    <//>
    <${Filters}><${Choice} name="success" label="Result" options=${RESULTS} /><//>
    <${Card} title="Latest result of each test">
      <${List} answer=${answer} columns=${testColumns()} caption="Latest result of each test" empty=${success || name ? "No test has this result." : html`No test was ever run, which is not the same as no test failed. <code>lineproof quality run</code> runs tests.`} />
    <//>`;
}

/** @param {{summary: any}} props */
function Summary({ summary }) {
  if (!summary) return null;
  const { passed = 0, failed = 0, not_run = 0 } = summary;
  if (!passed && !failed && !not_run) return html`<${Pill} trust="unknown">no test was ever run<//>`;
  return html`${failed ? html`<a href=${link("/quality", { success: "false" })}><${Pill} trust="broken">${counted(failed, "test")} failed<//></a>` : null}
    <a href=${link("/quality", { success: "true" })}><${Pill} trust="proven">${counted(passed, "test")} passed<//></a>
    ${not_run ? html`<${Pill} trust="unknown">${counted(not_run, "test")} could not run<//>` : null}`;
}
