"""The events of a run in order, with how often and how late each arrived."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineproof.serving.answers.facets import parsed
from lineproof.serving.answers.model import Answer
from lineproof.serving.answers.statement import one_of
from lineproof.serving.open_tables import TableSet

MAX_EVENTS = 500
_LEDGERS = {"cdme_accountingLedger", "cdme.accountingLedger"}
_CERTIFICATES = {"cdme_fidelityCertificate", "cdme.fidelityCertificate"}
_NAMED = 3

EVENTS = """
SELECT {columns} FROM lineage_events
WHERE run_id = ? AND event_time >= ? AND event_time <= ? AND kind = 'RUN'
ORDER BY event_time DESC, event_id DESC
LIMIT {limit}
"""
_COLUMNS = """
event_id, event_type, event_time, producer, error_message, inputs, outputs,
json_keys(event, '$.run.facets') AS facets, event->'$.run.facets.cdme_runManifest' AS manifest
"""


class TimelineEvent(Answer):
    """An event of a run."""

    event_id: str
    event_type: str | None
    event_time: datetime
    first_came_at: datetime | None
    """Kafka timestamp of its first record."""
    late_ms: int | None
    """From the event's time to its first record; negative if the producer's clock is ahead."""
    copies: int
    producer: str | None
    error_message: str | None
    says: str
    """What it states, in a few words."""


@dataclass(frozen=True)
class Timeline:
    """The latest events, oldest first."""

    events: list[TimelineEvent]
    records: list[dict[str, Any]]
    manifest: Any
    is_complete: bool


def events_of(tables: TableSet, run: dict[str, Any], columns: str, limit: int) -> list[dict[str, Any]]:
    """The latest events of a run, oldest first. The times of the run say which files can have them."""
    bounds = (run["run_id"], run["first_event_at"], run["last_event_at"])
    return tables.rows(EVENTS.format(columns=columns, limit=limit), *bounds)[::-1]


def timeline(tables: TableSet, run: dict[str, Any]) -> Timeline:
    """The timeline of a run."""
    rows = events_of(tables, run, _COLUMNS, MAX_EVENTS + 1)
    shown = rows[-MAX_EVENTS:]
    records = _records(tables, run, shown, is_complete=len(rows) == len(shown))
    arrivals: dict[str, list[datetime]] = {}
    for record in records:
        arrivals.setdefault(record["event_id"], []).append(record["timestamp"])
    return Timeline(
        [_event(row, arrivals.get(row["event_id"], [])) for row in shown],
        records,
        next((parsed(row["manifest"]) for row in reversed(shown) if row["manifest"]), None),
        len(rows) == len(shown),
    )


def _records(
    tables: TableSet, run: dict[str, Any], events: list[dict[str, Any]], *, is_complete: bool
) -> list[dict[str, Any]]:
    """The records of these events. Those of earlier releases have no event_time, by which fewer rows are read."""
    event_ids = [] if is_complete else [event["event_id"] for event in events]
    of_run = "SELECT event_id, timestamp, emitter_id, sequence FROM records WHERE run_id = ? AND reason IS NULL"
    query = of_run + (f" AND {one_of('event_id', event_ids)}" if event_ids else "")
    parameters = (run["run_id"], *event_ids)
    if not events:
        return []
    timed = f"{query} AND event_time >= ? AND event_time <= ?"
    found = tables.rows(timed, *parameters, events[0]["event_time"], events[-1]["event_time"])
    has_all = {event["event_id"] for event in events} <= {record["event_id"] for record in found}
    return found if has_all else tables.rows(query, *parameters)


def _event(row: dict[str, Any], arrivals: list[datetime]) -> TimelineEvent:
    came_at = min(arrivals, default=None)
    return TimelineEvent(
        first_came_at=came_at,
        late_ms=round((came_at - row["event_time"]).total_seconds() * 1000) if came_at else None,
        copies=len(arrivals),
        says=_says(row),
        **{name: row[name] for name in ("event_id", "event_type", "event_time", "producer", "error_message")},
    )


def _says(row: dict[str, Any]) -> str:
    facets = {*(row["facets"] or ())}
    parts = [
        _datasets("input", row["inputs"]),
        _datasets("output", row["outputs"]),
        "ledger" if facets & _LEDGERS else "",
        "certificate" if facets & _CERTIFICATES else "",
        "error" if row["error_message"] else "",
    ]
    return "; ".join(part for part in parts if part)


def _datasets(word: str, datasets: list[dict[str, Any]] | None) -> str:
    if not datasets:
        return ""
    named = [_dataset(one) for one in datasets[:_NAMED]]
    more = f" and {len(datasets) - _NAMED} more" if len(datasets) > _NAMED else ""
    return f"{word}{'s' if len(datasets) > 1 else ''} {', '.join(named)}{more}"


def _dataset(dataset: dict[str, Any]) -> str:
    count = dataset.get("row_count")
    rows = "" if count is None else f" ({count:,} row{'' if count == 1 else 's'})"
    return f"{dataset['name']}{rows}"
