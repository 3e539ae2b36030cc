"""What a request asks for: the names in its path, its parameters, and the tables that answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone

from lineproof.serving.open_tables import TableSet

MAX_LIMIT = 1000
MAX_OFFSET = 100_000
DEFAULT_LIMIT = 100


class Refusal(Exception):
    """The answer is an error."""

    def __init__(self, status: int, message: str, details: str) -> None:
        super().__init__(message)
        self.status, self.message, self.details = status, message, details


def not_found(what: str) -> Refusal:
    """There is no such thing."""
    return Refusal(404, f"{what} not found.", "Jobs and datasets appear a little later than runs. Names are exact.")


@dataclass(frozen=True)
class Ask:
    """One request."""

    tables: TableSet
    names: tuple[str, ...]
    parameters: Mapping[str, list[str]]
    plain_parameters: Mapping[str, list[str]]
    """The same where a plus is a plus. Pages do not encode all that they send."""

    def plain(self, name: str) -> str:
        """A parameter in which a plus is not a space."""
        return next(iter(self.plain_parameters.get(name, ())), "")

    def text(self, name: str, default: str = "") -> str:
        """A parameter; `default` if it is absent or empty."""
        return next(iter(self.parameters.get(name, ())), "") or default

    def texts(self, name: str) -> list[str]:
        """A parameter that can be repeated."""
        return [value for value in self.parameters.get(name, ()) if value]

    def flag(self, name: str) -> bool:
        """Python's clients write True."""
        return self.text(name).lower() == "true"

    def number(self, name: str, default: int, highest: int) -> int:
        """A parameter that is a natural number."""
        text = self.text(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise Refusal(400, f"{name} must be a natural number.", f"It was {text[:50]!r}.")
        return min(int(text), highest)

    @property
    def limit(self) -> int:
        """How many elements of a list are asked for."""
        return self.number("limit", DEFAULT_LIMIT, MAX_LIMIT)

    @property
    def offset(self) -> int:
        """How many elements of a list are left out at its beginning."""
        return self.number("offset", 0, MAX_OFFSET)

    @property
    def page(self) -> slice:
        """The elements of a list that are asked for."""
        return slice(self.offset, self.offset + self.limit)

    def time(self, name: str) -> datetime | None:
        """A parameter that is a time or a day."""
        text = self.text(name)
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00").replace(" ", "+"))
            aware = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
            return aware.astimezone(timezone.utc)
        except (ValueError, OverflowError) as error:
            raise Refusal(
                400, f"{name} must be a time.", f"It was {text[:50]!r}; 2026-01-31T10:00:00Z is one."
            ) from error
