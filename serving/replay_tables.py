"""The archive into tables of their own: by the same queries as the live job, without a broker."""

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.local.job_runner import schema_ids_of
from lineproof.schemas.errors import LineproofError
from lineproof.serving.replay_plan import Plan, load_plan, make_plan
from lineproof.serving.selection import Selection
from lineproof.settings import Settings
from lineproof.streaming.recovery.rebuild import rebuild, rebuild_config
from lineproof.streaming.run import Progress
from lineproof.streaming.tables.archive import COORDINATES

KEPT_IN = ".replay"
"""Below the tables: the plan, and the checkpoints. Nobody who looks for tables sees it."""


class UnsuitableDirectory(LineproofError):
    """Tables cannot be rebuilt there."""

    exit_code = 2


def plan_tables(settings: Settings, selection: Selection, directory: Path) -> Plan:
    """The plan of a replay into tables: of the one that was begun there, or of a new one."""
    tables, purpose = settings.tables_path, {"tables": settings.tables_path, "selection": selection.said()}
    _refuse_live_tables(directory, tables)
    plan = load_plan(directory / KEPT_IN)
    if plan is None:
        _refuse_strange_files(directory)
        return make_plan(directory / KEPT_IN, purpose, selection, tables, settings.home)
    if plan.purpose != purpose:
        raise UnsuitableDirectory(
            f"{directory} holds the replay of another selection: {plan.purpose}.",
            "Say the same to go on with it. For another selection name another directory, or remove this one.",
        )
    return plan


def _refuse_live_tables(directory: Path, tables: str) -> None:
    """Never write among the live tables."""
    here, live = directory.resolve(), Path(tables).resolve()
    if here == live or live in here.parents or here in live.parents:
        raise UnsuitableDirectory(
            f"{directory} holds the live tables, or is among them.", "Name an empty directory of its own."
        )


def _refuse_strange_files(directory: Path) -> None:
    """What no replay has made is not ours to write among."""
    if directory.exists() and (not directory.is_dir() or any(one.name != KEPT_IN for one in directory.iterdir())):
        raise UnsuitableDirectory(
            f"{directory} is not empty, and no replay has begun there.", "Name an empty directory, or a new one."
        )


def replay_to_tables(
    spark: SparkSession,
    settings: Settings,
    plan: Plan,
    directory: Path,
    report: Callable[[Progress], None],
    is_stopping: Callable[[], bool],
) -> None:
    """Make all tables of what is selected. One that was stopped goes on where it was."""
    checkpoints = plan.directory / "checkpoints"
    config = rebuild_config(settings.tables_path, str(directory), str(checkpoints), schema_ids_of(settings))
    rebuild(spark, config, lambda archived: selected(archived, plan), report, is_stopping)


def selected(archived: DataFrame, plan: Plan) -> DataFrame:
    """The selected rows of the archive: the same that are sent to a topic."""
    rows = archived.alias("archive").where(plan.selected.condition)
    if plan.selected.coordinates is None:
        return rows
    coordinates = archived.sparkSession.read.parquet(str(plan.selected.coordinates))
    return rows.join(F.broadcast(coordinates), list(COORDINATES), "left_semi")
