"""The law for many new histories of about 1,000 runs each.

`make faults` draws 20. FAULT_HISTORIES sets another number, as CI does.
"""

import os
import secrets
from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from tests.streaming import test_law as law

HISTORIES = int(os.environ.get("FAULT_HISTORIES", "20"))

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("history", range(1, HISTORIES + 1))
def test_the_law_holds_for_a_new_history(
    spark: SparkSession, record_property: Callable[[str, object], None], history: int
) -> None:
    seed = secrets.randbits(64)
    repeat = f"LAW_SEED={seed} pytest tests/streaming/test_law.py"
    record_property(f"history {history}, repeat with", repeat)
    print(f"repeat with: {repeat}")
    law.test_batches_in_any_order_give_the_tables_of_the_model(spark, seed)
    law.test_one_batch_gives_the_tables_of_the_model(spark, seed)
