"""Read the dataset of a suite: all rows, those in files written since a time, or those in files not checked yet."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import AtomicType

from lineproof.quality.suite import Suite
from lineproof.schemas.table_format import refuse_newer
from lineproof.streaming.delta.private_api.delta_log import properties
from lineproof.streaming.upkeep.consistent_version import consistent_version


@dataclass(frozen=True)
class RowSubset:
    """Rows that are enough to check row-level expectations."""

    rows: DataFrame
    since: datetime | None = None
    """Reported in the results that are about these rows only."""
    on_all_rows: frozenset[int] = frozenset()
    """Positions in the suite of row-level expectations that need all rows nevertheless."""


@dataclass(frozen=True)
class DatasetMetrics:
    """Counts of a dataset."""

    row_count: int
    null_counts: Mapping[str, int]
    distinct_counts: Mapping[str, int]
    """Approximate: exact counts take longer than all expectations."""


def read_dataset(spark: SparkSession, suite: Suite, tables: str, checkpoints: str = "") -> DataFrame:
    """Read the dataset of a suite: one of lineproof's tables, or the files at its path.

    A table of lineproof is read as of the last finished batch of the job: while a batch is being written, there can be
    an event whose run is not there yet.
    """
    path = suite.dataset_path(tables)
    reader = spark.read.format(suite.format)
    if suite.table:
        refuse_newer(path, properties(spark, path))
        version = consistent_version(spark, suite.table, path, checkpoints)
        reader = reader if version is None else reader.option("versionAsOf", version)
    return reader.load(path)


def rows_written_since(rows: DataFrame, since: datetime) -> DataFrame:
    """The rows in files written since then. All rows of a rewritten file count as new."""
    return rows.where(F.col("_metadata.file_modification_time") >= F.lit(since))


def file_paths(rows: DataFrame) -> frozenset[str]:
    """The files of the rows, spelled as `rows_in_files` expects: other APIs of Spark escape paths differently."""
    return frozenset(row[0] for row in rows.select("_metadata.file_path").distinct().collect())


def rows_in_files(rows: DataFrame, files: Collection[str]) -> DataFrame:
    """The rows that are in these files."""
    return rows.where(F.col("_metadata.file_path").isin(list(files)))


def dataset_metrics(rows: DataFrame) -> DatasetMetrics:
    """Count rows, and the nulls and distinct values of each column, in one pass."""
    plain = [field.name for field in rows.schema if isinstance(field.dataType, AtomicType)]

    def quoted(name: str) -> Any:
        return F.col(f"`{name}`")

    [counted] = rows.agg(
        F.count("*").alias("rows"),
        F.struct(*(F.count_if(quoted(name).isNull()).alias(name) for name in rows.columns)).alias("nulls"),
        F.struct(*(F.approx_count_distinct(quoted(name)).alias(name) for name in plain)).alias("distinct"),
    ).collect()
    return DatasetMetrics(counted.rows, counted.nulls.asDict(), counted.distinct.asDict())
