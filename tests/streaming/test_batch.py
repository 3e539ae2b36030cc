"""A batch is what the stream brought, no more and no less."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.batch import batch_of
from lineproof.streaming.facts import facts
from lineproof.streaming.store import Store
from lineproof.streaming.tables import archive
from tests.events import payload
from tests.streaming.records import records


@pytest.mark.parametrize("offsets", [(0, 1, 2, 3), (1, 2), (0, 3), (2,)])
def test_records_in_between_belong_to_another_batch(
    spark: SparkSession, tmp_path: Path, offsets: tuple[int, ...]
) -> None:
    """As after a compaction of the archive, whose files hold offsets that do not follow each other."""
    store = Store(spark, str(tmp_path), "tests", 0)
    store.create(archive.TABLE)
    values = [payload(eventTime=f"2026-01-31T10:00:0{n}Z") for n in range(3)]
    store.append(archive.TABLE, archive.archive(records(spark, [*values, b"no event"])))
    arrived = store.read(archive.TABLE).where(F.col("offset").isin(*offsets))
    with batch_of(facts(arrived, {}), arrived) as batch:
        assert sorted(row.offset for row in batch.facts.collect()) == list(offsets)
        assert (batch.usable, batch.unusable) == (len(set(offsets) - {3}), len({3} & set(offsets)))
    assert {str(row.day) for row in arrived.collect()} == {"2026-01-31"}
