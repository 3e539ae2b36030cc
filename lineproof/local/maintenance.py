"""Maintenance as the settings configure it: for `lineproof maintain`, and for the running job."""

from collections.abc import Callable

from pyspark.sql import SparkSession
from rich.markup import escape

from lineproof.cli.output import err
from lineproof.settings import Settings
from lineproof.streaming.upkeep.maintenance import Maintenance
from lineproof.streaming.upkeep.maintenance_task import MaintenanceSchedule, MaintenanceTask


def maintenance(
    spark: SparkSession,
    settings: Settings,
    *,
    is_dry: bool = False,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Maintenance:
    """Maintenance of the configured tables, with their retention."""
    return Maintenance(
        spark,
        settings.tables_path,
        settings.checkpoints_path,
        settings.retention.days(),
        settings.retention.vacuum_after.timedelta,
        is_dry=is_dry,
        is_stopping=is_stopping,
    )


def maintenance_schedule(settings: Settings) -> MaintenanceSchedule:
    """How often the running job maintains its tables."""
    return MaintenanceSchedule(
        compact_every_s=settings.maintenance.compact_every_seconds,
        full_every_s=settings.maintenance.full_every_seconds,
    )


def maintenance_task(spark: SparkSession, settings: Settings) -> MaintenanceTask:
    """Maintain the tables in the running job, and print one line about each run."""
    return MaintenanceTask(
        spark,
        settings.checkpoints_path,
        maintenance_schedule(settings),
        lambda is_stopping: maintenance(spark, settings, is_stopping=is_stopping),
        report=lambda line: err.print(escape(line)),
    )
