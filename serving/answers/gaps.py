"""What never arrived: holes in the archive, and in the numbers of emitters."""

from datetime import datetime

from lineproof.serving.answers.emitter_gaps import gaps as emitter_gaps
from lineproof.serving.answers.model import Answer
from lineproof.serving.open_tables import TableSet

MAX_GAPS = 1000
ARCHIVE_SQL = "SELECT * FROM archive_gaps ORDER BY topic, partition, first_missing"
EMITTERS_SQL = "SELECT * FROM emitter_gaps ORDER BY emitter_id, first_missing"
# The view compares each offset with the one before. Most partitions have no hole, and counting shows that sooner.
_RANGES = """
SELECT topic, partition, min(archive.offset) AS first_offset, max(archive.offset) AS last_offset,
    count(DISTINCT archive.offset) AS records
FROM archive GROUP BY topic, partition
"""


class ArchiveGap(Answer):
    """Offsets that the archive does not have."""

    topic: str
    partition: int
    first: int
    last: int | None
    missing: int | None
    cause: str
    extent: list[int]
    """The first and the last offset of the partition that are known."""


class EmitterGap(Answer):
    """Numbers of an emitter that never arrived."""

    emitter_id: str
    first_missing: int
    last_missing: int
    missing: int
    opened_at: datetime | None
    extent: list[int]


class Gaps(Answer):
    """All of them."""

    archive: list[ArchiveGap]
    emitters: list[EmitterGap]
    is_complete: bool
    """False if there are more than are shown."""
    sql: str = f"{ARCHIVE_SQL}; {EMITTERS_SQL}"


def gaps(tables: TableSet) -> Gaps:
    """Gaps of the archive by partition and offset, and of emitters, the newest first."""
    archive = tables.derived("archive gaps", ("archive", "accepted_losses"), _archive_gaps)
    emitters = emitter_gaps(tables)
    return Gaps(
        archive=archive[:MAX_GAPS],
        emitters=[
            EmitterGap(
                extent=[0, one.extent],
                **{name: getattr(one, name) for name in EmitterGap.model_fields if name != "extent"},
            )
            for one in emitters[:MAX_GAPS]
        ],
        is_complete=len(archive) <= MAX_GAPS and len(emitters) <= MAX_GAPS,
    )


def _archive_gaps(tables: TableSet) -> list[ArchiveGap]:
    extents = {
        (topic, partition): (last, last + 1 > records)
        for topic, partition, _, last, records in tables.query(_RANGES).rows
    }
    losses = tables.scalar("SELECT count(*) FROM accepted_losses")
    if not losses and not any(has_holes for _, has_holes in extents.values()):
        return []
    return [
        ArchiveGap(
            topic=row["topic"],
            partition=row["partition"],
            first=row["first_missing"],
            last=row["last_missing"],
            missing=row["missing"],
            cause=row["cause"],
            extent=[0, max(extents.get((row["topic"], row["partition"]), (0, False))[0], row["last_missing"])],
        )
        for row in tables.rows(ARCHIVE_SQL)
    ]
