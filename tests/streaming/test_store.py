"""Tables as Delta keeps them: comments, constraints, clustering, and columns that a later release adds."""

from dataclasses import replace
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from lineproof.streaming.store import Store, Table

OLDER = Table(
    name="things",
    comment="Things.",
    cluster_by=("name",),
    constraints={"positive": "coalesce(size, 1) > 0"},
    schema=("name STRING NOT NULL COMMENT 'its name'", "size INT", "parts ARRAY<STRUCT<name: STRING>>"),
)
NEWER = replace(
    OLDER,
    schema=(*OLDER.schema[:2], "parts ARRAY<STRUCT<name: STRING, weight: INT>>", "colour STRING COMMENT 'of its skin'"),
)


def test_a_later_release_adds_columns_without_a_rewrite(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(spark, str(tmp_path))
    store.create(OLDER)
    Store(spark, str(tmp_path), "tests", 0).append(
        OLDER, spark.sql("SELECT 'old' AS name, 1 AS size, array(named_struct('name', 'leg')) AS parts")
    )
    files = set((tmp_path / "things").glob("*.parquet"))
    details = DeltaTable.forPath(spark, store.path(OLDER)).detail().collect()[0]
    assert (details.description, details.clusteringColumns) == ("Things.", ["name"])

    for _ in range(2):
        store.evolve(NEWER)
    new = "SELECT 'new' AS name, 2 AS size, array(named_struct('name', 'arm', 'weight', 7)) AS parts, 'red' AS colour"
    Store(spark, str(tmp_path), "tests", 1).append(NEWER, spark.sql(new))
    assert files <= set((tmp_path / "things").glob("*.parquet"))
    rows = {row.name: row for row in store.read(NEWER).collect()}
    assert (rows["old"].colour, rows["old"].parts[0].weight, rows["new"].parts[0].weight) == (None, None, 7)
    comments = {field.name: field.metadata.get("comment") for field in store.read(NEWER).schema}
    assert (comments["name"], comments["colour"]) == ("its name", "of its skin")
    # Created, appended to, evolved once, appended to.
    assert DeltaTable.forPath(spark, store.path(NEWER)).history().count() == 4


@pytest.mark.parametrize("row", ["CAST(NULL AS STRING) AS name, 1 AS size", "'x' AS name, 0 AS size"])
def test_a_row_that_breaks_a_constraint_is_not_written(spark: SparkSession, tmp_path: Path, row: str) -> None:
    store = Store(spark, str(tmp_path), "tests", 0)
    store.create(OLDER)
    with pytest.raises(Py4JJavaError, match=r"DELTA_(NOT_NULL|VIOLATE)"):
        store.append(OLDER, spark.sql(f"SELECT {row}, CAST(NULL AS ARRAY<STRUCT<name: STRING>>) AS parts"))
    assert store.read(OLDER).count() == 0
