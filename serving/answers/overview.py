"""The overview: whether the lineage can be trusted right now, with the numbers behind the answer."""

from datetime import datetime
from typing import Any

from lineproof.serving.answers.changes import Change, changes
from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.lag import Lag, lag
from lineproof.serving.answers.model import Answer, Trust
from lineproof.serving.answers.tiles import Tile, affected_datasets, tiles
from lineproof.serving.open_tables import TableSet

QUESTION = "Can the lineage be trusted right now?"
_COUNTED = {"runs": "runs", "events": "lineage_events", "datasets": "datasets", "jobs": "jobs"}
_MINUTES = 60

_NEWEST = "SELECT max(event_time) AS newest FROM lineage_events"
_EVENTS = """
SELECT date_trunc('minute', event_time) AS at, count(*) AS events
FROM lineage_events WHERE event_time > ?::TIMESTAMPTZ - INTERVAL 60 MINUTE AND event_time <= ?::TIMESTAMPTZ
GROUP BY 1 ORDER BY 1
"""
_SEEN_AFTER = """
SELECT date_trunc('minute', event_time) AS at,
    quantile_cont(epoch_ms(timestamp) - epoch_ms(event_time), 0.95) / 1000.0 AS seconds
FROM records
WHERE reason IS NULL AND event_time > ?::TIMESTAMPTZ - INTERVAL 60 MINUTE AND event_time <= ?::TIMESTAMPTZ
GROUP BY 1 ORDER BY 1
"""


class Minute(Answer):
    """How many events there were in a minute."""

    at: datetime
    events: int


class Delay(Answer):
    """How late 95 % of a minute's events reached the topic."""

    at: datetime
    seconds: float


class Overview(Answer):
    """The answer to the question, and what it rests on."""

    question: str
    trust: Trust
    answer: str
    detail: str
    counts: dict[str, int]
    tiles: list[Tile]
    events_per_minute: list[Minute]
    seen_after_p95: list[Delay]
    changes: list[Change]


def overview(tables: TableSet, installation: Installation) -> Overview:
    """The overview of one state of the tables."""
    counts = {name: row_count(tables, table) for name, table in _COUNTED.items()}
    newest: datetime | None = tables.scalar(_NEWEST, default=None)
    behind = lag(installation) if tables.known.how == "now" else None
    shown = tiles(tables, installation, behind)
    trust, answer = _answer(tables, counts, shown, behind)
    return Overview(
        question=QUESTION if tables.known.at is None else "Could the lineage be trusted then?",
        trust=trust,
        answer=answer,
        detail=_detail(counts, behind, newest),
        counts=counts,
        tiles=shown,
        events_per_minute=[Minute(**row) for row in _per_minute(tables, _EVENTS, newest)],
        seen_after_p95=[Delay(**row) for row in _per_minute(tables, _SEEN_AFTER, newest)],
        changes=changes(tables, installation),
    )


def row_count(tables: TableSet, table: str) -> int:
    """The rows of a table. They are in its log, unless only those of a time count."""
    if tables.known.how == "event time":
        return int(tables.scalar(f"SELECT count(*) FROM {table}"))
    snapshot = tables.snapshots.get(table)
    return sum(file.rows for file in snapshot.files) if snapshot else 0


def _per_minute(tables: TableSet, query: str, newest: datetime | None) -> list[dict[str, Any]]:
    return tables.rows(query, newest, newest) if newest else []


def _answer(tables: TableSet, counts: dict[str, int], shown: list[Tile], behind: Lag | None) -> tuple[Trust, str]:
    if not counts["events"]:
        return "unknown", "nothing has arrived yet"
    violations = int(next(tile.value for tile in shown if tile.id == "violations").replace(",", ""))
    if violations:
        return "broken", _but_for(tables, violations)
    unproven = next(tile for tile in shown if tile.id == "unknown")
    if behind and behind.trust != "proven":
        return "unknown", "what is here holds, but newer events may be missing"
    if unproven.trust == "unknown":
        return "unknown", f"nothing contradicts it, but {unproven.value} runs have no proof"
    return "proven", "yes"


def _but_for(tables: TableSet, violations: int) -> str:
    datasets, is_all = affected_datasets(tables)
    if is_all and datasets:
        return f"yes, but for {datasets:,} dataset{'' if datasets == 1 else 's'}"
    return f"not all of it: {violations:,} violation{'s stand' if violations > 1 else ' stands'}"


def _detail(counts: dict[str, int], behind: Lag | None, newest: datetime | None) -> str:
    counted = ", ".join(f"{number:,} {_word(name, number)}" for name, number in counts.items() if name != "jobs")
    parts = [counted]
    if behind:
        parts.append(behind.text)
    if newest and behind and behind.trust != "proven":
        parts.append(f"newest event {newest:%Y-%m-%d %H:%M} UTC")
    return " · ".join(parts)


def _word(name: str, number: int) -> str:
    return name.removesuffix("s") if number == 1 else name
