"""The definitions of all tables, and the registry."""

import pytest

from lineproof.schemas import tables as contracts
from lineproof.settings.sections import RetentionSettings
from lineproof.streaming.delta.table import Table
from lineproof.streaming.tables import accepted_losses, archive
from lineproof.streaming.tables.registry import CURATED, DERIVED, GRAPH, TABLES


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_is_documented_and_the_usual_query_is_fast(table: Table) -> None:
    assert [column for column in table.schema if " COMMENT '" not in column] == []
    assert table.comment.endswith(".")
    assert table.cluster_by or table.partition_by
    assert {*table.cluster_by, *table.partition_by} <= set(table.columns)


def test_every_table_that_has_a_time_has_a_retention() -> None:
    """Rows expire by that time. Tables of what is known now, and of certificates, keep their rows for ever."""
    kept = {table.retention_setting or table.name for table in TABLES if table.retention_column}
    assert kept == set(RetentionSettings.model_fields) - {"default", "vacuum_after"}
    kept_for_ever = {"jobs", "datasets", "dataset_nodes", "job_io", "certificates", "quarantine", "accepted_losses"}
    assert {table.name for table in TABLES if not table.retention_column} == kept_for_ever
    assert all(table.retention_column.split(".")[0] in table.columns for table in TABLES if table.retention_column)


def test_the_registry_has_the_tables_that_readers_know() -> None:
    """The same names and keys in the same order, each written by the query that the contract names."""
    assert tuple(table.contract for table in TABLES) == contracts.TABLES
    assert tuple(module.TABLE.contract for module in DERIVED) == contracts.DERIVED
    assert {table.contract.written_by for table in (archive.TABLE, accepted_losses.TABLE)} == {contracts.INGEST}
    assert {module.TABLE.contract.written_by for module in CURATED} == {contracts.CURATE}
    assert {module.TABLE.contract.written_by for module in GRAPH} == {contracts.GRAPH}
    assert [table.name for table in TABLES if not set(table.key) <= set(table.columns)] == []


def test_a_module_has_the_name_of_its_table() -> None:
    assert [vars(module)["__name__"].rpartition(".")[2] for module in DERIVED] == [
        module.TABLE.name for module in DERIVED
    ]
