"""Moments as people write them."""

from datetime import datetime, timezone

import pytest

from lineproof.schemas.durations import NoMoment, moment

NOW = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)


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
def test_how_long_ago_or_when(text: str, iso: str) -> None:
    assert moment(text, NOW).isoformat() == iso


@pytest.mark.parametrize("text", ["", "yesterday", "2", "2w", "-1h", "999999d", "2026-13-01", "h"])
def test_what_is_no_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(NoMoment) as raised:
        moment(text, NOW)
    assert raised.value.exit_code == 2
    assert "2h" in raised.value.remedy
