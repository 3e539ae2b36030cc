"""`/stats`: events by hour of the last day or by day of the last week, and how many jobs and datasets there were."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

from lineproof.serving.api.marquez.ask import Ask, Refusal
from lineproof.serving.api.marquez.dataset_index import dataset_index
from lineproof.serving.api.marquez.job_index import job_index
from lineproof.serving.api.marquez.tags_sources import source_index
from lineproof.serving.api.marquez.values import Document, known_time, time_text

HOURS, DAYS = 24, 7
_TYPES = {"START": "start", "COMPLETE": "complete", "FAIL": "fail", "ABORT": "abort"}
_QUARTER_S = 900
"""Time zones differ by quarters of an hour."""
_EVENTS = f"""
SELECT CAST(floor(epoch(event_time) / {_QUARTER_S}) AS BIGINT) AS quarter, event_type, count(*)
FROM lineage_events
WHERE event_time >= ? AND event_time < ? AND kind = 'RUN'
GROUP BY ALL
"""  # noqa: S608
Now = Callable[[], datetime]


def intervals(ask: Ask, now: datetime) -> list[tuple[datetime, datetime]]:
    """The hours of the last day, or the days of the last week in the time zone that is asked for."""
    zone, period = _zone(ask.text("timezone", "UTC")), ask.text("period", "DAY").upper()
    if period not in ("DAY", "WEEK"):
        raise Refusal(400, "period must be DAY or WEEK.", f"It was {period[:50]!r}.")
    if period == "DAY":
        last = now.replace(minute=0, second=0, microsecond=0)
        starts = [last - timedelta(hours=back) for back in range(HOURS - 1, -2, -1)]
    else:
        today = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        starts = [(today - timedelta(days=back)).astimezone(timezone.utc) for back in range(DAYS - 1, -2, -1)]
    return [*pairwise(starts)]


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise Refusal(400, "timezone must be a name such as Europe/Berlin.", f"It was {name[:50]!r}.") from error


def lineage_events(ask: Ask) -> list[Document]:
    """`/stats/lineage-events`: events of runs by type."""
    parts = intervals(ask, _now())
    begins = [begin for begin, _ in parts]
    counts: Counter[tuple[int, str]] = Counter()
    for quarter, event_type, count in ask.tables.query(_EVENTS, begins[0], parts[-1][1]).rows:
        at = bisect_right(begins, datetime.fromtimestamp(quarter * _QUARTER_S, timezone.utc)) - 1
        counts[max(at, 0), event_type] += count
    return [
        {**_ends(part), **{name: counts[number, type_] for type_, name in _TYPES.items()}}
        for number, part in enumerate(parts)
    ]


def jobs(ask: Ask) -> list[Document]:
    """`/stats/jobs`."""
    return _existing(ask, [job.created_at for job in job_index(ask.tables)])


def datasets(ask: Ask) -> list[Document]:
    """`/stats/datasets`."""
    return _existing(ask, [dataset.created_at for dataset in dataset_index(ask.tables).ordered])


def sources(ask: Ask) -> list[Document]:
    """`/stats/sources`."""
    return _existing(ask, [source.created_at for source in source_index(ask.tables).values()])


def _existing(ask: Ask, times: list[datetime | None]) -> list[Document]:
    """How many of them there were at the end of each interval."""
    made = sorted(known_time(moment) for moment in times)
    return [{**_ends(part), "count": bisect_left(made, known_time(part[1]))} for part in intervals(ask, _now())]


def _ends(part: tuple[datetime, datetime]) -> Document:
    return {"startInterval": time_text(part[0]), "endInterval": time_text(part[1])}


def _now() -> datetime:
    return datetime.now(timezone.utc)
