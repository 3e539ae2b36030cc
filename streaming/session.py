"""The Spark session: a local one, or the one that `spark-submit` started."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from lineproof.streaming.delta.private_api.hadoop_settings import settings_sources
from lineproof.streaming.delta.private_api.versions import check_versions
from lineproof.streaming.spark_settings import ALWAYS, AVRO_LIMITS, LOCAL, OFF_HEAP, OFF_HEAP_SIZE

MAX_OFF_HEAP = 4 << 30
"""A batch of a million events keeps 2.7 GB; Spark also sorts in this memory."""

JVM_MEMORY = 4 << 30
"""The JVM without off-heap memory: its heap, and a gigabyte for code, threads and the like."""

MMAP_THRESHOLD = str(1 << 20)
"""Spark allocates memory in blocks of this size. With this setting, the C library returns free blocks to the system; by
default it learns to keep them, and a process that had one large batch stayed 2.7 GB larger."""

CONTAINER_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
"""The memory limit of a container, in version 2 and version 1 of Linux's control groups."""

LOCAL_FILE_SYSTEM = "hadoop-bare-naked-local-fs"
"""The JAR of a file system that changes permissions without a process. Hadoop's own starts `chmod` twice per file."""


def session(options: Mapping[str, str], jars: Sequence[Path], java_options: Sequence[str]) -> SparkSession:
    """Start or get the session. The user's options override ours. Untried versions of Spark and Delta are refused."""
    settings = {**ALWAYS, **options}
    if not was_submitted():
        master = settings.setdefault("spark.master", "local[*]")
        if master.startswith("local"):
            file_system = local_file_system(jars, settings.pop("spark.driver.extraClassPath", ""))
            settings = {**LOCAL, **off_heap(total_memory()), **file_system, **settings}
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", MMAP_THRESHOLD)
        driver, executor = "spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"
        settings[driver] = " ".join([AVRO_LIMITS, *java_options, with_garbage_collector(settings.get(driver, ""))])
        settings[executor] = f"{AVRO_LIMITS} {settings.get(executor, '')}"
        settings["spark.jars"] = ",".join([*map(str, jars), *filter(None, [settings.get("spark.jars")])])
    builder = SparkSession.builder.appName("lineproof")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    check_versions(spark)
    with suppress(Py4JError):  # a cluster may have another Hadoop: batches are slower then, and otherwise the same
        settings_sources(spark).clear()
    return spark


def was_submitted() -> bool:
    """Whether `spark-submit` started this process, and so chose the master, the JARs and the logging."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def local_file_system(jars: Sequence[Path], class_path: str) -> dict[str, str]:
    """Settings for the local file system. It is on the JVM's class path: Hadoop needs it before Spark adds its JARs."""
    found = [str(jar) for jar in jars if jar.name.startswith(LOCAL_FILE_SYSTEM)]
    return {
        "spark.driver.extraClassPath": os.pathsep.join(filter(None, [*found, class_path])),
        "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    }


def total_memory(control_groups: Path = Path("/sys/fs/cgroup")) -> int:
    """The bytes of memory of this machine, or of the container that the process runs in."""
    limits = [psutil.virtual_memory().total]
    for name in CONTAINER_LIMITS:
        with suppress(OSError, ValueError):  # there is no such file, or it says "max"
            limits.append(int((control_groups / name).read_text()))
    return min(limits)


def off_heap(total: int) -> dict[str, str]:
    """Half of the memory that the JVM leaves, for cached batches. Allocated while needed; the rest goes to disk."""
    size = min(MAX_OFF_HEAP, (total - JVM_MEMORY) // 2)
    return {OFF_HEAP: "true", OFF_HEAP_SIZE: str(size)} if size > 0 else {}


def with_garbage_collector(options: str) -> str:
    """Add the garbage collector with the highest throughput, unless the user has chosen one.

    Objects of a batch are short-lived, and cached data is off-heap: so half of the heap is for new objects.
    """
    return options if re.search(r"-XX:\+Use\w+GC", options) else f"-XX:+UseParallelGC -XX:NewRatio=1 {options}"
