"""A batch is what the stream brought, no more and no less."""

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
from lineproof.streaming.stages.batch import batch_of
from lineproof.streaming.stages.facts import facts
from lineproof.streaming.tables import archive
from tests.events import payload
from tests.streaming.records import records


@pytest.mark.parametrize("offsets", [(0, 1, 2, 3), (1, 2), (0, 3), (2,)])
def test_records_in_between_belong_to_another_batch(
    spark: SparkSession, tmp_path: Path, offsets: tuple[int, ...]
) -> None:
    """As after a compaction of the archive, whose files hold offsets that do not follow each other."""
    writer = BatchWriter(spark, str(tmp_path), "tests", 0)
    create_table(spark, writer.path(archive.TABLE), archive.TABLE)
    values = [payload(eventTime=f"2026-01-31T10:00:0{n}Z") for n in range(3)]
    writer.append(archive.TABLE, archive.archive(records(spark, [*values, b"no event"])))
    arrived = writer.read(archive.TABLE).where(F.col("offset").isin(*offsets))
    with batch_of(facts(arrived, {}), arrived) as batch:
        assert sorted(row.offset for row in batch.facts.collect()) == list(offsets)
        assert (batch.usable, batch.unusable) == (len(set(offsets) - {3}), len({3} & set(offsets)))
    assert {str(row.day) for row in arrived.collect()} == {"2026-01-31"}


def test_what_a_batch_keeps_lies_beside_the_heap_and_is_given_back(spark: SparkSession) -> None:
    """What a session in which nobody has set memory aside does instead, the cluster test sees."""

    def kept() -> dict[int, tuple[int, int]]:
        """What Spark keeps by now: bytes in memory and on disk."""
        context: Any = spark.sparkContext._jsc.sc()
        return {one.id(): (one.memSize(), one.diskSize()) for one in context.getRDDStorageInfo()}

    before = kept()
    arrived = archive.archive(records(spark, [payload()]))
    with batch_of(facts(arrived, {}), arrived) as batch:
        assert batch.facts.storageLevel == StorageLevel.OFF_HEAP
        [(kept_as, (in_memory, on_disk))] = [one for one in kept().items() if one[0] not in before]
        assert in_memory > 0
        assert on_disk == 0
    assert kept_as not in kept()


def test_what_was_kept_goes_back_to_the_system(spark: SparkSession) -> None:
    """Also the second time: by the first, the C library would have learnt to keep such pieces for itself."""
    jvm: Any = spark._jvm
    process = psutil.Process(jvm.java.lang.ProcessHandle.current().pid())
    kept_mb = 200
    for _ in range(2):
        of_one_kb = spark.range(kept_mb * 1024).select(F.repeat(F.sha2(F.col("id").cast("string"), 256), 16))
        kept = of_one_kb.persist(storage_level(spark))
        kept.count()
        with_it = process.memory_info().rss
        kept.unpersist(blocking=True)
        assert (with_it - process.memory_info().rss) / 2**20 > 0.8 * kept_mb


def test_what_spark_reads_lies_in_the_heap(spark: SparkSession) -> None:
    """Beside it, where Spark reads unless told otherwise as soon as there is room, some of it is never given back."""
    session: Any = spark._jsparkSession
    assert storage_level(spark) == StorageLevel.OFF_HEAP
    assert not session.sessionState().conf().offHeapColumnVectorEnabled()
