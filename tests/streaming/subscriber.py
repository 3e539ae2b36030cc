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
    **{topic: Target(topic, newest(schema).header()) for topic, schema in SCHEMAS.items()},
    "quality": Target("quality", newest("quality_result").header(schema_id=7)),  # as with a schema registry
}
COLUMNS = ("kind", "verdict", "subject", "run_id", "detail")
"""The columns that the records and the view have in common."""
Record = dict[str, Any]


class Subscriber:
    """The records of the topics, with their keys, in the order in which they were written."""

    def __init__(self) -> None:
        self._records: dict[str, list[tuple[str, Record]]] = {topic: [] for topic in TO}

    def take(self, batch: Batch, touched: DataFrame | None, store: TableReader) -> None:
        """Take the records that a batch publishes."""
        frames = [*published(batch, touched, store, TO)]  # none, if no record of the batch is usable
        for row in reduce(DataFrame.unionByName, frames).collect() if frames else ():
            header = TO[row.topic].header
            assert bytes(row.value).startswith(header)
            record = newest(SCHEMAS[row.topic]).read(bytes(row.value)[len(header) :])
            self._records[row.topic].append((bytes(row.key).decode(), record))

    def without_repeats(self, topic: str) -> list[tuple[str, Record]]:
        """The records for a consumer that drops known ids."""
        by_id = {record["record_id"]: (key, record) for key, record in reversed(self._records[topic])}
        assert all(by_id[record["record_id"]] == (key, record) for key, record in self._records[topic])
        return [*reversed(by_id.values())]

    def compacted(self, topic: str) -> dict[str, Record]:
        """The last record of each key."""
        return dict(self._records[topic])

    def assert_agrees_with_sql(self, spark: SparkSession, store: TableReader) -> None:
        """After all batches: every ended run, every test result, and every violation that stands."""
        runs = [run for run in _rows(store.read(runs_table.TABLE), "run") if run["ended_at"]]
        assert _plain(self.compacted("runs").values()) == _plain(runs)

        results = [record for _, record in self.without_repeats("quality")]
        assert _plain(results) == _plain(_rows(store.read(quality_results.TABLE), "quality_result"))
        latest = {result["test_id"]: _version(result) for result in sorted(results, key=_version)}
        assert {key: _version(result) for key, result in self.compacted("quality").items()} == latest

        query = f"""
            SELECT {", ".join(COLUMNS)} FROM violations
            WHERE kind IN ('ledger', 'quality') OR verdict IN ('altered', 'unknown algorithm')
        """
        [answer] = run_sql(spark, store, query)
        violations = {tuple(row) for row in answer.collect()}
        assert {kind for kind, *_ in violations} == {"ledger", "certificate", "quality"}
        last = self.compacted("violations").values()
        assert {tuple(record[name] for name in COLUMNS) for record in last if record["stands"]} == violations
        # Later events fixed some of them, and the subscriber got a record for that.
        fixed = {record["kind"] for record in last if not record["stands"]}
        assert fixed == {"ledger", "quality"}
        stood = {key for key, record in self.without_repeats("violations") if record["stands"]}
        assert any(not record["stands"] for key, record in self.compacted("violations").items() if key in stood)


def _rows(table: DataFrame, schema: str) -> list[Record]:
    """The rows of a table, with the columns that are published."""
    columns = {field["name"] for field in newest(schema).parsed["fields"]}
    return [in_utc(row.asDict(recursive=True)) for row in table.select(*(columns & {*table.columns})).collect()]


def _plain(records: Iterable[Record]) -> list[str]:
    """Sorted texts of the records, without the ids that no table has."""
    ignored = ("record_id", "test_id", "truncated")
    return sorted(repr(sorted(pair for pair in record.items() if pair[0] not in ignored)) for record in records)


def _version(result: Record) -> Any:
    return result["event_time"], result["event_id"], result["result_id"]
