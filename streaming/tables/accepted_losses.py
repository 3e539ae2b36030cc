"""`accepted_losses`: offsets that were given up with `--accept-loss`.

They are kept as properties of the archive, which outlive every other table, and written to this table when ingest
starts. So the table can be removed like all tables except the archive.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timezone

import pyarrow as pa
from pyspark.sql import SparkSession

from lineproof.schemas.tables import ACCEPTED_LOSSES
from lineproof.streaming.delta.definition import Definition, create_table
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.delta.table import Table
from lineproof.streaming.recovery.migrations import migrate
from lineproof.streaming.recovery.topic import LostRange
from lineproof.streaming.tables import archive

TABLE = Table(
    contract=ACCEPTED_LOSSES,
    comment="Offsets that the topics lost before they were archived, and that were given up with --accept-loss.",
    cluster_by=("topic",),
    schema=(
        "topic STRING COMMENT 'name of the topic, as in the archive'",
        "partition INT COMMENT 'Kafka partition'",
        "first_offset BIGINT COMMENT 'first lost offset'",
        "last_offset BIGINT COMMENT 'last lost offset; null if the topic was gone, so that nobody knows'",
        "batch BIGINT COMMENT 'the batch of ingest that skips them'",
        "accepted_at TIMESTAMP COMMENT 'when the loss was accepted'",
    ),
)
PROPERTY = "lineproof.lost."
"""The prefix of the archive's properties that hold a lost range."""

_SCHEMA = pa.schema(
    [
        *(("topic", pa.string()), ("partition", pa.int32())),
        *((name, pa.int64()) for name in ("first_offset", "last_offset", "batch")),
        ("accepted_at", pa.timestamp("us", tz="UTC")),
    ]
)


class AcceptedLosses:
    """The accepted losses of one archive."""

    def __init__(self, spark: SparkSession, tables: TableReader) -> None:
        self._spark = spark
        self._tables = tables
        self._archive = Definition(spark, tables.path(archive.TABLE), archive.TABLE)

    def record(self, lost: Sequence[LostRange], batch: int) -> None:
        """Keep the ranges, before the checkpoint skips them."""
        now = datetime.now(timezone.utc).isoformat()
        self._archive.set(
            {
                f"{PROPERTY}{range_.archived_as}/{range_.partition}/{range_.first}": json.dumps(
                    {"last": None if range_.end is None else range_.end - 1, "batch": batch, "at": now}
                )
                for range_ in lost
            }
        )

    def forget_after(self, batch: int) -> None:
        """Forget losses whose batch was never finished: accepting them was interrupted."""
        kept = {name: value for name, value in self._archive.properties.items() if name.startswith(PROPERTY) and value}
        self._archive.set({name: "" for name, value in kept.items() if json.loads(value)["batch"] > batch})

    def write_table(self) -> None:
        """Write the table, if it does not have exactly these losses."""
        path = self._tables.path(TABLE)
        if self._tables.exists(TABLE):
            migrate(self._spark, path, TABLE)
        else:
            create_table(self._spark, path, TABLE)
        rows = pa.Table.from_pylist(sorted(self._rows(), key=repr), _SCHEMA)
        written = self._tables.read(TABLE).toArrow().select(_SCHEMA.names).cast(_SCHEMA)
        if sorted(written.to_pylist(), key=repr) != rows.to_pylist():
            self._spark.createDataFrame(rows).write.format("delta").mode("overwrite").save(path)

    def _rows(self) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = []
        for name, value in self._archive.properties.items():
            if name.startswith(PROPERTY) and value:
                topic, partition, first = name.removeprefix(PROPERTY).rsplit("/", 2)
                kept = json.loads(value)
                where = {"topic": topic, "partition": int(partition), "first_offset": int(first)}
                at = datetime.fromisoformat(kept["at"])
                rows.append({**where, "last_offset": kept["last"], "batch": kept["batch"], "accepted_at": at})
        return rows
