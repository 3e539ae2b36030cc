"""The ledgers of runs: what they declare, and the result of adding them up."""

from datetime import datetime

from lineproof.serving.answers.model import Answer, ExactCount, Page
from lineproof.serving.answers.paging import Key, Paging, page
from lineproof.serving.answers.statement import Conditions
from lineproof.serving.open_tables import TableSet

_NEVER = "TIMESTAMPTZ '0001-01-01 00:00:00+00'"
KEYS = (Key("stated", is_descending=True, is_time=True), Key("run_id"))


class LedgerCheck(Answer):
    """A row of the view `ledger_checks`."""

    run_id: str
    job_namespace: str | None
    job_name: str | None
    state: str
    verdict: str
    is_violation: bool
    declared_balanced: bool | None
    recomputed_balanced: bool | None
    difference: ExactCount | None
    input_count: ExactCount | None
    processed_count: ExactCount | None
    filtered_count: ExactCount | None
    errored_count: ExactCount | None
    stated_at: datetime | None
    event_id: str | None
    completed_at: datetime | None
    had_faulty_ledger: bool | None


def ledgers(
    tables: TableSet, verdict: str | None, namespace: str | None, name: str | None, paging: Paging
) -> Page[LedgerCheck]:
    """Ledgers, the newest first."""
    conditions = Conditions()
    conditions.equal("verdict", verdict)
    conditions.equal("job_namespace", namespace)
    conditions.equal("job_name", name)
    columns = ", ".join(LedgerCheck.model_fields)
    query = f"SELECT {columns}, coalesce(stated_at, {_NEVER}) AS stated FROM ledger_checks {conditions.where}"
    found = page(tables, query, conditions.parameters, KEYS, paging)
    items = [LedgerCheck(**{name: row[name] for name in LedgerCheck.model_fields}) for row in found.rows]
    return Page(items=items, next_cursor=found.next_cursor, sql=found.sql)
