"""A batch has exactly the records of the stream, and gives back the memory that it used."""

from pathlib import Path
from typing import Any

import psutil
import pytest
from pyspark import StorageLevel
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.delta.definition import create_table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.spark_settings import storage_level
from lineproof.streaming.stages.batch import open_batch
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.tables import archive
from tests.events import payload
from tests.streaming.records import records


@pytest.mark.parametrize("offsets", [(0, 1, 2, 3), (1, 2), (0, 3), (2,)])
def test_records_between_the_offsets_are_not_in_the_batch(
    spark: SparkSession, tmp_path: Path, offsets: tuple[int, ...]
) -> None:
    """As after a compaction of the archive, whose files have offsets with gaps."""
    writer = BatchWriter(spark, str(tmp_path), "tests", 0)
    create_table(spark, writer.path(archive.TABLE), archive.TABLE)
    values = [payload(eventTime=f"2026-01-31T10:00:0{n}Z") for n in range(3)]
    writer.append(archive.TABLE, archive.archive(records(spark, [*values, b"no event"])))
    arrived = writer.read(archive.TABLE).where(F.col("offset").isin(*offsets))
    with open_batch(facts(arrived, {})) as batch:
        assert sorted(row.offset for row in batch.facts.collect()) == list(offsets)
        assert (batch.usable, batch.unusable) == (len(set(offsets) - {3}), len({3} & set(offsets)))
    assert len({row.day for row in arrived.collect()}) == 1, "the day of archiving, whatever the records say"


def test_persisted_facts_are_off_heap_and_dropped_at_the_end(spark: SparkSession) -> None:
    """The cluster test covers a session without off-heap memory."""

    def persisted() -> dict[int, tuple[int, int]]:
        """The bytes in memory and on disk of everything that Spark has persisted, by id."""
        context: Any = spark.sparkContext._jsc.sc()
        return {info.id(): (info.memSize(), info.diskSize()) for info in context.getRDDStorageInfo()}

    before = persisted()
    arrived = archive.archive(records(spark, [payload()]))
    with open_batch(facts(arrived, {})) as batch:
        assert batch.facts.storageLevel == StorageLevel.OFF_HEAP
        [(new_id, (in_memory, on_disk))] = [entry for entry in persisted().items() if entry[0] not in before]
        assert in_memory > 0
        assert on_disk == 0
    assert new_id not in persisted()


def test_off_heap_memory_goes_back_to_the_operating_system(spark: SparkSession) -> None:
    """Also the second time: after the first, the C library may keep blocks of this size for itself."""
    jvm: Any = spark._jvm
    process = psutil.Process(jvm.java.lang.ProcessHandle.current().pid())
    size_mb = 200
    for _ in range(2):
        rows_of_1_kb = spark.range(size_mb * 1024).select(F.repeat(F.sha2(F.col("id").cast("string"), 256), 16))
        kept = rows_of_1_kb.persist(storage_level(spark))
        kept.count()
        while_persisted = process.memory_info().rss
        kept.unpersist(blocking=True)
        assert (while_persisted - process.memory_info().rss) / 2**20 > 0.8 * size_mb


def test_column_vectors_of_reads_are_in_the_heap(spark: SparkSession) -> None:
    """By default Spark reads into off-heap memory if there is some, and never gives part of it back."""
    session: Any = spark._jsparkSession
    assert storage_level(spark) == StorageLevel.OFF_HEAP
    assert not session.sessionState().conf().offHeapColumnVectorEnabled()
