"""Tables that several tests look at, and none changes."""

import pytest
from pyspark.sql import SparkSession

from lineproof.streaming.delta.store import Store
from tests.streaming.curated import curated
from tests.streaming.story import story


@pytest.fixture(scope="session")
def sound(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Tables in which all is well."""
    return curated(spark, str(tmp_path_factory.mktemp("sound")), [[*story(), b"{"]])
