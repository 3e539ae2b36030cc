"""`/events/lineage`: the events of runs as they were sent."""

from typing import Any

from lineproof.serving.answers.facets import parsed
from lineproof.serving.api.marquez.ask import Ask, Refusal
from lineproof.serving.api.marquez.values import Document, embedded

_CONDITION = "kind = 'RUN' AND job_name IS NOT NULL AND run_id IS NOT NULL"
# First the ids of a page, then its events: they are far larger than all else.
_PAGE = """
SELECT event_id, event_time
FROM lineage_events
WHERE {condition}
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
    conditions, values = [_CONDITION], list[Any]()
    for name, comparison in (("before", "event_time < ?"), ("after", "event_time >= ?")):
        moment = ask.time(name)
        if moment:
            conditions.append(comparison)
            values.append(moment)
    if ask.names:
        conditions.append("job_namespace = ?")
        values.append(ask.names[0])
    condition = " AND ".join(conditions)
    sql = _PAGE.format(condition=condition, direction=direction)
    page = ask.tables.query(sql, *values, ask.limit, ask.offset).rows
    count = ask.tables.scalar(f"SELECT count(*) FROM lineage_events WHERE {condition}", *values)  # noqa: S608
    return {"events": _in_order(ask, page), "totalCount": count}


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
