"""Quality suites as the settings configure them: for `lineproof quality run`, and for the running job."""

from collections.abc import Callable, Sequence
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.connection import emitter_of
from lineproof.local.spark_session import spark_session, stop_session
from lineproof.quality.background_task import QualitySchedule, QualityTask
from lineproof.quality.runner import Runner, SuiteResult
from lineproof.quality.suite import find_suites
from lineproof.schemas.errors import LineproofError, suggest
from lineproof.settings import Settings

PRODUCT = "lineproof"
"""The product that the suites' jobs belong to, unless the settings name another."""


class UnknownSuite(LineproofError):
    """There is no suite of this name."""


def suites_of(settings: Settings) -> dict[str, Path]:
    """The suites that lineproof ships, and those of the user."""
    with as_file(files("lineproof.quality").joinpath("suites")) as shipped:
        return find_suites([shipped, Path(settings.quality.suites)])


def run_suites(
    settings: Settings, names: Sequence[str], report: Callable[[SuiteResult], None], since: datetime | None = None
) -> list[SuiteResult]:
    """Run suites by name, or all. With `since`, row-level expectations check only rows written since then."""
    suites = suites_of(settings)
    for name in names:
        if name not in suites:
            raise UnknownSuite(f"There is no suite {name}.", suggest(name, suites))
    emitter = emitter_of(settings.with_product(PRODUCT))
    spark = spark_session(settings)
    try:
        runner = Runner(spark, emitter, settings.tables_path, checkpoints=settings.checkpoints_path, since=since)
        return runner.run([suites[name] for name in names or suites], report)
    finally:
        stop_session(spark)
        emitter.close(30)


def quality_task(spark: SparkSession, settings: Settings) -> QualityTask:
    """Run all suites in the running job, as often as the settings say."""
    return QualityTask(
        spark,
        settings.tables_path,
        settings.checkpoints_path,
        QualitySchedule(settings.quality.run_every_seconds, settings.quality.run_every_batches),
        connect=lambda: emitter_of(settings.with_product(PRODUCT)),
        find_suites=lambda: suites_of(settings).values(),
    )
