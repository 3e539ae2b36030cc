"""The query `ingest`: the topic into `archive`, every record with its bytes unchanged."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from lineproof.schemas.tables import INGEST
from lineproof.streaming.config import IngestConfig, kafka_options
from lineproof.streaming.delta.private_api.delta_log import transactions
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.query import Query, prepare_table
from lineproof.streaming.recovery.checkpoint import RESTORE, START_OVER, CheckpointError, refuse_older_archive
from lineproof.streaming.recovery.ingest_position import IngestPosition
from lineproof.streaming.recovery.topic import Topic, format_ranges
from lineproof.streaming.tables import archive


class Ingest:
    """Ingest over one topic and one archive."""

    def __init__(self, spark: SparkSession, config: IngestConfig) -> None:
        self._spark = spark
        self._config = config
        self._tables = TableReader(spark, config.tables)
        self._query = Query(spark, INGEST, config.checkpoints)
        self._archived_as = config.topic

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
            source = self._position().source()
            refuse_older_archive(checkpoint, path, transactions(self._spark, path), source.moved_at if source else -1)
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
                self._position().restore(query_id, batch, self._config.topic, archive.extent(self._tables))

    def check_topic(self, topic: Topic, accept_loss: int | None = None) -> None:
        """Refuse a topic that has lost records which are not archived, except for those of the accepted batch."""
        written = transactions(self._spark, self._tables.path(archive.TABLE))
        self._archived_as = self._position().check_topic(topic, written, accept_loss).archived_as

    def start(self) -> StreamingQuery:
        """Start the query."""
        arriving = read_topic(self._spark, self._config).withColumn("topic", F.lit(self._archived_as))
        writer = archive.archive(arriving).writeStream.foreachBatch(self._ingest)
        return self._query.start(writer, self._config.trigger)

    def _ingest(self, arrived: DataFrame, number: int) -> None:
        # The query's id alone: Delta's own sink, which wrote the archive in earlier releases, uses it too.
        writer = BatchWriter(arrived.sparkSession, self._config.tables, self._query.id(), number)
        writer.append(archive.TABLE, arrived)

    def _position(self) -> IngestPosition:
        return IngestPosition(self._spark, self._query.checkpoint_path)


def read_topic(spark: SparkSession, config: IngestConfig) -> DataFrame:
    """The topic as a stream of records."""
    return (
        spark.readStream.format("kafka")
        .options(**kafka_options(config.kafka))
        .option("subscribe", config.topic)
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", "true")
        .option("includeHeaders", "true")
        .option("maxOffsetsPerTrigger", config.max_offsets_per_trigger)
        .load()
    )
