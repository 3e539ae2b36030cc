"""When the running job maintains its tables."""

import pytest

from lineproof.streaming.upkeep.maintenance_task import RETRY_AFTER_S, MaintenanceSchedule

HOUR, WEEK = 3_600.0, 604_800.0
NOW = 10 * WEEK


@pytest.mark.parametrize(
    ("since_compact", "since_full", "since_attempt", "due"),
    [
        (HOUR - 1, WEEK - 1, WEEK, []),
        (HOUR, WEEK - 1, WEEK, ["compact"]),
        (HOUR, WEEK, WEEK, ["compact", "all"]),
        (HOUR, WEEK, RETRY_AFTER_S - 1, []),  # the last attempt has just failed
        (HOUR, WEEK, RETRY_AFTER_S, ["compact", "all"]),
    ],
)
def test_maintenance_is_due_after_its_interval(
    since_compact: float, since_full: float, since_attempt: float, due: list[str]
) -> None:
    schedule = MaintenanceSchedule(compact_every_s=HOUR, full_every_s=WEEK)
    last_runs = {"compact": NOW - since_compact, "all": NOW - since_full}
    assert schedule.due(last_runs, NOW - since_attempt, NOW) == due


def test_an_empty_schedule_does_nothing() -> None:
    never = MaintenanceSchedule(compact_every_s=None, full_every_s=None)
    assert not never
    assert never.due({"compact": 0.0, "all": 0.0}, 0.0, NOW) == []
    assert MaintenanceSchedule(compact_every_s=None, full_every_s=WEEK)
