"""The one Delta reader: which tables it refuses, how much memory it takes, and that it reads lazily."""

import json
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema, write_deltalake

from lineproof.schemas.errors import TableNotFound
from lineproof.schemas.table_format import FORMAT, FORMAT_PROPERTY, NewerTable
from lineproof.serving import delta_reader
from lineproof.serving.delta_reader import TableSnapshot, UnreadableTable, bounded_duckdb, rows
from lineproof.serving.sql import QueryError, Tables

NUMBERS = Schema.from_arrow(pa.schema({"n": pa.int64()}))


def read(table: Path) -> list[tuple[Any, ...]]:
    with bounded_duckdb() as connection:
        return sorted(rows(connection.sql(TableSnapshot(table).select(connection))))


def add_reader_features(table: Path, *features: str) -> None:
    """Commit a protocol with these features, as another writer would."""
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": features,
        "writerFeatures": [*features, "appendOnly"],
    }
    commit = table / "_delta_log" / f"{DeltaTable(table).version() + 1:020}.json"
    commit.write_text(json.dumps({"protocol": protocol}) + "\n")


@pytest.mark.parametrize(
    ("configuration", "feature"),
    [
        ({"delta.enableDeletionVectors": "true"}, "deletionVectors"),
        ({"delta.columnMapping.mode": "name"}, "columnMapping"),
    ],
)
def test_features_that_change_what_the_files_mean_are_refused(
    tmp_path: Path, configuration: dict[str, str], feature: str
) -> None:
    DeltaTable.create(tmp_path / "t", NUMBERS, configuration=configuration)
    with pytest.raises(UnreadableTable, match=rf"(?s)The table t .*{feature}.*Use Spark SQL"):
        TableSnapshot(tmp_path / "t")


def test_harmless_features_are_read(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "checkpoints", pa.table({"n": [1, 2]}))
    add_reader_features(tmp_path / "checkpoints", "v2Checkpoint", "vacuumProtocolCheck")
    assert read(tmp_path / "checkpoints") == [(1,), (2,)]
    noon = datetime(2026, 1, 31, 12)
    write_deltalake(tmp_path / "times", pa.table({"at": pa.array([noon], pa.timestamp("us"))}))
    assert DeltaTable(tmp_path / "times").protocol().reader_features == ["timestampNtz"]
    assert read(tmp_path / "times") == [(noon,)]


def test_a_table_of_a_later_release_is_refused(tmp_path: Path) -> None:
    DeltaTable.create(
        tmp_path / "t",
        NUMBERS,
        configuration={FORMAT_PROPERTY: str(FORMAT + 1)},
        raise_if_key_not_exists=False,
    )
    with pytest.raises(NewerTable, match=f"has format {FORMAT + 1}"):
        TableSnapshot(tmp_path / "t")


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableNotFound, match=r"There is no table .*/nowhere"):
        TableSnapshot(tmp_path / "nowhere")


def test_files_have_statistics_and_may_be_read_one_by_one(tmp_path: Path) -> None:
    for numbers in ([1, 2], [7, 9]):
        write_deltalake(tmp_path / "t", pa.table({"n": numbers}), mode="append")
    table = TableSnapshot(tmp_path / "t")
    files = sorted(table.files, key=lambda file: file.range_of("n", (0, 0)))
    assert [(file.rows, file.range_of("n", (0, 0))) for file in files] == [(2, (1, 2)), (2, (7, 9))]
    assert files[0].range_of("other", (-1, -1)) == (-1, -1)
    with bounded_duckdb() as connection:
        assert list(rows(connection.sql(table.select(connection, files[1:])))) == [(7,), (9,)]
        assert list(rows(connection.sql(table.select(connection, [])))) == []


def test_memory_is_limited_and_the_rest_goes_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_reader, "MEMORY_LIMIT", "60MB")
    query = "SELECT range, repeat('x', 200) AS text FROM range(400000) ORDER BY hash(range)"
    with bounded_duckdb(tmp_path / "spill") as connection:
        connection.execute("SET threads = 1")
        relation = connection.sql(query)
        found = rows(relation)
        next(found)
        assert any(file.is_file() for file in (tmp_path / "spill").rglob("*")), "it does not fit into memory"
        assert sum(1 for _ in found) == 399_999
    assert list((tmp_path / "spill").iterdir()) == [], "removed afterwards"


def test_rows_are_read_as_they_are_used(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", pa.table({"n": [1]}))
    tables = Tables(str(tmp_path))
    with tables.stream("SELECT range AS number FROM range(1000000000000)") as result:
        assert result.columns == ["number"]
        assert [number for (number,) in islice(result.rows, 3)] == [0, 1, 2]
    late = "SELECT CAST(if(range = 500000, 'x', '1') AS INT) FROM range(1000000)"
    with pytest.raises(QueryError, match="The query failed: Conversion Error"), tables.stream(late) as result:
        list(result.rows)
