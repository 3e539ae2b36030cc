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
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.parallel import THREADS, in_parallel
from lineproof.streaming.query import Query, prepare_table
from lineproof.streaming.recovery.checkpoint import REBUILD, Checkpoint
from lineproof.streaming.spark_settings import MAX_BATCH_BYTES
from lineproof.streaming.stages.batch import Batch, open_batch
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.graph import GraphBatch, open_graph_batch
from lineproof.streaming.stages.publish import publish
from lineproof.streaming.tables import archive, lineage_events, registry
from lineproof.streaming.tables.registry import B, TableModule


class Curate:
    """Curate and graph over one set of tables."""

    def __init__(self, spark: SparkSession, config: CurateConfig) -> None:
        self._spark = spark
        self._config = config
        self._archive_root = config.archive_root or config.tables
        self._curate_query = Query(spark, CURATE, config.checkpoints)
        self._graph_query = Query(spark, GRAPH, config.checkpoints)
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
        writer = facts(archived, self._config.schema_ids).writeStream.foreachBatch(self._curate)
        return self._curate_query.start(writer, self._config.trigger)

    def start_graph(self) -> StreamingQuery:
        """Start graph over `lineage_events`."""
        writer = self._stream(self._config.tables, lineage_events.TABLE).writeStream.foreachBatch(self._graph)
        return self._graph_query.start(writer, self._config.graph_trigger)

    def _stream(self, root: str, table: Table) -> DataFrame:
        stream = self._spark.readStream.format("delta").option("maxBytesPerTrigger", MAX_BATCH_BYTES)
        # Retention deletes old rows: such a commit is skipped, and rows that were added before are still read.
        return stream.option("skipChangeCommits", "true").load(TableReader(self._spark, root).path(table))

    def _curate(self, arrived: DataFrame, number: int) -> None:
        spark = arrived.sparkSession
        archived = TableReader(spark, self._archive_root).read(archive.TABLE)
        with open_batch(arrived, archived, self._config.limits) as batch:
            self.row_counts[CURATE, number] = batch.count
            if batch.count:
                writer = self._writer(spark, self._curate_query, number)
                self._publish(batch, write_curated(spark, batch, writer), writer)

    def _publish(self, batch: Batch, runs: DataFrame | None, tables: TableReader) -> None:
        """Publish after the tables are written: a subscriber never sees what SQL does not. At least once."""
        if self._config.publish:
            publish(batch, runs, tables, self._config.publish)

    def _graph(self, added: DataFrame, number: int) -> None:
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
