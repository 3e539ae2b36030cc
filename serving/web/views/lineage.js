/** Where does it come from, where does it go, and can each step be trusted? */

import { html } from "../lib/dom.js";
import { ColumnView } from "../graph/column_view.js";
import { Choose } from "../graph/choose.js";
import { NodeView } from "../graph/node_view.js";
import { RunView } from "../graph/run_view.js";
import { stateOf } from "../graph/state.js";

/** @param {{params: import("../lib/router.js").Params}} props */
export default function LineageView({ params }) {
  const state = stateOf(params);
  if (state.run_id) return html`<${RunView} key="run" state=${state} />`;
  if (!state.name && !state.namespace) return html`<${Choose} params=${params} />`;
  if (state.field) return html`<${ColumnView} key="column" state=${state} rows=${params["rows"] === "true"} />`;
  return html`<${NodeView} key="node" state=${state} />`;
}
