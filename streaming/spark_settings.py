"""Settings of the Spark session, with the reason for each: most were measured with `make bench`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import SparkSession

MAX_BATCH_BYTES = "512m"
"""Of files in one batch of curate or graph: about a million events. The data that a batch keeps must fit in memory."""

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
"""Required for Delta tables."""

ALWAYS = {
    **DELTA,
    "spark.sql.session.timeZone": "UTC",
    # Of equal keys in JSON, the last one counts. By default, Spark cannot parse such a text as a variant.
    "spark.sql.variant.allowDuplicateKeys": "true",
    # Each query has its own pool: small tasks of ingest do not wait for a large batch of another query.
    "spark.scheduler.mode": "FAIR",
    "spark.scheduler.allocation.file": str(Path(str(files("lineproof.conf"))) / "pools.xml"),
    # A batch compiles to more classes than Spark caches by default: every batch would compile them again.
    "spark.sql.codegen.cache.maxEntries": "5000",
    # An event has more than 100 facts, the number of fields up to which Spark compiles a query as a whole by default.
    "spark.sql.codegen.maxFields": "1000",
    # A batch is cached for seconds: compression takes longer than it saves.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    "spark.sql.inMemoryColumnarStorage.batchSize": "1000",
    # If off-heap memory is enabled, Spark reads files into it by default, and does not free all of it: the process
    # grew by 90 MB a minute at 1,000 events/s. Cached batches are not affected: their off-heap memory is freed.
    "spark.sql.columnVector.offheap.enabled": "false",
    # A batch has more jobs and datasets than 128, the number of groups from which Spark sorts instead of hashing.
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "100000",
    # Change case with the JVM's tables instead of ICU's, which are much slower.
    "spark.sql.icu.caseMappings.enabled": "false",
    # A batch has few days: keep a file open for each of them, instead of sorting the rows by day first.
    "spark.sql.maxConcurrentOutputFileWriters": "16",
    # Spark's default, INT96, takes longer to write than all other columns of `runs`.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # The values of these columns are all different: Parquet would build a dictionary and throw it away.
    **{
        f"spark.hadoop.parquet.enable.dictionary#{column}": "false"
        for column in ("value", "event", "event_id", "run_id", "event_hashes.list.element")
    },
    # The first line of a failed query rarely names the cause; `failures` looks for it in the stack trace.
    "spark.sql.pyspark.jvmStacktrace.enabled": "true",
}

LOCAL = {
    "spark.driver.memory": "3g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    # As large as a batch, so that a batch has one task per core. With 128 MB there were more tasks, and some cores
    # waited for the last of them.
    "spark.sql.files.maxPartitionBytes": MAX_BATCH_BYTES,
    # The log of a local table is small: one task reads it faster than fifty.
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.streaming.metricsEnabled": "false",
    # Without a UI, nothing shows the plans: writing them took a tenth of a small batch, and keeping the last thousand
    # takes memory.
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.debug.maxToStringFields": "0",
    "spark.sql.maxPlanStringLength": "0",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    # Cached and shuffled data stays in the page cache for seconds: compression takes longer than it saves.
    "spark.rdd.compress": "false",
    "spark.shuffle.compress": "false",
    # Spark's default starts two processes for every file that it renames, to check for symbolic links.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
"""For a session on this machine, without a cluster."""

AVRO_LIMITS = "-Dorg.apache.avro.limits.bytes.maxLength=67108864 -Dorg.apache.avro.limits.string.maxLength=1048576"
"""A damaged length in an Avro record must not make the JVM allocate two gigabytes."""

OFF_HEAP = "spark.memory.offHeap.enabled"
OFF_HEAP_SIZE = "spark.memory.offHeap.size"


def storage_level(spark: SparkSession) -> StorageLevel:
    """Storage level of data that a batch reads more than once.

    Off-heap, where no garbage collector copies it; writing and reading it as files took a sixth of curate's CPU time.
    On disk, if off-heap memory is not enabled.
    """
    return StorageLevel.OFF_HEAP if spark.conf.get(OFF_HEAP, "false") == "true" else StorageLevel.DISK_ONLY


@contextmanager
def session_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Change settings of the session within a `with` block. Every batch has a session of its own."""
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in settings:
            spark.conf.unset(name)
