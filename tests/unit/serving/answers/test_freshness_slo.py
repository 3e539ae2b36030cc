"""The share of minutes in which a dataset was fresh."""

from datetime import datetime, timedelta, timezone
from random import Random

import pytest

from lineproof.serving.answers.freshness_slo import LoadHistory, fresh_shares

NOW = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
HOUR_MS = 3_600_000


def shares(
    *hours_ago: float, limit_hours: float | None = 1, missing: float | None = None, known: bool = True
) -> tuple[float, float, float]:
    """Hours of the last day in which it was fresh, late, unknown."""
    loads = sorted(NOW - hours * HOUR for hours in hours_ago)
    limit_ms = None if limit_hours is None else round(limit_hours * HOUR_MS)
    history = LoadHistory(loads, limit_ms, None if missing is None else NOW - missing * HOUR, known)
    day = fresh_shares(history, NOW)[0]
    return round(day.fresh * 24, 6), round(day.late * 24, 6), round(day.unknown * 24, 6)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (shares(), (0, 0, 24)),
        (shares(1, limit_hours=None), (0, 0, 24)),
        (shares(30), (0, 24, 0)),
        (shares(24.5), (0.5, 23.5, 0)),
        (shares(10), (1, 9, 14)),
        (shares(30, 10), (1, 23, 0)),
        (shares(10.5, 10), (1.5, 9, 13.5)),
        (shares(30, 10, missing=20), (1, 9, 14)),
        (shares(30, 10, missing=5), (1, 14, 9)),
        (shares(30, 10, known=False), (1, 14, 9)),
        (shares(30, 10, missing=-5), (1, 14, 9)),
        (shares(30, -5), (0, 24, 0)),
        (shares(0), (0, 0, 24)),
    ],
)
def test_hours(found: tuple[float, ...], expected: tuple[float, ...]) -> None:
    assert found == expected


def test_shares_are_those_of_every_minute() -> None:
    """Counted minute by minute, for random loads."""
    chance = Random(27)
    for _ in range(10):
        minutes = sorted(chance.sample(range(-60, 2 * 1440), chance.randint(1, 40)), reverse=True)
        loads, limit = [NOW - timedelta(minutes=minute) for minute in minutes], chance.randint(1, 300)
        day = fresh_shares(LoadHistory(loads, limit * 60_000, None, True), NOW)[0]
        counted = {"fresh": 0, "late": 0, "unknown": 0}
        for ago in range(1, 1441):  # the minute that begins so long ago
            before = [minute - ago for minute in minutes if minute >= ago]
            counted["unknown" if not before else "fresh" if min(before) < limit else "late"] += 1
        assert (day.fresh, day.late, day.unknown) == pytest.approx([number / 1440 for number in counted.values()])
