"""What every table says of itself (R40-R45)."""

import pytest

from lineproof.settings.sections import RetentionSettings
from lineproof.streaming.delta.store import Table
from lineproof.streaming.job import TABLES


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_is_documented_and_the_usual_question_is_fast(table: Table) -> None:
    assert [column for column in table.schema if " COMMENT '" not in column] == []
    assert table.comment.endswith(".")
    assert table.cluster_by or table.partition_by
    assert {*table.cluster_by, *table.partition_by} <= set(table.columns)


def test_every_table_that_has_a_time_has_a_retention() -> None:
    """Whose last rows are found by it; what is known now is never too old (R54)."""
    kept = {table.kept_as or table.name for table in TABLES if table.kept_by}
    assert kept == set(RetentionSettings.model_fields) - {"default", "vacuum_after"}
    assert {table.name for table in TABLES if not table.kept_by} == {"jobs", "datasets", "certificates"}
    assert all(table.kept_by.split(".")[0] in table.columns for table in TABLES if table.kept_by)
