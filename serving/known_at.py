"""What was known at a time of which the tables' files are gone: rows chosen by the times in the events.

This is less than the tables of that time: late events count from their own time on, and facets are the latest.
"""

from datetime import datetime

from lineproof.serving.delta_reader import literal

NEEDED = {"job_io": ("runs", "lineage_events")}
"""The tables that a condition reads besides its own."""

_RUNS = """
SELECT * REPLACE (
    CASE WHEN ended_at <= {at} THEN ended_at END AS ended_at,
    CASE WHEN ended_at <= {at} THEN state WHEN started_at <= {at} THEN 'RUNNING' ELSE 'NEW' END AS state,
    successful AND ended_at <= {at} AS successful,
    CASE WHEN ended_at <= {at} THEN duration_ms END AS duration_ms,
    CASE WHEN ledger.event_time <= {at} THEN ledger_verdict END AS ledger_verdict,
    CASE WHEN ledger.event_time <= {at} THEN ledger_difference END AS ledger_difference,
    CASE WHEN ledger.event_time <= {at} THEN ledger END AS ledger,
    CASE WHEN error.event_time <= {at} THEN error END AS error,
    CASE WHEN ended_at <= {at} THEN certificate_verdict END AS certificate_verdict,
    least(last_event_at, {at}) AS last_event_at
)
FROM ({rows}) WHERE first_event_at <= {at}
"""
_CONDITIONS = {
    "accepted_losses": "accepted_at <= {at}",
    "archive": "timestamp <= {at}",
    "certificates": "issued_at IS NULL OR issued_at <= {at}",
    "column_lineage": "first_seen_at <= {at}",
    "dataset_schemas": "first_seen.event_time <= {at}",
    "datasets": "first_seen_at <= {at}",
    "dead_letters": "timestamp <= {at}",
    "job_io": "io_id IN (SELECT io_id FROM runs UNION ALL SELECT io_id FROM lineage_events)",
    "jobs": "first_seen_at <= {at}",
    "lineage_events": "event_time <= {at}",
    "quality_results": "event_time <= {at}",
    "quarantine": "found_at <= {at}",
    "records": "timestamp <= {at}",
}


def at_event_time(table: str, rows: str, at: datetime) -> str:
    """SQL for the rows of a table that events up to this time state."""
    moment = f"{literal(at.isoformat())}::TIMESTAMPTZ"
    if table == "runs":
        return _RUNS.format(rows=rows, at=moment)
    condition = _CONDITIONS.get(table)
    return f"SELECT * FROM ({rows}) WHERE {condition.format(at=moment)}" if condition else rows  # noqa: S608
