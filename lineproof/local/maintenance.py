"""Maintenance as the settings configure it: for `lineproof maintain`, and for the running job."""

from collections.abc import Callable, Sequence

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lineproof.cli.output import err
from lineproof.local.logs import job_log
from lineproof.local.spark_session import spark_session, stop_session
from lineproof.schemas.errors import LineproofError, TableNotFound, suggest
from lineproof.schemas.tables import TABLES
from lineproof.settings import Settings
from lineproof.streaming.upkeep.maintenance import TASKS, Maintenance, MaintenanceResult
from lineproof.streaming.upkeep.maintenance_task import LastRuns, MaintenanceSchedule, MaintenanceTask


class MaintenanceFailed(LineproofError):
    """Maintenance stopped before it was finished."""


def maintain_tables(
    settings: Settings, tasks: Sequence[str], tables: Sequence[str], is_dry: bool, report: Callable[[str, float], None]
) -> list[MaintenanceResult]:
    """Run these tasks on these tables, or on all, in a new Spark session. `report` gets the step and the share done."""
    spark = spark_session(settings)
    try:
        results = maintenance(spark, settings, is_dry=is_dry).run(tasks, tables, report)
        if not is_dry and not tables and "compact" in tasks:
            LastRuns(spark, settings.checkpoints_path).record(is_full=set(tasks) == set(TASKS))
    except (PySparkException, Py4JError) as error:
        raise MaintenanceFailed(
            f"Maintenance stopped: {next(iter(str(error).splitlines()), 'no cause was given')}",
            f"Finished steps stay done, and no data is lost: run it again. See {job_log(settings)} for details.",
        ) from error
    finally:
        stop_session(spark)
    return results


def require_tables(names: Sequence[str]) -> None:
    """Refuse names that no table has, before Spark is started."""
    known = [table.name for table in TABLES]
    for name in names:
        if name not in known:
            raise TableNotFound(f"There is no table {name}.", suggest(name, known))


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
        report=lambda line: err.print(line),
    )
