"""Times, run ids and counts as the tables have them, from the texts that producers write."""

import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from tests.model.events import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LAST = datetime.max.replace(tzinfo=timezone.utc)
_TIME = re.compile(r"([1-9]\d{3}-\d\d-\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:?\d\d)?", re.ASCII)
_COUNT = re.compile(r"\d+(\.\d+)?(E\d+)?", re.ASCII)
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")


def run_id(text: str | None) -> str | None:
    """A UUID in lower case, or another text as it is."""
    return text.lower() if text and UUID.fullmatch(text) else text


def instant(text: str | None) -> datetime | None:
    """A point in time, cut to microseconds; after the year 9999, its end."""
    match = _TIME.fullmatch(text or "")
    if not match:
        return None
    day, hour, minute, second, fraction, zone = match.groups()
    try:
        days = (date.fromisoformat(day) - _EPOCH.date()).days
    except ValueError:
        return None
    if int(hour) > 23 or int(minute) > 59 or int(second) > 59:
        return None
    offset = _offset(zone or "Z")
    if offset is None:
        return None
    minutes = (days * 24 + int(hour)) * 60 + int(minute) - offset
    micros = (minutes * 60 + int(second)) * 1_000_000 + int(f"{fraction or 0:0<6}"[:6])
    return _EPOCH + timedelta(microseconds=micros) if micros < (_LAST - _EPOCH) // timedelta(microseconds=1) else _LAST


def _offset(zone: str) -> int | None:
    """Minutes east of Greenwich, at most 18 hours."""
    if zone in "Zz":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if minutes > 59 or hours * 60 + minutes > 18 * 60:
        return None
    return (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)


def zone(text: str) -> str | None:
    """The time zone of a time."""
    match = _TIME.fullmatch(text)
    return match and match[6]


def count(text: str | None) -> int | None:
    """A whole number from 0 to 2^63-1, in any notation."""
    number = Decimal(text) if text and _COUNT.fullmatch(text) else None
    return int(number) if number is not None and number < 2**63 and number == number.to_integral_value() else None


def boolean(stated: str | None) -> bool | None:
    """A boolean in one of Spark's words."""
    text = (stated or "").strip().lower()
    return text in _TRUE if text in (*_TRUE, *_FALSE) else None
