"""Tables that several tests read, and none changes."""

import pytest
from pyspark.sql import SparkSession

from lineproof.streaming.delta.reader import TableReader
from tests.streaming.curated import curated
from tests.streaming.story import story


@pytest.fixture(scope="session")
def sound(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> TableReader:
    """Tables without a violation."""
    return curated(spark, str(tmp_path_factory.mktemp("sound")), [[*story(), b"{"]])
