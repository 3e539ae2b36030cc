"""Durations, and times given as how long ago or when."""

from datetime import datetime, timedelta, timezone

import pytest
from pydantic import TypeAdapter, ValidationError

from lineproof.schemas.durations import Duration, InvalidTime, moment

NOW = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "seconds", "spark"),
    [
        ("500ms", 0.5, "500 milliseconds"),
        ("10s", 10, "10 seconds"),
        ("5 m", 300, "5 minutes"),
        ("2h", 7200, "2 hours"),
        (" 7d ", 604800, "7 days"),
        ("0s", 0, "0 seconds"),
    ],
)
def test_a_duration_in_seconds_and_for_spark(text: str, seconds: float, spark: str) -> None:
    duration = Duration(text)
    assert (duration.seconds, duration.spark, duration.timedelta) == (seconds, spark, timedelta(seconds=seconds))
    assert duration == text


@pytest.mark.parametrize("text", ["", "10", "s", "-1s", "1.5h", "1w", "10 seconds", "1h30m", "9999999999d", "²s"])
def test_other_texts_are_not_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration: use a number and a unit, such as 500ms, 10s, 5m, 2h or"):
        Duration(text)


def test_pydantic_parses_durations_and_writes_them_as_text() -> None:
    adapter = TypeAdapter(Duration)
    assert adapter.validate_python("10s").seconds == 10
    assert type(adapter.dump_python(Duration("10s"), mode="json")) is str
    for wrong in ("soon", 10):
        with pytest.raises(ValidationError):
            adapter.validate_python(wrong)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("30m", "2026-01-31T11:30:00+00:00"),
        ("2h", "2026-01-31T10:00:00+00:00"),
        (" 1 d ", "2026-01-30T12:00:00+00:00"),
        ("90s", "2026-01-31T11:58:30+00:00"),
        ("2026-01-31", "2026-01-31T00:00:00+00:00"),
        ("2026-01-31T10:00Z", "2026-01-31T10:00:00+00:00"),
        ("2026-01-31T10:00:00.5+02:00", "2026-01-31T10:00:00.500000+02:00"),
    ],
)
def test_a_time_is_how_long_ago_or_when(text: str, iso: str) -> None:
    assert moment(text, NOW).isoformat() == iso


@pytest.mark.parametrize("text", ["", "yesterday", "2", "2w", "-1h", "999999d", "2026-13-01", "h"])
def test_other_texts_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidTime) as raised:
        moment(text, NOW)
    assert raised.value.exit_code == 2
    assert "2h" in raised.value.remedy
