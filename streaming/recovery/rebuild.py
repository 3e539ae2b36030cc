"""Rebuild the derived tables from the archive in another directory, with the queries of the job and no broker."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.schemas.durations import AVAILABLE_NOW
from lineproof.schemas.limits import DEFAULT_LIMITS, Limits
from lineproof.schemas.tables import COORDINATES
from lineproof.streaming.config import CurateConfig
from lineproof.streaming.curate import Curate
from lineproof.streaming.recovery.failures import explain
from lineproof.streaming.run import Progress, follow


def rebuild_config(
    archive_root: str,
    tables: str,
    checkpoints: str,
    schema_ids: Mapping[int, int],
    limits: Limits = DEFAULT_LIMITS,
) -> CurateConfig:
    """Curate and graph over another archive, until they have caught up. Nothing is published."""
    return CurateConfig(
        tables=tables,
        checkpoints=checkpoints,
        trigger=AVAILABLE_NOW,
        graph_trigger=AVAILABLE_NOW,
        schema_ids=schema_ids,
        limits=limits,
        archive_root=archive_root,
    )


def rebuild(
    spark: SparkSession,
    config: CurateConfig,
    select: Callable[[DataFrame], DataFrame],
    report: Callable[[Progress], None],
    is_stopping: Callable[[], bool],
) -> None:
    """Rebuild the tables from the selected rows of the archive. Continues a rebuild that was stopped."""
    curate = Curate(spark, config)
    try:
        curate.prepare()
        for start in (partial(curate.start_curate, select), curate.start_graph):
            if is_stopping():
                return
            query = start()
            try:
                follow([query], curate.row_counts, report, is_stopping)
            finally:
                query.stop()
    except (PySparkException, Py4JError) as error:
        raise explain(str(error)) from error


def select_records(archived: DataFrame, condition: str, coordinates: Path | None) -> DataFrame:
    """Rows of the archive by a condition on rows aliased `archive` and, if given, by a Parquet file of coordinates."""
    rows = archived.alias("archive").where(condition)
    if coordinates is None:
        return rows
    selected = archived.sparkSession.read.parquet(str(coordinates))
    return rows.join(F.broadcast(selected), list(COORDINATES), "left_semi")
