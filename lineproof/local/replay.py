"""A replay into tables, as the settings configure it: `lineproof replay --to tables`."""

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.local.endpoints import schema_ids
from lineproof.serving.replay_plan import Plan
from lineproof.settings import Settings
from lineproof.streaming.recovery.rebuild import rebuild, rebuild_config, select_records
from lineproof.streaming.run import Progress


def replay_to_tables(
    spark: SparkSession,
    settings: Settings,
    plan: Plan,
    directory: Path,
    report: Callable[[Progress], None],
    is_stopping: Callable[[], bool],
) -> None:
    """Rebuild all tables in a directory from the selected records. Continues a replay that was stopped."""
    checkpoints = plan.directory / "checkpoints"
    config = rebuild_config(
        settings.tables_path, str(directory), str(checkpoints), schema_ids(settings), settings.limits.limits()
    )
    chosen = plan.filter
    rebuild(
        spark,
        config,
        lambda archived: select_records(archived, chosen.condition, chosen.coordinates),
        report,
        is_stopping,
    )
