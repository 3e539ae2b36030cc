"""The events of the model, and the expected rows of `lineage_events`."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineproof.schemas.envelope import Envelope, decode, event_id
from lineproof.schemas.openlineage import parse_instant

Row = dict[str, Any]
UUID = re.compile("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@dataclass(frozen=True)
class Event:
    """An event, its id and time, and the trace id of its envelope."""

    time: datetime
    event_id: str
    document: Row
    trace_id: str | None

    @property
    def version(self) -> tuple[datetime, str]:
        """Orders events: the later time wins, then the greater id."""
        return self.time, self.event_id

    @property
    def run_id(self) -> str | None:
        """A UUID in lower case, as in the tables, or another text as it is."""
        run_id = self.document["run"]["runId"] if "run" in self.document else None
        return run_id.lower() if run_id and UUID.fullmatch(run_id) else run_id

    @property
    def job(self) -> tuple[str, str] | None:
        """Namespace and name."""
        job = self.document.get("job")
        return (job["namespace"], job["name"]) if job else None


def events(values: Iterable[bytes]) -> list[Event]:
    """The event of every record, in the order of `version`."""
    return sorted(map(_event, values), key=lambda event: event.version)


def lineage_events(values: Iterable[bytes]) -> dict[str, str]:
    """JSON by event id."""
    return {event_id(payload): payload.decode() for payload, _ in map(_opened, values)}


def _event(value: bytes) -> Event:
    payload, trace_id = _opened(value)
    document = json.loads(payload)
    return Event(parse_instant(document["eventTime"]), event_id(payload), document, trace_id)


def _opened(value: bytes) -> tuple[bytes, str | None]:
    opened = decode(value)
    return (opened.payload, opened.trace_id) if isinstance(opened, Envelope) else (opened, None)
