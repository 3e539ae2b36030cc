"""Events that were lost between an emitter and the archive: gaps in its sequence numbers."""

from dataclasses import dataclass
from datetime import datetime

from lineproof.serving.answers.statement import one_of
from lineproof.serving.open_tables import TableSet

_WITH_GAPS = """
SELECT emitter_id FROM records WHERE emitter_id IS NOT NULL
GROUP BY emitter_id HAVING max(sequence) + 1 > count(DISTINCT sequence)
"""
_GAPS = """
SELECT gaps.emitter_id, gaps.first_missing, gaps.last_missing, gaps.missing, after.timestamp AS opened_at, ends.extent
FROM emitter_gaps AS gaps
LEFT JOIN (SELECT emitter_id, sequence, min(timestamp) AS timestamp FROM records WHERE {chosen} GROUP BY ALL) AS after
    ON after.emitter_id = gaps.emitter_id AND after.sequence = gaps.last_missing + 1
LEFT JOIN (SELECT emitter_id, max(sequence) AS extent FROM records WHERE {chosen} GROUP BY ALL) AS ends
    ON ends.emitter_id = gaps.emitter_id
WHERE gaps.{chosen}
ORDER BY opened_at DESC, gaps.emitter_id, gaps.first_missing
"""
MAX_EMITTERS = 1000


@dataclass(frozen=True)
class Gap:
    """Sequence numbers of one emitter that never arrived."""

    emitter_id: str
    first_missing: int
    last_missing: int
    missing: int
    opened_at: datetime | None
    """When the event after the gap arrived."""
    extent: int
    """The greatest number that arrived."""


def gaps(tables: TableSet) -> list[Gap]:
    """All gaps, the newest first, made again when more records have arrived."""
    return tables.derived("emitter gaps", ("records",), _gaps)


def _gaps(tables: TableSet) -> list[Gap]:
    # Most emitters have no gap, and to compare each number with the one before takes much longer than to count.
    emitters = [row[0] for row in tables.query(_WITH_GAPS).rows][:MAX_EMITTERS]
    if not emitters:
        return []
    query = _GAPS.format(chosen=one_of("emitter_id", emitters))
    return [Gap(**row) for row in tables.rows(query, *emitters * 3)]
