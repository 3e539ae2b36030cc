"""Durations such as `10s` or `7d`, and times given as how long ago or when: parsed here only."""

import re
from datetime import datetime, timedelta, timezone
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from lineproof.schemas.errors import LineproofError

AVAILABLE_NOW = "available-now"
"""The trigger of a job that catches up and stops, instead of an interval."""

_DURATION = re.compile(r"\s*(?P<number>\d{1,9})\s*(?P<unit>ms|s|m|h|d)\s*")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class InvalidTime(LineproofError):
    """A text that is neither a duration nor a time."""

    exit_code = 2


class Duration(str):
    """A number and a unit: `500ms`, `10s`, `5m`, `2h`, `7d`.

    It is a string, so that settings are printed and compared as they were written.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> "Duration":
        """Refuse every text that is not a duration."""
        if not _DURATION.fullmatch(text):
            raise ValueError(f"{text!r} is not a duration: use a number and a unit, such as 500ms, 10s, 5m, 2h or 7d")
        return super().__new__(cls, text)

    @property
    def timedelta(self) -> timedelta:
        """The duration for date arithmetic."""
        number, unit = self._parts
        return timedelta(**{unit: number})

    @property
    def seconds(self) -> float:
        """The whole duration in seconds."""
        return self.timedelta.total_seconds()

    @property
    def spark(self) -> str:
        """The duration as a Spark trigger interval: `10 seconds`."""
        number, unit = self._parts
        return f"{number} {unit}"

    @property
    def _parts(self) -> tuple[int, str]:
        match = _DURATION.fullmatch(self)
        assert match, "checked by __new__"  # noqa: S101
        return int(match["number"]), _UNITS[match["unit"]]

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let pydantic parse fields of this type, and write them as plain text."""
        return core_schema.no_info_after_validator_function(
            cls, core_schema.str_schema(), serialization=core_schema.to_string_ser_schema()
        )


def moment(text: str, now: datetime | None = None) -> datetime:
    """The time that `2h` (ago) or `2026-01-31T10:00Z` means; a time without a zone is in UTC."""
    try:
        if _DURATION.fullmatch(text):
            return (now or datetime.now(timezone.utc)) - Duration(text).timedelta
        time = datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", text.strip()))
    except (ValueError, OverflowError) as error:
        raise InvalidTime(
            f"{text} is not a time.", "Say how long ago, as 30m, 2h or 1d; or when, as 2026-01-31T10:00Z."
        ) from error
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def approximately(seconds: float) -> str:
    """A duration for people: `42 s`, `12 min`, `3.5 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def utc(seconds: float) -> str:
    """A time in seconds since 1970 for people."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
