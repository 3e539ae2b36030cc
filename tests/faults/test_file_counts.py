"""500 small batches: with maintenance, the number of files stays bounded.

Prints the table of docs/maintenance.md. FILE_BATCHES=60 makes it shorter.
"""

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lineproof.streaming.tables.registry import TABLES
from lineproof.streaming.upkeep.maintenance import FEW_FILES
from tests.streaming.file_counts import GRAPH_EVERY, file_counts

BATCHES = int(os.environ.get("FILE_BATCHES", "500"))
COMPACT_EVERY = int(os.environ.get("FILE_COMPACT_EVERY", "100"))

pytestmark = pytest.mark.faults


def test_files_of_small_batches_stay_bounded(spark: SparkSession, tmp_path: Path) -> None:
    names = [table.name for table in TABLES]
    print("batch", *names, sep=" | ")
    batches: dict[str, int] = {}
    for number, is_compacted, files in file_counts(spark, str(tmp_path / "tables"), BATCHES, COMPACT_EVERY):
        if is_compacted or number % (COMPACT_EVERY // 4) == 0:
            print(f"{number}{' compacted' if is_compacted else ''}", *files.values(), sep=" | ", flush=True)
        if is_compacted:
            batches = dict.fromkeys(files, 0)
            assert max(files.values()) <= FEW_FILES, files
        else:
            # A batch adds one or two files per table; a merge also rewrites the files it changes.
            assert all(count <= FEW_FILES + 4 * (batches.get(name, 0) + 1) for name, count in files.items()), files
            batches = {name: batches.get(name, 0) + 1 for name in files}
    assert GRAPH_EVERY < COMPACT_EVERY
