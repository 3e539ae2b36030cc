"""The query `ingest`: the topics into `archive`, every record with its bytes unchanged."""

import logging
from collections.abc import Sequence

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from lineproof.schemas.durations import AVAILABLE_NOW, Duration
from lineproof.schemas.tables import INGEST
from lineproof.streaming.config import IngestConfig, kafka_options
from lineproof.streaming.delta.private_api.delta_log import transactions
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.query import Query, is_new, prepare_table
from lineproof.streaming.recovery.checkpoint import RESTORE, START_OVER, CheckpointError, refuse_older_archive
from lineproof.streaming.recovery.ingest_position import IngestPosition
from lineproof.streaming.recovery.timestamps import is_overflow, read_batch
from lineproof.streaming.recovery.topic import Topic, format_ranges
from lineproof.streaming.spark_settings import session_settings
from lineproof.streaming.tables import archive
from lineproof.streaming.tables.accepted_losses import AcceptedLosses

log = logging.getLogger(__name__)

POLLING_DELAY = "spark.sql.streaming.pollingDelay"
"""The setting for how often a query without a trigger interval looks for new records. Read when the query starts."""
MIN_POLLING_MS, MAX_POLLING_MS = 50, 1000
NO_WAIT = "0 seconds"
"""The trigger of a query that starts its next batch as soon as its source has one."""


class Ingest:
    """Ingest over one archive."""

    def __init__(self, spark: SparkSession, config: IngestConfig) -> None:
        self._spark = spark
        self._config = config
        self._tables = TableReader(spark, config.tables)
        self._query = Query(spark, INGEST, config.checkpoints)
        self._archived_as: dict[str, str] = {}

    def prepare(self) -> None:
        """Create the archive on the first start; later, refuse an archive and a checkpoint that do not match."""
        if self._config.restore_checkpoint:
            self._restore_checkpoint()
        checkpoint, path = self._query.checkpoint(), self._tables.path(archive.TABLE)
        try:
            prepare_table(
                *(self._spark, self._config.tables, archive.TABLE, checkpoint, checkpoint.query_id),
                if_missing=START_OVER,
                if_mismatch=RESTORE,
            )
            refuse_older_archive(checkpoint, path, transactions(self._spark, path), self._position().moved_at())
        except CheckpointError as error:
            archived = archive.extent(self._tables) if self._tables.exists(archive.TABLE) else {}
            offsets = "; ".join(format_ranges(name, partitions) for name, partitions in sorted(archived.items()))
            raise CheckpointError(f"{error.what} Archived: {offsets or 'nothing'}.", error.remedy) from error

    def _restore_checkpoint(self) -> None:
        """Restore a missing checkpoint, if a single query has written the archive."""
        if self._query.checkpoint().last_planned_batch < 0 and self._tables.exists(archive.TABLE):
            written = transactions(self._spark, self._tables.path(archive.TABLE))
            if len(written) == 1:
                ((query_id, batch),) = written.items()
                self._position().restore(query_id, batch, self._config.topics, archive.extent(self._tables))

    def check_topics(self, topics: Sequence[Topic], accept_loss: int | None = None) -> None:
        """Refuse topics that have lost records which are not archived, except for those of the accepted batch."""
        written = transactions(self._spark, self._tables.path(archive.TABLE))
        position, losses = self._position(), AcceptedLosses(self._spark, self._tables)
        losses.forget_after(self._query.checkpoint().last_finished_batch)
        position.check_topics(topics, written, accept_loss, losses.record)
        losses.write_table()
        self._archived_as = {name: source.archived_as for name, source in self._position().sources().items()}

    def start(self) -> StreamingQuery:
        """Start the query."""
        waits = not is_new(self._query.checkpoint())  # a new query has its first records at once
        arriving = self._named(read_topics(self._spark, self._config, waits=waits))
        writer = archive.archive(arriving).writeStream.foreachBatch(self._ingest)
        if self._config.trigger == AVAILABLE_NOW:
            return self._query.start(writer, AVAILABLE_NOW)
        is_set = self._spark.conf.get(POLLING_DELAY, None) is not None
        polling = {} if is_set else {POLLING_DELAY: f"{_polling_ms(self._config.trigger)}ms"}
        with session_settings(self._spark, polling):
            return self._query.start(writer, NO_WAIT)

    def _ingest(self, arrived: DataFrame, number: int) -> None:
        try:
            self._write(arrived, number)
        except (PySparkException, Py4JError) as error:
            if not is_overflow(str(error)):
                raise
            self._write(self._reread(arrived.sparkSession, number), number)

    def _write(self, rows: DataFrame, number: int) -> None:
        # The query's id alone: Delta's own sink, which wrote the archive in earlier releases, uses it too.
        writer = BatchWriter(rows.sparkSession, self._config.tables, self._query.id(), number)
        writer.append(archive.TABLE, rows)

    def _reread(self, spark: SparkSession, number: int) -> DataFrame:
        """The rows of a batch that Spark's source cannot read, because of the timestamps of some records."""
        log.warning("Batch %d has timestamps that Spark cannot read. It is read again without them.", number)
        ranges = self._position().ranges(number)
        records = read_batch(spark, source_options(self._config), ranges, self._config.read_records)
        return archive.archive(self._named(records))

    def _named(self, records: DataFrame) -> DataFrame:
        """The records under the names that their topics have in the archive: NAME#2, if a topic was recreated."""
        topic = F.col("topic")
        for name, archived_as in self._archived_as.items():
            if name != archived_as:
                topic = F.when(F.col("topic") == name, archived_as).otherwise(topic)
        return records.withColumn("topic", topic)

    def _position(self) -> IngestPosition:
        return IngestPosition(self._spark, self._query.checkpoint_path)


def read_topics(spark: SparkSession, config: IngestConfig, *, waits: bool = True) -> DataFrame:
    """The topics as a stream of records."""
    return (
        spark.readStream.format("kafka")
        .options(**source_options(config))
        .option(*config.topics.subscription)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", config.max_offsets_per_trigger)
        .options(**(_waiting(config) if waits else {}))
        .load()
    )


def source_options(config: IngestConfig) -> dict[str, str]:
    """Options of Spark's Kafka source, whatever is read."""
    return {**kafka_options(config.kafka), **config.source, "failOnDataLoss": "true", "includeHeaders": "true"}


def _waiting(config: IngestConfig) -> dict[str, str]:
    """When a batch starts: as soon as it is full, or when the trigger interval is over.

    With Spark's own trigger interval, a full batch would wait for the interval too: `10s` and 200,000 records a batch
    would never read more than 20,000 records a second. With `available-now`, Spark would skip the last records.
    """
    if config.trigger == AVAILABLE_NOW:
        return {}
    return {
        "minOffsetsPerTrigger": str(config.max_offsets_per_trigger),
        "maxTriggerDelay": f"{_milliseconds(config.trigger)}ms",
    }


def _milliseconds(trigger: str) -> int:
    return round(Duration(trigger).seconds * 1000)


def _polling_ms(trigger: str) -> int:
    """How long to wait before the broker is asked for new records again. Spark's default of 10 ms keeps a core busy."""
    return min(MAX_POLLING_MS, max(MIN_POLLING_MS, _milliseconds(trigger) // 10))
