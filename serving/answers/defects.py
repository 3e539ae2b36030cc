"""Which producers send events with which defects."""

from datetime import datetime
from typing import Any

from lineproof.schemas.defects import Defect
from lineproof.serving.answers.model import Answer, Page
from lineproof.serving.answers.paging import Paging, slice_of
from lineproof.serving.answers.statement import one_of
from lineproof.serving.open_tables import TableSet

SQL = "SELECT * FROM defects ORDER BY events DESC, producer, defect"
MAX_EXAMPLE = 20_000


class ProducerDefect(Answer):
    """A defect of one producer's events."""

    producer: str
    defect: str
    meaning: str
    effect: str
    remedy: str
    events: int
    first_at: datetime
    last_at: datetime
    example_event_id: str
    example: str | None
    """The JSON of the latest event with it; its beginning, if it is very long."""


def defects(tables: TableSet, paging: Paging) -> Page[ProducerDefect]:
    """Defects, the most frequent first."""
    found = tables.derived("defects", ("lineage_events",), lambda now: now.rows(SQL))
    rows, cursor = slice_of(found, paging)
    return Page(items=_with_examples(tables, rows), next_cursor=cursor, sql=SQL)


def _with_examples(tables: TableSet, rows: list[dict[str, Any]]) -> list[ProducerDefect]:
    ids = sorted({row["example_event_id"] for row in rows})
    times = [row["first_at"] for row in rows], [row["last_at"] for row in rows]
    examples: dict[str, str] = {}
    if ids:
        found = tables.query(
            f"SELECT event_id, event[1:{MAX_EXAMPLE}] FROM lineage_events "
            f"WHERE {one_of('event_id', ids)} AND event_time >= ? AND event_time <= ?",
            *(*ids, min(times[0]), max(times[1])),
        )
        examples = dict(found.rows)
    return [_defect(row, examples.get(row["example_event_id"])) for row in rows]


def _defect(row: dict[str, Any], example: str | None) -> ProducerDefect:
    try:
        defect = Defect.of(row["defect"])
        meaning, effect, remedy = defect.meaning, defect.effect, defect.remedy
    except StopIteration:  # of a newer release
        meaning, effect, remedy = row["defect"], "", "Upgrade lineproof: this version does not know the defect."
    return ProducerDefect(meaning=meaning, effect=effect, remedy=remedy, example=example, **row)
