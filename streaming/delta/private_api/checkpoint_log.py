"""The checkpoint directory of a streaming query: Spark's own text files, whose format Spark does not publish.

`metadata` holds the query's id. `offsets/N` says where batch N ends, and is written before the batch runs. `commits/N`
says that batch N is done. `sources/0/0` says where the first batch of a Kafka source begins.
"""

import json
from typing import Any

from pyspark.sql import SparkSession

from lineproof.streaming.delta.private_api.directory import Directory

_NO_METADATA = '{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}'
_COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'


class CheckpointLog:
    """The log of a query with one source. The directory need not exist yet."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._files = Directory(spark, path)

    def query_id(self) -> str | None:
        """The id that Spark gave the query; None before its first start."""
        metadata = self._files.read("metadata")
        return str(json.loads(metadata)["id"]) if metadata else None

    def last_planned_batch(self) -> int:
        """The number of the last batch whose end is known; -1 if there is none."""
        return max(self._files.numbers("offsets"), default=-1)

    def last_finished_batch(self) -> int:
        """The number of the last batch that is done; -1 if there is none."""
        return max(self._files.numbers("commits"), default=-1)

    def finished_at_ms(self, batch: int) -> int | None:
        """When a batch was done; None if it is not."""
        return self._files.modified_ms(f"commits/{batch}")

    def end_offset(self, batch: int) -> Any:
        """Where a batch ends, in the JSON of its source; batch -1 ends where the first one begins. None if unknown."""
        entry = self._files.read(f"offsets/{batch}" if batch >= 0 else "sources/0/0")
        return None if entry is None else json.loads(entry.splitlines()[-1])

    def plan_batch(self, batch: int, end_offset: Any) -> None:
        """Write where a batch ends."""
        before = self._files.read(f"offsets/{batch - 1}")
        metadata = before.splitlines()[1] if before else _NO_METADATA
        offset = json.dumps(end_offset, separators=(",", ":"))  # Spark compares these texts
        self._files.write(f"offsets/{batch}", f"v1\n{metadata}\n{offset}")

    def finish_batch(self, batch: int) -> None:
        """Write that a batch is done."""
        self._files.write(f"commits/{batch}", _COMMIT)

    def set_query_id(self, query_id: str) -> None:
        """Write the id under which the query goes on."""
        self._files.write("metadata", json.dumps({"id": query_id}))
