"""What every table says of itself (R40-R45)."""

import pytest

from lineproof.streaming.job import TABLES
from lineproof.streaming.store import Table


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_is_documented_and_the_usual_question_is_fast(table: Table) -> None:
    assert [column for column in table.schema if " COMMENT '" not in column] == []
    assert table.comment.endswith(".")
    assert table.cluster_by or table.partition_by
    assert {*table.cluster_by, *table.partition_by} <= set(table.columns)
