"""`/events/lineage`: the events of runs as they were sent."""

from typing import Any

from lineproof.serving.answers.facets import parsed
from lineproof.serving.api.marquez.ask import Ask, Refusal
from lineproof.serving.api.marquez.values import Document, embedded
from lineproof.serving.open_tables import TableSet

_OF_RUNS = "kind = 'RUN'"
# First the time of the last event of the page, then the ids of the page, then its events: each is read for fewer rows.
_PAGE = """
WITH bound AS (
    SELECT {furthest}(event_time) AS event_time
    FROM (SELECT event_time FROM lineage_events WHERE {condition} ORDER BY event_time {direction} LIMIT ?)
)
SELECT event_id, event_time
FROM lineage_events
WHERE {condition} AND event_time {comparison} (SELECT event_time FROM bound)
ORDER BY event_time {direction}, event_id {direction}
LIMIT ? OFFSET ?
"""
_EVENTS = """
SELECT event_id, event
FROM lineage_events
WHERE event_time >= ? AND event_time <= ? AND event_id IN (SELECT unnest(?))
"""


def events(ask: Ask) -> Document:
    """The latest first, unless `sortDirection=asc`. Only events of runs: pages break on others."""
    direction = ask.text("sortDirection", "desc").upper()
    if direction not in ("ASC", "DESC"):
        raise Refusal(400, "sortDirection must be asc or desc.", f"It was {direction[:50]!r}.")
    condition, values = _condition(ask)
    furthest, comparison = ("max", "<=") if direction == "ASC" else ("min", ">=")
    sql = _PAGE.format(condition=condition, direction=direction, furthest=furthest, comparison=comparison)
    page = ask.tables.query(sql, *values, ask.page.stop, *values, ask.limit, ask.offset).rows
    return {"events": _in_order(ask, page), "totalCount": _count(ask.tables, condition, values)}


def _condition(ask: Ask) -> tuple[str, list[Any]]:
    conditions, values = [_OF_RUNS], list[Any]()
    for name, comparison in (("before", "event_time < ?"), ("after", "event_time >= ?")):
        moment = ask.time(name)
        if moment:
            conditions.append(comparison)
            values.append(moment)
    if ask.names:
        conditions.append("job_namespace = ?")
        values.append(ask.names[0])
    return " AND ".join(conditions), values


def _count(tables: TableSet, condition: str, values: list[Any]) -> int:
    sql = f"SELECT count(*) FROM lineage_events WHERE {condition}"  # noqa: S608
    if values:
        return int(tables.scalar(sql, *values))
    return tables.derived("marquez events", ("lineage_events",), lambda current: int(current.scalar(sql)))


def _in_order(ask: Ask, page: list[tuple[Any, ...]]) -> list[Any]:
    if not page:
        return []
    times, ids = sorted(row[1] for row in page), [row[0] for row in page]
    by_id = dict(ask.tables.query(_EVENTS, times[0], times[-1], ids).rows)
    return [embedded(by_id[id_]) for id_ in ids if id_ in by_id and _is_shown(by_id[id_])]


def _is_shown(text: str) -> bool:
    """Whether the event has what a page reads. It may be missing where a facet or a name has a defect."""
    event = parsed(text)
    if not isinstance(event, dict):
        return False
    run, job = event.get("run"), event.get("job")
    return isinstance(run, dict) and "runId" in run and isinstance(job, dict) and "name" in job
