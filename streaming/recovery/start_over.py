"""Remove what is made from the archive, so that the next start of the job makes it again."""

from collections.abc import Callable

from pyspark.sql import SparkSession

from lineproof.schemas.tables import CURATE, FORMER, GRAPH, KEPT
from lineproof.streaming.config import JobConfig
from lineproof.streaming.delta.private_api.directory import Directory
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.ingest import Ingest
from lineproof.streaming.recovery.topic import format_ranges
from lineproof.streaming.tables import archive
from lineproof.streaming.tables.registry import TABLES


def start_over(spark: SparkSession, config: JobConfig, say: Callable[[str], None]) -> None:
    """Remove the checkpoints of curate and graph, and then the derived tables, if the archive is in order.

    After a crash, repeat it. Without it, a start of the job is then refused, because tables are left that were written
    from checkpoints that are gone.
    """
    Ingest(spark, config.ingest).prepare()
    root, checkpoints = config.curate.tables.rstrip("/"), config.curate.checkpoints.rstrip("/")
    tables = TableReader(spark, root)
    derived = {table.name: tables.path(table) for table in TABLES if table.name not in KEPT}
    places = {
        **{f"checkpoint {name}": f"{checkpoints}/{name}" for name in (GRAPH, CURATE)},
        **derived,
        **{name: f"{root}/{name}" for name in FORMER},
    }
    removed = [name for name, path in places.items() if _remove(spark, path)]
    count, extent = tables.read(archive.TABLE).count(), archive.extent(tables)
    say(f"Removed: {', '.join(removed) or 'nothing'}. Rebuilding from {count} archived records.")
    for topic, offsets in sorted(extent.items()):
        if any(begin for begin, _ in offsets.values()):
            say(f"Older records are not archived, and cannot be rebuilt. Archived: {format_ranges(topic, offsets)}.")


def _remove(spark: SparkSession, path: str) -> bool:
    parent, _, name = path.rpartition("/")
    return Directory(spark, parent).delete(name)
