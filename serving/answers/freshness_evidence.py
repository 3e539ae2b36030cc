"""What the tables say about loads: the last one of each dataset, and whether later ones may be missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lineproof.serving.answers.combinations import Pair, combinations
from lineproof.serving.answers.emitter_gaps import gaps
from lineproof.serving.answers.statement import one_of
from lineproof.serving.open_tables import TableSet

_LAST = "SELECT namespace, name, max(loaded_at) FROM dataset_loads GROUP BY namespace, name"
_MISSING = "SELECT namespace, name, missing_until FROM missing_evidence"
_LOST = "SELECT count(*) FROM accepted_losses WHERE last_offset IS NULL OR last_offset >= first_offset"
_SINCE = """
SELECT io_id, ended_at FROM runs WHERE {chosen} AND successful AND ended_at >= ?
UNION ALL
SELECT io_id, max(ended_at) FROM runs WHERE {chosen} AND successful AND ended_at < ? GROUP BY io_id
"""


@dataclass(frozen=True)
class Missing:
    """Until when events are missing."""

    of_all: datetime | None
    """Events that could be about any dataset: the topic lost them."""
    of_dataset: dict[Pair, datetime]
    """Events that could be about one dataset: an emitter whose jobs write it lost them."""


def last_load_times(tables: TableSet) -> dict[Pair, datetime]:
    """When each dataset was loaded last."""
    return tables.derived("last load times", ("runs", "dataset_nodes"), _last)


def _last(tables: TableSet) -> dict[Pair, datetime]:
    return {(row[0], row[1]): row[2] for row in tables.query(_LAST, timeout_s=60).rows}


def missing(tables: TableSet) -> Missing:
    """The events that are known to be missing."""
    needed = ("records", "accepted_losses", "runs", "job_io", "dataset_nodes")
    return tables.derived("missing evidence", needed, _missing)


def _missing(tables: TableSet) -> Missing:
    if not gaps(tables) and not tables.scalar(_LOST):
        return Missing(None, {})
    rows = tables.query(_MISSING, timeout_s=60).rows
    of_all = next((until for _, name, until in rows if name is None), None)
    return Missing(of_all, {(namespace, name): until for namespace, name, until in rows if name is not None})


def loads_since(tables: TableSet, nodes: Sequence[Pair], since: datetime) -> dict[Pair, list[datetime]]:
    """The loads of these datasets since then and the last one before, the earliest first."""
    known = combinations(tables)
    io_ids = sorted({io_id for node in nodes for io_id in known.writing.get(node, ())})
    if not io_ids:
        return {}
    query = _SINCE.format(chosen=one_of("io_id", io_ids))
    of_io: dict[str, list[datetime]] = {}
    for io_id, at in tables.query(query, *io_ids, since, *io_ids, since).rows:
        of_io.setdefault(io_id, []).append(at)
    return {
        node: sorted({at for io_id in known.writing.get(node, ()) for at in of_io.get(io_id, ())}) for node in nodes
    }
