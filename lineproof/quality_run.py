"""`lineproof quality run`: suites over the tables and over datasets of the user's, and their results as lineage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from urllib.parse import urlsplit

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lineproof.connection import emitter_of
from lineproof.jobrunner import session_of
from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.dataset_names import file as local_file
from lineproof.producers.emitter import Emitter
from lineproof.producers.sanitise import sanitise
from lineproof.quality.lineage import end, job_name
from lineproof.quality.suite import Suite, find_suites, load_suite
from lineproof.quality.validation import Result, Validator, metrics, rows_of
from lineproof.schemas.errors import LineproofError, nearest
from lineproof.settings import Settings
from lineproof.streaming.job import TABLES
from lineproof.streaming.store import Store

PRODUCT = "lineproof"
"""Whose jobs the suites are, unless the settings say otherwise."""


class UnknownSuite(LineproofError):
    """There is no suite of this name."""


@dataclass(frozen=True)
class Outcome:
    """What became of a suite."""

    suite: str
    results: list[Result] = field(default_factory=list)
    error: str = ""
    """Why it could not be run at all."""

    @property
    def is_sound(self) -> bool:
        """Whether all is as expected."""
        return not self.error and all(result.success for result in self.results)


def suites_of(settings: Settings) -> dict[str, Path]:
    """Ours, and those of the user's."""
    with as_file(files("lineproof.quality").joinpath("suites")) as ours:
        return find_suites([ours, Path(settings.suites)])


def run(settings: Settings, names: Sequence[str], report: Callable[[Outcome], None]) -> list[Outcome]:
    """Run suites by name, or all. What is wrong with one does not keep the others from being run."""
    there = suites_of(settings)
    for name in names:
        if name not in there:
            meant = nearest(name, there)
            known = f"Did you mean {meant}?" if meant else f"There are {', '.join(there)}."
            raise UnknownSuite(f"There is no suite {name}.", known)
    emitter = emitter_of(settings.with_product(PRODUCT))
    spark = session_of(settings)
    try:
        return run_suites(spark, emitter, [there[name] for name in names or there], settings.tables_path, report)
    finally:
        spark.stop()
        emitter.close(30)


def run_suites(
    spark: SparkSession,
    emitter: Emitter,
    suites: Sequence[Path],
    tables: str,
    report: Callable[[Outcome], None] = lambda _: None,
) -> list[Outcome]:
    """One after the other."""
    _show_tables(spark, tables)
    outcomes = []
    for file in suites:
        outcomes.append(_outcome(spark, emitter, file, tables))
        report(outcomes[-1])
    return outcomes


def _outcome(spark: SparkSession, emitter: Emitter, file: Path, tables: str) -> Outcome:
    """A suite that cannot be read tests nothing, and so is no lineage."""
    try:
        suite = load_suite(file)
        validator = Validator(suite)
    except LineproofError as error:
        return Outcome(file.stem, error=f"{error.what} {error.remedy}")
    return _validated(spark, emitter, validator, tables)


def _validated(spark: SparkSession, emitter: Emitter, validator: Validator, tables: str) -> Outcome:
    suite = validator.suite
    dataset = dataset_of(suite, tables)
    with emitter.run(job_name(suite.name), inputs=[dataset]) as lineage:
        try:
            rows = rows_of(spark, suite, tables)
        except PySparkException as error:
            reason = f"{suite.file}: {dataset.name} cannot be read: {sanitise(str(error).splitlines()[0])}"
            lineage.fail(reason)
            return Outcome(suite.name, error=reason)
        results = list(validator.results(rows))
        end(lineage, dataset, suite.name, results, metrics(rows))
    return Outcome(suite.name, results)


def dataset_of(suite: Suite, tables: str) -> DatasetName:
    """What is tested, by the name that lineage has for it."""
    if suite.dataset:
        return DatasetName(*suite.dataset)
    path = suite.place(tables)
    if "://" not in path:
        return local_file(Path(path).absolute())
    parts = urlsplit(path)
    scheme = {"s3a": "s3", "s3n": "s3"}.get(parts.scheme, parts.scheme)
    return DatasetName(f"{scheme}://{parts.netloc}", parts.path.strip("/"))


def _show_tables(spark: SparkSession, tables: str) -> None:
    """Those that are there under their own names, for expectations that look at more than one."""
    store = Store(spark, tables)
    for table in filter(store.exists, TABLES):
        store.read(table).createOrReplaceTempView(table.name)
