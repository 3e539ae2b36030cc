"""Evidence about one run from other rows: what its inputs held, and which of its emitters' events are missing."""

from datetime import datetime, timedelta, timezone
from typing import Any

from lineproof.serving.answers.combinations import combinations
from lineproof.serving.answers.emitter_gaps import gaps
from lineproof.serving.answers.model import Answer
from lineproof.serving.answers.statement import one_of
from lineproof.serving.open_tables import TableSet

MAX_INPUTS = 100
_RECENTLY = timedelta(days=2)
"""Most datasets were written since then, and files of earlier runs need not be read."""
_EVER = datetime(1, 1, 1, tzinfo=timezone.utc)
_LAST_WRITES = """
SELECT run_id, ended_at, outputs FROM runs
WHERE successful AND ended_at <= ? AND ended_at > ? AND {of_jobs} AND {of_io}
QUALIFY row_number() OVER (PARTITION BY io_id ORDER BY ended_at DESC, run_id DESC) = 1
"""


class ReconciledInput(Answer):
    """The rows that the run read, and those that the last successful run before it had written."""

    namespace: str
    name: str
    rows_read: int | None
    rows_written_before: int | None
    difference: int | None
    written_by_run: str | None


class EmitterRange(Answer):
    """The events of this run in the numbering of an emitter."""

    emitter_id: str
    first_sequence: int
    last_sequence: int
    missing: int
    """Numbers between these two that never arrived. They may have been of other runs."""


def reconciled_inputs(tables: TableSet, run: dict[str, Any], inputs: list[dict[str, Any]]) -> list[ReconciledInput]:
    """As the view `reconciliation`, for one run: only the runs that write its inputs are read."""
    known = combinations(tables)
    stated = {known.node(one["namespace"], one["name"]): one["row_count"] for one in inputs[:MAX_INPUTS]}
    before = run["started_at"] or run["first_event_at"] or _EVER
    written = _last_writes(tables, max(before, _EVER + _RECENTLY) - _RECENTLY, before, [*stated])
    if others := [node for node in stated if node not in written]:
        written |= _last_writes(tables, _EVER, before, others)
    found = []
    for (namespace, name), rows_read in stated.items():
        _, run_id, rows_written = written.get((namespace, name), (None, None, None))
        is_known = rows_read is not None and rows_written is not None
        found.append(
            ReconciledInput(
                namespace=namespace,
                name=name,
                rows_read=rows_read,
                rows_written_before=rows_written,
                difference=rows_read - rows_written if is_known else None,
                written_by_run=run_id,
            )
        )
    return found


def _last_writes(
    tables: TableSet, since: datetime, before: datetime, nodes: list[tuple[str, str]]
) -> dict[tuple[str, str], tuple[datetime, str, int | None]]:
    """For each dataset, the last successful run that wrote it between these times, and its rows."""
    known = combinations(tables)
    io_ids = sorted({io_id for node in nodes for io_id in known.writing.get(node, ())})
    if not io_ids:
        return {}
    jobs = sorted({name for node in nodes for _, name in known.writers.get(node, ())})
    query = _LAST_WRITES.format(of_jobs=one_of("job_name", jobs), of_io=one_of("io_id", io_ids))
    last: dict[tuple[str, str], tuple[datetime, str, int | None]] = {}
    for row in tables.rows(query, before, since, *jobs, *io_ids):
        for output in row["outputs"] or ():
            node = known.node(output["namespace"], output["name"])
            write = (row["ended_at"], row["run_id"], output["row_count"])
            if node in nodes and (node not in last or last[node][:2] < write[:2]):
                last[node] = write
    return last


def emitters_of(tables: TableSet, records: list[dict[str, Any]]) -> list[EmitterRange]:
    """The emitters of these records, with the numbers that are missing between them."""
    sequences: dict[str, list[int]] = {}
    for record in records:
        if record["emitter_id"] is not None and record["sequence"] is not None:
            sequences.setdefault(record["emitter_id"], []).append(record["sequence"])
    missing = gaps(tables) if sequences else []
    found = []
    for emitter_id, numbers in sorted(sequences.items()):
        first, last = min(numbers), max(numbers)
        between = (
            gap.missing
            for gap in missing
            if gap.emitter_id == emitter_id and first <= gap.first_missing and gap.last_missing <= last
        )
        found.append(
            EmitterRange(emitter_id=emitter_id, first_sequence=first, last_sequence=last, missing=sum(between))
        )
    return found
