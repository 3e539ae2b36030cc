"""The rows that a suite is about: all of them, those of files written since, or those of files not looked at yet."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import AtomicType

from lineproof.quality.suite import Suite
from lineproof.schemas.table_format import refuse_newer
from lineproof.streaming.delta.snapshot import properties
from lineproof.streaming.upkeep.consistent_version import settled_version


@dataclass(frozen=True)
class Part:
    """Some of the rows, which are enough for expectations about single rows."""

    rows: DataFrame
    since: datetime | None = None
    """Said in a result that is about these rows alone."""
    whole: frozenset[int] = frozenset()
    """Expectations, by their place in the suite, that have to look at all rows nevertheless."""


@dataclass(frozen=True)
class Metrics:
    """What a dataset is like."""

    row_count: int
    null_counts: Mapping[str, int]
    distinct_counts: Mapping[str, int]
    """About so many: exact ones would take longer than all expectations."""


def rows_of(spark: SparkSession, suite: Suite, tables: str, checkpoints: str = "") -> DataFrame:
    """What the suite is about: one of the tables below a directory, or what lies at its path.

    A table of ours is read as it was when the job had last finished a batch: in the midst of one, an event is there
    whose run is not.
    """
    place = suite.place(tables)
    reader = spark.read.format(suite.format)
    if suite.table:
        refuse_newer(place, properties(spark, place))
        version = settled_version(spark, suite.table, place, checkpoints)
        reader = reader if version is None else reader.option("versionAsOf", version)
    return reader.load(place)


def written_since(rows: DataFrame, since: datetime) -> DataFrame:
    """Those in files that were written since. A file that was rewritten counts as new, with all that is in it."""
    return rows.where(F.col("_metadata.file_modification_time") >= F.lit(since))


def files_of(rows: DataFrame) -> frozenset[str]:
    """The files that the rows are in, in the words by which `in_files` knows them: Spark has others, too."""
    return frozenset(row[0] for row in rows.select("_metadata.file_path").distinct().collect())


def in_files(rows: DataFrame, files: Collection[str]) -> DataFrame:
    """Those in some of their files."""
    return rows.where(F.col("_metadata.file_path").isin(list(files)))


def metrics(rows: DataFrame) -> Metrics:
    """Counts of the rows, and of each column."""
    plain = [field.name for field in rows.schema if isinstance(field.dataType, AtomicType)]

    def quoted(name: str) -> Any:
        return F.col(f"`{name}`")

    [counted] = rows.agg(
        F.count("*").alias("rows"),
        F.struct(*(F.count_if(quoted(name).isNull()).alias(name) for name in rows.columns)).alias("nulls"),
        F.struct(*(F.approx_count_distinct(quoted(name)).alias(name) for name in plain)).alias("distinct"),
    ).collect()
    return Metrics(counted.rows, counted.nulls.asDict(), counted.distinct.asDict())
