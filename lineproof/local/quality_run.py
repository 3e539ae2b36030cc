"""`lineproof quality run`: suites by name, as the settings say."""

from collections.abc import Callable, Sequence
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path

from lineproof.connection import emitter_of
from lineproof.local.job_runner import session_of
from lineproof.quality.runner import Outcome, Runner
from lineproof.quality.suite import find_suites
from lineproof.schemas.errors import LineproofError, suggest
from lineproof.settings import Settings

PRODUCT = "lineproof"
"""Whose jobs the suites are, unless the settings say otherwise."""


class UnknownSuite(LineproofError):
    """There is no suite of this name."""


def suites_of(settings: Settings) -> dict[str, Path]:
    """Ours, and those of the user's."""
    with as_file(files("lineproof.quality").joinpath("suites")) as ours:
        return find_suites([ours, Path(settings.suites)])


def run(
    settings: Settings, names: Sequence[str], report: Callable[[Outcome], None], since: datetime | None = None
) -> list[Outcome]:
    """Run suites by name, or all; those about single rows over what was written since."""
    there = suites_of(settings)
    for name in names:
        if name not in there:
            raise UnknownSuite(f"There is no suite {name}.", suggest(name, there))
    emitter = emitter_of(settings.with_product(PRODUCT))
    spark = session_of(settings)
    try:
        runner = Runner(spark, emitter, settings.tables_path, checkpoints=settings.checkpoints_path, since=since)
        return runner.run([there[name] for name in names or there], report)
    finally:
        spark.stop()
        emitter.close(30)
