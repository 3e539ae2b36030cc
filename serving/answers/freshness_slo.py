"""The share of minutes in which a dataset was fresh, late, or in which nobody knows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from lineproof.serving.answers.model import Answer

DAYS = (1, 7, 30)


class FreshShare(Answer):
    """Shares of the last days. They add up to 1."""

    days: int
    fresh: float
    late: float
    unknown: float


@dataclass(frozen=True)
class LoadHistory:
    """The loads of one dataset, the earliest first, and the limit of today, which counts for the past, too."""

    loads: Sequence[datetime]
    limit_ms: int | None
    missing_until: datetime | None
    """Between the last load before then and the next one, it is not known whether the dataset was late."""
    is_known_now: bool
    """Whether all events up to now are in the tables."""


def fresh_shares(history: LoadHistory, now: datetime) -> list[FreshShare]:
    """Over 1, 7 and 30 days."""
    return [_share(history, now, days) for days in DAYS]


def _share(history: LoadHistory, now: datetime, days: int) -> FreshShare:
    begin, length = now - timedelta(days=days), timedelta(days=days)
    fresh = late = timedelta()
    loads = [load for load in history.loads if load <= now] if history.limit_ms is not None else []
    for load, until in pairwise([*loads, now]):
        ends = min(load + timedelta(milliseconds=history.limit_ms or 0), until)
        fresh += _overlap(load, ends, begin)
        is_last, missing = until is now, history.missing_until
        is_unknown = missing is not None and missing > load and (missing <= until or is_last)
        is_unknown |= is_last and not history.is_known_now
        late += timedelta() if is_unknown else _overlap(ends, until, begin)
    return FreshShare(
        days=days, fresh=fresh / length, late=late / length, unknown=max(0.0, 1 - (fresh + late) / length)
    )


def _overlap(start: datetime, end: datetime, begin: datetime) -> timedelta:
    """The part of a time span after the begin."""
    return max(end - max(start, begin), timedelta())
