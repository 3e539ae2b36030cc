"""The Spark session: ours on this machine, or the one `spark-submit` made."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

import psutil
from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.sql import SparkSession

MAX_BATCH_BYTES = "512m"
"""Of files, in one batch of curate or graph: about a million events. What a fold keeps has to fit into memory."""

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
"""Without which Spark knows no Delta tables."""

ALWAYS = {
    **DELTA,
    "spark.sql.session.timeZone": "UTC",
    # Each query has a pool of its own: ingest's small tasks need not wait until a large batch of another is through.
    "spark.scheduler.mode": "FAIR",
    "spark.scheduler.allocation.file": str(Path(str(files("lineproof.conf"))) / "pools.xml"),
    # The queries of a batch compile to more classes than Spark keeps by default: every batch would compile them anew.
    "spark.sql.codegen.cache.maxEntries": "5000",
    # An event has more facts than the hundred fields from which on Spark would not compile their query as a whole.
    "spark.sql.codegen.maxFields": "1000",
    # A batch is kept for seconds: to compress it takes longer than it saves.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    "spark.sql.inMemoryColumnarStorage.batchSize": "1000",
    # Spark reads into memory beside the heap wherever some is set aside, and does not give all of it back: 90 MB a
    # minute, at 1,000 events a second. What a batch keeps is another thing, and is given back.
    "spark.sql.columnVector.offheap.enabled": "false",
    # A batch has more jobs and datasets than the 128 groups from which on Spark would rather sort than hash.
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "100000",
    # Names and ids are folded by the JVM's own tables, which are much faster.
    "spark.sql.icu.caseMappings.enabled": "false",
    # A batch has few days: their files are open side by side, so that rows need not be sorted by day first.
    "spark.sql.maxConcurrentOutputFileWriters": "16",
    # Spark's own default is a format of 12 bytes that takes longer to write than all else in a row of `runs`.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Columns of which no two values are the same: a dictionary of them is built only to be thrown away.
    **{
        f"spark.hadoop.parquet.enable.dictionary#{column}": "false"
        for column in ("value", "event", "event_id", "run_id", "event_hashes.list.element")
    },
    # The first line of a failed query seldom says why; `failures` looks for the cause in the rest.
    "spark.sql.pyspark.jvmStacktrace.enabled": "true",
}

AVRO_LIMITS = "-Dorg.apache.avro.limits.bytes.maxLength=67108864 -Dorg.apache.avro.limits.string.maxLength=1048576"
"""A damaged length in an Avro record must not make the JVM ask for two gigabytes."""

OFF_HEAP = "spark.memory.offHeap.enabled"

OFF_HEAP_SIZE = "spark.memory.offHeap.size"

MOST_OFF_HEAP = 4 << 30
"""A batch of a million events keeps 2.7 GB; what Spark sorts with is taken from here, too."""

WITHOUT_OFF_HEAP = 4 << 30
"""What the JVM takes: its heap, and a gigabyte for its code, its threads and the like."""

GIVEN_BACK_FROM = str(1 << 20)
"""Pieces of memory of this size, as Spark takes it, go back to the system when they are free. The C library would
learn to keep them, and a process that had one large batch stayed 2.7 GB larger."""

CONTAINER_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
"""Where a container says how much memory it has, by the version of Linux's control groups."""

THIS_MACHINE = {
    "spark.driver.memory": "3g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    # As large as a batch, which then has as many tasks as there are cores. With 128 MB there were more, and some cores
    # waited for the last of them.
    "spark.sql.files.maxPartitionBytes": MAX_BATCH_BYTES,
    # A table's log is small here: one task reads it faster than fifty.
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.streaming.metricsEnabled": "false",
    # Nobody sees the plans of so many queries without a UI: to write them down took a tenth of a small batch, and to
    # remember the last thousand takes memory.
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.debug.maxToStringFields": "0",
    "spark.sql.maxPlanStringLength": "0",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    # What is kept or sent lies in the system's cache for seconds: to compress it takes longer than it saves.
    "spark.rdd.compress": "false",
    "spark.shuffle.compress": "false",
    # Spark's own choice starts two processes for every file that it renames, to ask whether it is a link.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}

LOCAL_FILES = "hadoop-bare-naked-local-fs"
"""The JAR with a file system that does by itself what Hadoop's starts a process for: `chmod`, twice for every file."""


def local_files(jars: Sequence[Path], class_path: str) -> dict[str, str]:
    """What makes Spark use it. On the class path of the JVM from its start: Hadoop asks before Spark has its JARs."""
    found = [str(jar) for jar in jars if jar.name.startswith(LOCAL_FILES)]
    return {
        "spark.driver.extraClassPath": os.pathsep.join(filter(None, [*found, class_path])),
        "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    }


def memory(control_groups: Path = Path("/sys/fs/cgroup")) -> int:
    """The bytes of memory that this machine has, or the container that we are in."""
    limits = [psutil.virtual_memory().total]
    for name in CONTAINER_LIMITS:
        with suppress(OSError, ValueError):  # there is no such file, or it says "max"
            limits.append(int((control_groups / name).read_text()))
    return min(limits)


def off_heap(all_memory: int) -> dict[str, str]:
    """Half of what the JVM leaves, for what a batch keeps. Taken only while it does; what does not fit goes to disk."""
    size = min(MOST_OFF_HEAP, (all_memory - WITHOUT_OFF_HEAP) // 2)
    return {OFF_HEAP: "true", OFF_HEAP_SIZE: str(size)} if size > 0 else {}


def kept_at(spark: SparkSession) -> StorageLevel:
    """Where that lies which a batch reads several times.

    Beside the heap, where no collector copies it; to write and read it as files took a sixth of curate's processor
    time. On disk where nobody has set memory aside for it.
    """
    return StorageLevel.OFF_HEAP if spark.conf.get(OFF_HEAP, "false") == "true" else StorageLevel.DISK_ONLY


def was_submitted() -> bool:
    """Whether `spark-submit` started us, and so chose the master, the JARs and the logging."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def session(options: Mapping[str, str], jars: Sequence[Path], java_options: Sequence[str]) -> SparkSession:
    """The session, with the user's options over our defaults."""
    settings = {**ALWAYS, **options}
    if not was_submitted():
        master = settings.setdefault("spark.master", "local[*]")
        if master.startswith("local"):
            files_of = local_files(jars, settings.pop("spark.driver.extraClassPath", ""))
            settings = {**THIS_MACHINE, **off_heap(memory()), **files_of, **settings}
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", GIVEN_BACK_FROM)
        driver, executor = "spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"
        settings[driver] = " ".join([AVRO_LIMITS, *java_options, with_collector(settings.get(driver, ""))])
        settings[executor] = f"{AVRO_LIMITS} {settings.get(executor, '')}"
        settings["spark.jars"] = ",".join([*map(str, jars), *filter(None, [settings.get("spark.jars")])])
    builder = SparkSession.builder.appName("lineproof")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    with suppress(Py4JError):  # the cluster's Hadoop is another one: slower, and else the same
        settings_sources(made).clear()
    return made


def settings_sources(spark: SparkSession) -> Any:
    """Which file each of Hadoop's thousand settings is from, as Hadoop remembers it. Nobody asks.

    But whatever is sent to tasks has the settings with it, and Hadoop compresses these names one by one: 45 ms each
    time, a seventh of the processor time of small batches.
    """
    settings = spark._jsc.hadoopConfiguration()
    remembered = settings.getClass().getDeclaredField("updatingResource")
    remembered.setAccessible(True)
    return remembered.get(settings)


def with_collector(options: str) -> str:
    """Of the JVM's collectors, the one that leaves the most time to a batch; unless the user has chosen.

    What a batch makes is soon gone, and what it keeps is not in the heap: so half of that is for what is new.
    """
    return options if re.search(r"-XX:\+Use\w+GC", options) else f"-XX:+UseParallelGC -XX:NewRatio=1 {options}"
