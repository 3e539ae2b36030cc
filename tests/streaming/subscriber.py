"""A subscriber to the topics, without Kafka: compares the records that it got with the answers of SQL."""

from collections.abc import Iterable
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lineproof.schemas.avro import newest
from lineproof.streaming.config import Target
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.stages.publish import SCHEMAS, published
from lineproof.streaming.tables import quality_results
from lineproof.streaming.tables import runs as runs_table
from tests.streaming.curated import in_utc, run_sql

TO = {
    **{what: Target(what, newest(schema).header()) for what, schema in SCHEMAS.items()},
    "quality": Target("quality", newest("quality_result").header(schema_id=7)),  # as with a schema registry
}
WORDS = ("kind", "verdict", "subject", "run_id", "detail")
"""What a violation and the view both say."""
Record = dict[str, Any]


class Subscriber:
    """The topics as Kafka would have them: records by key, in the order in which they were written."""

    def __init__(self) -> None:
        self._records: dict[str, list[tuple[str, Record]]] = {what: [] for what in TO}

    def take(self, batch: Batch, touched: DataFrame | None, store: TableReader) -> None:
        """What a batch publishes."""
        frames = [*published(batch, touched, store, TO)]  # none, if no record of the batch is usable
        for row in reduce(DataFrame.unionByName, frames).collect() if frames else ():
            header = TO[row.topic].header
            assert bytes(row.value).startswith(header)
            record = newest(SCHEMAS[row.topic]).read(bytes(row.value)[len(header) :])
            self._records[row.topic].append((bytes(row.key).decode(), record))

    def once(self, what: str) -> list[tuple[str, Record]]:
        """Without repeats, as a consumer sees them who drops ids that it knows."""
        by_id = {record["record_id"]: (key, record) for key, record in reversed(self._records[what])}
        assert all(by_id[record["record_id"]] == (key, record) for key, record in self._records[what])
        return [*reversed(by_id.values())]

    def compacted(self, what: str) -> dict[str, Record]:
        """The last of each key."""
        return dict(self._records[what])

    def assert_knows_what_sql_says(self, spark: SparkSession, store: TableReader) -> None:
        """After all batches: every settled run and every result; and of violations, those that stand."""
        runs = [run for run in _rows(store.read(runs_table.TABLE), "run") if run["ended_at"]]
        assert _plain(self.compacted("runs").values()) == _plain(runs)

        results = [record for _, record in self.once("quality")]
        assert _plain(results) == _plain(_rows(store.read(quality_results.TABLE), "quality_result"))
        latest = {one["test_id"]: _version(one) for one in sorted(results, key=_version)}
        assert {key: _version(one) for key, one in self.compacted("quality").items()} == latest

        query = f"""
            SELECT {", ".join(WORDS)} FROM violations
            WHERE kind IN ('ledger', 'quality') OR verdict IN ('altered', 'unknown algorithm')
        """
        [answer] = run_sql(spark, store, query)
        violations = {tuple(row) for row in answer.collect()}
        assert {kind for kind, *_ in violations} == {"ledger", "certificate", "quality"}
        last = self.compacted("violations").values()
        assert {tuple(record[name] for name in WORDS) for record in last if record["stands"]} == violations
        # Some were mended by what came later, and their subscribers were told of it.
        mended = {record["kind"] for record in last if not record["stands"]}
        assert mended == {"ledger", "quality"}
        stood = {key for key, record in self.once("violations") if record["stands"]}
        assert any(not record["stands"] for key, record in self.compacted("violations").items() if key in stood)


def _rows(table: DataFrame, schema: str) -> list[Record]:
    """The rows of a table, with the columns that are published."""
    columns = {field["name"] for field in newest(schema).parsed["fields"]}
    return [in_utc(row.asDict(recursive=True)) for row in table.select(*(columns & {*table.columns})).collect()]


def _plain(records: Iterable[Record]) -> list[str]:
    """In an order of their own, and without the ids that no table has."""
    ignored = ("record_id", "test_id")
    return sorted(repr(sorted(pair for pair in one.items() if pair[0] not in ignored)) for one in records)


def _version(result: Record) -> Any:
    return result["event_time"], result["event_id"], result["result_id"]
