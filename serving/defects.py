"""What is wrong with the events of each producer, with the remedy, and an example to send to its maintainers."""

from dataclasses import dataclass
from datetime import datetime

from lineproof.schemas.defects import Defect
from lineproof.schemas.errors import LineproofError, suggest
from lineproof.serving.sql import Tables

_DEFECTS = "SELECT producer, defect, events, first_at, last_at, example_event_id FROM defects"


class UnknownDefect(LineproofError):
    """No event can have this defect."""

    exit_code = 2


@dataclass(frozen=True)
class ProducerDefect:
    """A defect of one producer's events."""

    producer: str
    defect: Defect
    events: int
    first_at: datetime
    last_at: datetime
    example: str
    """The id of an event that has it."""


def defects(tables: Tables, code: str | None = None) -> list[ProducerDefect]:
    """The defects of all producers, the most frequent ones first; of one kind, if a code is given."""
    codes = [defect.value for defect in Defect]
    if code is not None and code not in codes:
        raise UnknownDefect(f"There is no defect {code}.", suggest(code, codes))
    condition, parameters = ("WHERE defect = ?", [code]) if code else ("", [])
    rows = tables.query(f"{_DEFECTS} {condition} ORDER BY events DESC, producer, defect", *parameters).rows
    return [ProducerDefect(row[0], Defect.of(row[1]), *row[2:]) for row in rows]


def example(tables: Tables, found: ProducerDefect) -> str:
    """The JSON of an event that has the defect."""
    [(event,)] = tables.query("SELECT event FROM lineage_events WHERE event_id = ?", found.example).rows
    return str(event)
