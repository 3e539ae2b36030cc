"""Moments as people write them: how long ago, or when."""

import re
from datetime import datetime, timedelta, timezone

from lineproof.schemas.errors import LineproofError

_AGO = re.compile(r"(?P<number>\d{1,6})\s*(?P<unit>[smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class NoMoment(LineproofError):
    """A text that says no time."""

    exit_code = 2


def moment(text: str, now: datetime | None = None) -> datetime:
    """The moment that `2h` (ago) or `2026-01-31T10:00Z` says; without a zone, in UTC."""
    ago = _AGO.fullmatch(text.strip())
    try:
        if ago:
            return (now or datetime.now(timezone.utc)) - timedelta(**{_UNITS[ago["unit"]]: int(ago["number"])})
        said = datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", text.strip()))
    except (ValueError, OverflowError) as error:
        raise NoMoment(
            f"{text} is no time.", "Say how long ago, as 30m, 2h or 1d; or when, as 2026-01-31T10:00Z."
        ) from error
    return said if said.tzinfo else said.replace(tzinfo=timezone.utc)
