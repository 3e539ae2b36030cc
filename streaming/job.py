"""The job: three queries in one application, each with its checkpoint.

Ingest appends the topic to `archive`. Curate folds `archive` into `lineage_events`, `runs` and what else is about
single events and runs. Graph folds `lineage_events` into jobs, datasets and edges: these hardly change, and cost as
much to merge as all others, so it is done less often.
Run it with `lineproof job`, or on a cluster with `spark-submit streaming/main.py --config FILE`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from types import ModuleType
from typing import TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from lineproof.streaming.delta.conflicts import again_on_conflict
from lineproof.streaming.delta.snapshot import transactions
from lineproof.streaming.delta.store import Store, Table
from lineproof.streaming.recovery.checkpoint import (
    REBUILD,
    RESTORE,
    START_OVER,
    Checkpoint,
    CheckpointError,
    read_checkpoint,
    refuse_mismatch,
    refuse_missing,
    refuse_older_archive,
)
from lineproof.streaming.recovery.ingest_position import IngestPosition
from lineproof.streaming.recovery.migrations import migrate
from lineproof.streaming.recovery.topic import Topic, ranges
from lineproof.streaming.session import MAX_BATCH_BYTES
from lineproof.streaming.stages.batch import Batch, batch_of
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.stages.graph import GraphBatch, graph_batch_of
from lineproof.streaming.stages.publish import Target, published
from lineproof.streaming.tables import (
    archive,
    certificates,
    dataset_schemas,
    datasets,
    dead_letters,
    edges,
    jobs,
    lineage_events,
    quality_results,
    records,
    runs,
)

CURATED = (runs, lineage_events, records, certificates, quality_results, dead_letters)
"""What curate writes. `runs` comes first: an event that graph sees in `lineage_events` is there already."""
GRAPH = (edges, datasets, jobs, dataset_schemas)
"""What graph writes. `edges` reads `runs`; else none looks at another."""
DERIVED = (*CURATED, *GRAPH)
"""The modules of all tables that are made of the archive."""

WRITERS = 3
"""Tables made or written at a time: most of a small fold is the driver's, and waits."""

T = TypeVar("T")
R = TypeVar("R")

TABLES: tuple[Table, ...] = (archive.TABLE, *(module.TABLE for module in DERIVED))

AVAILABLE_NOW = "available-now"


@dataclass(frozen=True)
class JobConfig:
    """What the job has to know. Kafka options carry the Java client's names, without a prefix."""

    kafka: Mapping[str, str] = field(repr=False)
    topic: str
    dead_letter_topic: str
    tables: str
    checkpoints: str
    trigger: str
    graph_trigger: str
    max_offsets_per_trigger: int
    schema_ids: Mapping[int, int] = field(default_factory=dict)
    published: Mapping[str, Target] = field(default_factory=dict)
    """Where runs, violations and quality results go; what is not there goes nowhere."""
    accept_loss: int | None = None
    """The batch whose records are given up if the topic no longer has them."""
    restore_checkpoint: bool = False
    """Whether ingest's checkpoint, if it is missing, is made anew from the archive."""
    archive_in: str = ""
    """The directory of the archive, where it is not among the tables: it is read then, and never written to."""


class Job:
    """The three queries over one set of tables."""

    def __init__(self, spark: SparkSession, config: JobConfig) -> None:
        self._spark = spark
        self._config = config
        self._store = Store(spark, config.tables)
        self._archive_in = config.archive_in or config.tables
        self._ingest_checkpoint = f"{config.checkpoints}/ingest"
        self._curate_checkpoint = f"{config.checkpoints}/curate"
        self._graph_checkpoint = f"{config.checkpoints}/graph"
        self._archived_as = config.topic
        self._query_ids: dict[str, str] = {}
        self.counted: dict[tuple[str, int], int] = {}
        """The rows of batches, by query and number. Spark would count those that are looked at twice as two."""

    def prepare(self) -> None:
        """Create the tables on the first start; later, refuse what does not belong together."""
        if self._config.restore_checkpoint:
            self._restore_checkpoint()
        self._settle_archive()
        self.prepare_derived()

    def prepare_derived(self) -> None:
        """Likewise, of what is made of the archive alone."""
        checkpoints = [
            (read_checkpoint(self._spark, path), modules)
            for path, modules in ((self._curate_checkpoint, CURATED), (self._graph_checkpoint, GRAPH))
        ]

        def settle(one: tuple[Checkpoint, ModuleType]) -> None:
            checkpoint, module = one
            app_id = _app_id(checkpoint.query_id) if checkpoint.query_id else None
            self._settle(module.TABLE, checkpoint, app_id, if_missing=REBUILD, if_other=REBUILD)

        side_by_side(
            self._spark, settle, [(checkpoint, module) for checkpoint, modules in checkpoints for module in modules]
        )

    def _settle(
        self, table: Table, checkpoint: Checkpoint, app_id: str | None, *, if_missing: str, if_other: str
    ) -> None:
        path = self._store.path(table)
        if self._store.exists(table):
            refuse_mismatch(checkpoint, app_id, path, transactions(self._spark, path), if_other)
            migrate(self._spark, path, table)
        else:
            refuse_missing(checkpoint, path, if_missing)
            self._store.create(table)

    def _settle_archive(self) -> None:
        ingest = read_checkpoint(self._spark, self._ingest_checkpoint)
        try:
            self._settle(archive.TABLE, ingest, ingest.query_id, if_missing=START_OVER, if_other=RESTORE)
            path = self._store.path(archive.TABLE)
            origin = IngestPosition(self._spark, self._ingest_checkpoint).origin()
            moved_at = origin.moved_at if origin else -1
            refuse_older_archive(ingest, path, transactions(self._spark, path), moved_at)
        except CheckpointError as error:
            archived = archive.extent(self._store) if self._store.exists(archive.TABLE) else {}
            there = "; ".join(ranges(name, offsets) for name, offsets in sorted(archived.items()))
            raise CheckpointError(f"{error.what} Archived: {there or 'nothing'}.", error.remedy) from error

    def _restore_checkpoint(self) -> None:
        """Where the checkpoint is missing and the archive was written from no other one."""
        ingest = read_checkpoint(self._spark, self._ingest_checkpoint)
        if ingest.last_planned_batch < 0 and self._store.exists(archive.TABLE):
            written = transactions(self._spark, self._store.path(archive.TABLE))
            if len(written) == 1:
                ((query_id, batch),) = written.items()
                position = IngestPosition(self._spark, self._ingest_checkpoint)
                position.restore(query_id, batch, self._config.topic, archive.extent(self._store))

    def settle_topic(self, topic: Topic, accepted: int | None = None) -> None:
        """Refuse a topic that has lost records which are not archived, but for those of the `accepted` batch."""
        position = IngestPosition(self._spark, self._ingest_checkpoint)
        written = transactions(self._spark, self._store.path(archive.TABLE))
        self._archived_as = position.settle(topic, written, accepted).archived_as

    def start_ingest(self) -> StreamingQuery:
        """Kafka to `archive`."""
        arriving = read_topic(self._spark, self._config).withColumn("topic", F.lit(self._archived_as))
        writer = archive.archive(arriving).writeStream.foreachBatch(self._ingest)
        return self._start(writer, "ingest", self._ingest_checkpoint, self._config.trigger)

    def start_curate(self, select: Callable[[DataFrame], DataFrame] = lambda archived: archived) -> StreamingQuery:
        """`archive`, or what is selected of it, to the tables of events and runs."""
        archived = select(self._stream(Store(self._spark, self._archive_in), archive.TABLE))
        # Facts of the stream and not of each batch: to write down and analyse how they are found took half a second.
        writer = facts(archived, self._config.schema_ids).writeStream.foreachBatch(self._curate)
        return self._start(writer, "curate", self._curate_checkpoint, self._config.trigger)

    def start_graph(self) -> StreamingQuery:
        """`lineage_events` to the tables of jobs, datasets and edges."""
        added = self._stream(self._store, lineage_events.TABLE).writeStream.foreachBatch(self._graph)
        return self._start(added, "graph", self._graph_checkpoint, self._config.graph_trigger)

    def _stream(self, store: Store, table: Table) -> DataFrame:
        stream = self._spark.readStream.format("delta").option("maxBytesPerTrigger", MAX_BATCH_BYTES)
        # Rows that are deleted because they are old (see `maintenance`) are no news; what was added before, still is.
        return stream.option("skipChangeCommits", "true").load(store.path(table))

    def _start(self, writer: DataStreamWriter, name: str, checkpoint: str, trigger: str) -> StreamingQuery:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", name)
        timed = (
            writer.trigger(availableNow=True) if trigger == AVAILABLE_NOW else writer.trigger(processingTime=trigger)
        )
        return timed.queryName(name).option("checkpointLocation", checkpoint).start()

    def _ingest(self, arrived: DataFrame, number: int) -> None:
        spark = arrived.sparkSession
        # The id that Delta's own sink writes under: it wrote the archive in earlier versions.
        app_id = self._query_id(spark, self._ingest_checkpoint)
        Store(spark, self._config.tables, app_id, number).append(archive.TABLE, arrived)

    def _curate(self, arrived: DataFrame, number: int) -> None:
        spark = arrived.sparkSession
        store = self._store_of(spark, self._curate_checkpoint, number)
        with batch_of(arrived, Store(spark, self._archive_in).read(archive.TABLE)) as batch:
            self.counted["curate", number] = batch.count
            if batch.count:
                self._publish(batch, write_curated(spark, batch, store), store)

    def _graph(self, added: DataFrame, number: int) -> None:
        spark = added.sparkSession
        store = self._store_of(spark, self._graph_checkpoint, number)
        with graph_batch_of(added) as batch:
            self.counted["graph", number] = batch.count
            if batch.count:
                # Beside a curate that is under way, graph has time, and `runs` has not.
                write_graph(spark, batch, store, WRITERS if self._config.graph_trigger == AVAILABLE_NOW else 1)

    def _store_of(self, spark: SparkSession, checkpoint: str, number: int) -> Store:
        app_id = _app_id(self._query_id(spark, checkpoint))
        return Store(spark, self._config.tables, app_id, number)

    def _query_id(self, spark: SparkSession, checkpoint: str) -> str:
        """Spark writes it before the query's first batch, and never changes it."""
        if checkpoint not in self._query_ids:
            self._query_ids[checkpoint] = str(read_checkpoint(spark, checkpoint).query_id)
        return self._query_ids[checkpoint]

    def _publish(self, batch: Batch, touched: DataFrame | None, store: Store) -> None:
        """After the tables, so that a subscriber never sees what SQL does not. At least once.

        All topics in one write, because a write takes a while, however little is in it.
        """
        records = [*self._dead_letters(batch), *published(batch, touched, store, self._config.published)]
        if records:
            (
                reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), records)
                .write.format("kafka")
                .options(**_with_prefix(self._config.kafka))
                .option("includeHeaders", "true")
                .save()
            )

    def _dead_letters(self, batch: Batch) -> Iterator[DataFrame]:
        if batch.unusable and self._config.dead_letter_topic:
            source = F.concat_ws("/", "topic", "partition", "offset")
            headers = F.array(_header("lineproof.reason", F.col("reason")), _header("lineproof.source", source))
            yield dead_letters.dead_letters(batch).select(
                F.lit(self._config.dead_letter_topic).alias("topic"),
                *("key", "value"),
                F.concat(F.coalesce("headers", F.array()), headers).alias("headers"),
            )


def read_topic(spark: SparkSession, config: JobConfig) -> DataFrame:
    """The topic as a stream of records."""
    return (
        spark.readStream.format("kafka")
        .options(**_with_prefix(config.kafka))
        .option("subscribe", config.topic)
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", "true")
        .option("includeHeaders", "true")
        .option("maxOffsetsPerTrigger", config.max_offsets_per_trigger)
        .load()
    )


def write_curated(spark: SparkSession, batch: Batch, store: Store) -> DataFrame | None:
    """Write the batch to the tables of events and runs; return the rows of `runs` it touched.

    After a failure, what was begun is brought to its end.
    """
    first, *others = CURATED
    write = _writing(batch, store)
    [touched] = side_by_side(spark, write, [first])
    side_by_side(spark, write, others)
    return touched


def write_graph(spark: SparkSession, batch: GraphBatch, store: Store, writers: int = WRITERS) -> None:
    """Write the batch to the tables of jobs, datasets and edges. Likewise."""
    side_by_side(spark, _writing(batch, store), GRAPH, writers)


def _writing(batch: Batch | GraphBatch, store: Store) -> Callable[[ModuleType], DataFrame | None]:
    """To write a table's part of a batch; again, where maintenance has written to the table meanwhile."""

    def write(module: ModuleType) -> DataFrame | None:
        touched: DataFrame | None = module.write(batch, store)
        return touched

    return again_on_conflict(write)


def side_by_side(spark: SparkSession, act: Callable[[T], R], ones: Sequence[T], writers: int = WRITERS) -> list[R]:
    """Do it for some at a time. All are brought to their end before the first that failed is raised."""
    with ThreadPoolExecutor(writers) as pool:
        begun = [pool.submit(inheritable_thread_target(spark)(act), one) for one in ones]
    return [one.result() for one in begun]


def _app_id(query_id: str) -> str:
    """The id Delta knows a query's writes by: the checkpoint's own, so that another checkpoint's differ."""
    return f"lineproof-{query_id}"


def _with_prefix(kafka: Mapping[str, str]) -> dict[str, str]:
    return {f"kafka.{name}": value for name, value in kafka.items()}


def _header(name: str, value: Column) -> Column:
    return F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))
