"""Run suites over lineproof's tables and the user's datasets, one after the other; each is a run in lineage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lineproof.producers.dataset_names import DatasetName
from lineproof.producers.dataset_names import file as local_file
from lineproof.producers.emitter import Emitter
from lineproof.producers.run import Run
from lineproof.quality.dataset_reader import (
    RowSubset,
    dataset_metrics,
    file_paths,
    read_dataset,
    rows_in_files,
    rows_written_since,
)
from lineproof.quality.expectations import one_line
from lineproof.quality.lineage import finish_run, job_name
from lineproof.quality.suite import Suite, load_suite
from lineproof.quality.validator import ExpectationResult, Validator
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.sanitise import sanitise
from lineproof.streaming.delta.reader import TableReader
from lineproof.streaming.tables.registry import TABLES


@dataclass(frozen=True)
class SuiteResult:
    """The results of one suite."""

    suite: str
    results: list[ExpectationResult] = field(default_factory=list)
    error: str = ""
    """Why the suite could not be run."""

    @property
    def passed(self) -> bool:
        """Whether the suite ran and every expectation is met."""
        return not self.error and all(result.success for result in self.results)

    def __str__(self) -> str:
        """One line for the terminal and the log."""
        met = sum(result.success for result in self.results)
        return f"{self.suite}: {self.error or f'{met} of {len(self.results)} as expected'}"


@dataclass(frozen=True)
class CheckedFiles:
    """The files that a suite has checked, and the positions of the expectations that failed."""

    suite: Suite
    files: frozenset[str]
    failed: frozenset[int]


class Runner:
    """Runs suites in one session. With `since`, row-level expectations check only rows written since then.

    If `incremental`, each run checks only files that are new since the last one: if all rows were as expected and the
    new ones are, all are. An expectation that failed checks all rows until it passes.
    """

    def __init__(
        self,
        spark: SparkSession,
        emitter: Emitter,
        tables: str,
        *,
        checkpoints: str = "",
        since: datetime | None = None,
        incremental: bool = False,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._spark = spark
        self._emitter = emitter
        self._tables = tables
        self._checkpoints = checkpoints
        self._since = since
        self._incremental = incremental
        self._is_stopping = is_stopping
        self._checked: dict[str, CheckedFiles] = {}

    def run(self, suites: Sequence[Path], report: Callable[[SuiteResult], None] = lambda _: None) -> list[SuiteResult]:
        """Run the suites in order. If one fails, the others still run."""
        self._create_table_views()
        results = []
        for file in suites:
            result = None if self._is_stopping() else self._run_suite(file)
            if result is None:
                break
            results.append(result)
            report(result)
        return results

    def _run_suite(self, file: Path) -> SuiteResult | None:
        """None if it was stopped. A suite that cannot be loaded checks nothing, so it emits no lineage."""
        try:
            suite = load_suite(file)
            validator = Validator(suite)
        except LineproofError as error:
            return SuiteResult(file.stem, error=f"{error.what} {error.remedy}")
        try:
            return self._run_with_lineage(validator)
        except Exception as error:  # of any kind: the other suites still run
            return SuiteResult(suite.name, error=f"{file}: {one_line(error)}")

    def _run_with_lineage(self, validator: Validator) -> SuiteResult | None:
        suite = validator.suite
        dataset = dataset_name(suite, self._tables)
        with self._emitter.run(job_name(suite.name), inputs=[dataset]) as lineage:
            try:
                result = self._validate(validator, dataset, lineage)
            except Exception:
                if not self._is_stopping():
                    raise
                result = None
            if result is None:
                lineage.abort()
        return result

    def _validate(self, validator: Validator, dataset: DatasetName, lineage: Run) -> SuiteResult | None:
        suite = validator.suite
        try:
            rows = read_dataset(self._spark, suite, self._tables, self._checkpoints)
        except PySparkException as error:
            reason = f"{dataset.name} cannot be read: {sanitise(str(error).splitlines()[0])}"
            results = validator.fail_all(reason)
            finish_run(lineage, dataset, suite.name, results, None)
            return SuiteResult(suite.name, results, f"{suite.file}: {reason}")
        files = file_paths(rows) if self._incremental else frozenset()
        subset = self._subset(validator, rows, files)
        results = []
        for result in validator.validate(rows, subset):
            if self._is_stopping():
                return None
            results.append(result)
        finish_run(lineage, dataset, suite.name, results, None if subset else dataset_metrics(rows))
        self._remember(suite, files, results)
        return SuiteResult(suite.name, results)

    def _subset(self, validator: Validator, rows: DataFrame, files: frozenset[str]) -> RowSubset | None:
        """The rows that have to be checked; None if all of them have to."""
        if self._since:
            return RowSubset(rows_written_since(rows, self._since), self._since)
        checked = self._checked.get(validator.suite.name)
        if checked is None or checked.suite != validator.suite:
            return None
        new_rows = rows_in_files(rows, files - checked.files)
        return RowSubset(new_rows, on_all_rows=checked.failed | validator.tolerant_expectations)

    def _remember(self, suite: Suite, files: frozenset[str], results: Sequence[ExpectationResult]) -> None:
        if self._incremental:
            failed = frozenset(position for position, result in enumerate(results) if not result.success)
            self._checked[suite.name] = CheckedFiles(suite, files, failed)

    def _create_table_views(self) -> None:
        """Expectations may query other tables than their own: each existing table is a view of its name."""
        reader = TableReader(self._spark, self._tables)
        for table in filter(reader.exists, TABLES):
            reader.read(table).createOrReplaceTempView(table.name)


def dataset_name(suite: Suite, tables: str) -> DatasetName:
    """The name of the suite's dataset in lineage."""
    if suite.dataset:
        return DatasetName(*suite.dataset)
    path = suite.dataset_path(tables)
    if "://" not in path:
        return local_file(Path(path).absolute())
    parts = urlsplit(path)
    scheme = {"s3a": "s3", "s3n": "s3"}.get(parts.scheme, parts.scheme)
    return DatasetName(f"{scheme}://{parts.netloc}", parts.path.strip("/"))
