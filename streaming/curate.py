"""The queries `curate` and `graph`: the archive into all other tables.

Curate writes what is about single events and runs, and publishes it. Graph reads `lineage_events` and writes jobs,
datasets and lineage: they rarely change, and merging them costs as much as all other tables, so graph runs less often.
"""

from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lineproof.schemas.durations import AVAILABLE_NOW
from lineproof.schemas.tables import CURATE, GRAPH
from lineproof.streaming.config import CurateConfig
from lineproof.streaming.delta.conflicts import retry_on_conflict
from lineproof.streaming.delta.definition import create_table
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter, DryWriter
from lineproof.streaming.parallel import THREADS, in_parallel
from lineproof.streaming.query import Query, prepare_table
from lineproof.streaming.recovery.checkpoint import REBUILD, Checkpoint
from lineproof.streaming.recovery.containment import Containment
from lineproof.streaming.recovery.published import PublishedPosition
from lineproof.streaming.recovery.quarantine import Quarantine
from lineproof.streaming.spark_settings import MAX_BATCH_BYTES
from lineproof.streaming.stages.batch import Batch, open_batch
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.graph import GraphBatch, open_graph_batch
from lineproof.streaming.stages.publish import publish
from lineproof.streaming.tables import archive, lineage_events, quarantine, registry
from lineproof.streaming.tables.registry import B, TableModule


class Curate:
    """Curate and graph over one set of tables."""

    def __init__(self, spark: SparkSession, config: CurateConfig) -> None:
        self._spark = spark
        self._config = config
        self._archive_root = config.archive_root or config.tables
        self._curate_query = Query(spark, CURATE, config.checkpoints)
        self._graph_query = Query(spark, GRAPH, config.checkpoints)
        self._contained_curate = self._contained(CURATE, self._write_curate, self._try_curate)
        self._contained_graph = self._contained(GRAPH, self._write_graph, self._try_graph)
        self._published = PublishedPosition(spark, config.checkpoints)
        self.row_counts: dict[tuple[str, int], int] = {}
        """The rows of batches, by query and number. Spark counts rows twice that a batch reads twice."""

    def prepare(self) -> None:
        """Create the tables on the first start; later, refuse tables and checkpoints that do not match."""
        curate, graph = self._curate_query.checkpoint(), self._graph_query.checkpoint()
        tables = [
            *((curate, module.TABLE) for module in registry.CURATED),
            *((graph, module.TABLE) for module in registry.GRAPH),
        ]
        in_parallel(self._spark, self._prepare_table, tables)
        path = TableReader(self._spark, self._config.tables).path(quarantine.TABLE)
        if not TableReader(self._spark, self._config.tables).exists(quarantine.TABLE):
            create_table(self._spark, path, quarantine.TABLE)

    def _contained(
        self, query: str, write: Callable[[DataFrame, int], None], attempt: Callable[[DataFrame, int], None]
    ) -> Containment:
        records = Quarantine(self._spark, query, self._config.tables, self._archive_root)
        return Containment(records, self._config.batch_timeout_s, write, attempt)

    def _prepare_table(self, written: tuple[Checkpoint, Table]) -> None:
        checkpoint, table = written
        app_id = _app_id(checkpoint.query_id) if checkpoint.query_id else None
        prepare_table(
            *(self._spark, self._config.tables, table, checkpoint, app_id), if_missing=REBUILD, if_mismatch=REBUILD
        )

    def start_curate(self, select: Callable[[DataFrame], DataFrame] = lambda archived: archived) -> StreamingQuery:
        """Start curate over the archive, or over the rows that are selected from it."""
        archived = select(self._stream(self._archive_root, archive.TABLE))
        # Facts of the stream and not of each batch: building and analysing their plan took half a second.
        config = self._config
        found = facts(archived, config.schema_ids, config.limits, config.principals, is_strict=config.is_strict)
        writer = found.writeStream.foreachBatch(self._curate)
        return self._curate_query.start(writer, self._config.trigger)

    def start_graph(self) -> StreamingQuery:
        """Start graph over `lineage_events`."""
        added = self._stream(self._config.tables, lineage_events.TABLE)
        writer = added.writeStream.foreachBatch(self._graph)
        return self._graph_query.start(writer, self._config.graph_trigger)

    def _stream(self, root: str, table: Table) -> DataFrame:
        stream = self._spark.readStream.format("delta").option("maxBytesPerTrigger", MAX_BATCH_BYTES)
        # Retention deletes old rows: such a commit is skipped, and rows that were added before are still read.
        return stream.option("skipChangeCommits", "true").load(TableReader(self._spark, root).path(table))

    def _curate(self, arrived: DataFrame, number: int) -> None:
        self._contained_curate.run(arrived, number)

    def _write_curate(self, arrived: DataFrame, number: int) -> None:
        spark = arrived.sparkSession
        with open_batch(arrived, self._config.limits) as batch:
            self.row_counts[CURATE, number] = batch.count
            if batch.count:
                writer = self._writer(spark, self._curate_query, number)
                self._publish(batch, write_curated(spark, batch, writer), writer)

    def _try_curate(self, arrived: DataFrame, number: int) -> None:
        spark = arrived.sparkSession
        writer = DryWriter(spark, self._config.tables, _app_id(self._curate_query.id()), number)
        with open_batch(arrived, self._config.limits) as batch:
            write_curated(spark, batch, writer)

    def _try_graph(self, added: DataFrame, number: int) -> None:
        spark = added.sparkSession
        writer = DryWriter(spark, self._config.tables, _app_id(self._graph_query.id()), number)
        with open_graph_batch(added, self._config.limits) as batch:
            write_graph(spark, batch, writer)

    def _publish(self, batch: Batch, runs: DataFrame | None, writer: BatchWriter) -> None:
        """Publish after the tables are written: a subscriber never sees what SQL does not. At least once.

        A rebuild publishes only what was not published before it.
        """
        if self._config.publish:
            query, end = self._curate_query.id(), self._curate_query.end_of(writer.number)
            if new := self._published.unpublished(batch, runs, query, end):
                publish(*new, writer, self._config.publish)
                self._published.record(batch, query, end)

    def _graph(self, added: DataFrame, number: int) -> None:
        self._contained_graph.run(added, number)

    def _write_graph(self, added: DataFrame, number: int) -> None:
        spark = added.sparkSession
        with open_graph_batch(added, self._config.limits) as batch:
            self.row_counts[GRAPH, number] = batch.count
            if batch.count:
                # Next to a running curate, graph has time and `runs` has not: one table at a time.
                threads = THREADS if self._config.graph_trigger == AVAILABLE_NOW else 1
                write_graph(spark, batch, self._writer(spark, self._graph_query, number), threads)

    def _writer(self, spark: SparkSession, query: Query, number: int) -> BatchWriter:
        return BatchWriter(spark, self._config.tables, _app_id(query.id()), number)


def write_curated(spark: SparkSession, batch: Batch, writer: BatchWriter) -> DataFrame | None:
    """Write the batch to the tables of events and runs; return the rows of `runs` that it changed.

    If one table fails, the others are still written.
    """
    first, *others = registry.CURATED
    write = _write_table(batch, writer)
    [runs] = in_parallel(spark, write, [first])
    in_parallel(spark, write, others)
    return runs


def write_graph(spark: SparkSession, batch: GraphBatch, writer: BatchWriter, threads: int = THREADS) -> None:
    """Write the batch to the tables of jobs, datasets and lineage. If one table fails, the others are still written."""
    write = _write_table(batch, writer)
    *others, last = registry.GRAPH
    in_parallel(spark, write, others, threads)
    in_parallel(spark, write, [last])


def _write_table(batch: B, writer: BatchWriter) -> Callable[[TableModule[B]], DataFrame | None]:
    """Write a table's part of a batch; again, where maintenance has written to the table in the meantime."""

    def write(module: TableModule[B]) -> DataFrame | None:
        return module.write(batch, writer)

    return retry_on_conflict(write)


def _app_id(query_id: str) -> str:
    """The application id of a query's writes: the checkpoint's own, so that another checkpoint has another."""
    return f"lineproof-{query_id}"
