"""Suites over the tables and over datasets of the user's, one after the other, each a run in lineage."""

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
from lineproof.quality.expectations import in_short
from lineproof.quality.lineage import end, job_name
from lineproof.quality.rows import Part, files_of, in_files, metrics, rows_of, written_since
from lineproof.quality.suite import Suite, load_suite
from lineproof.quality.validation import Result, Validator
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.sanitise import sanitise
from lineproof.streaming.delta.store import Store
from lineproof.streaming.job import TABLES


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

    def __str__(self) -> str:
        """In one line."""
        met = sum(result.success for result in self.results)
        return f"{self.suite}: {self.error or f'{met} of {len(self.results)} as expected'}"


@dataclass(frozen=True)
class Looked:
    """What a suite has looked at, and found to be good but for some."""

    suite: Suite
    files: frozenset[str]
    failed: frozenset[int]


class Runner:
    """Runs suites in one session. With `since`, expectations about single rows look only at rows written since.

    One that `remembers` looks again only at what has changed since its last run: where all rows were as expected, and
    those of new files are, all are. An expectation that was not met looks at everything, until it is.
    """

    def __init__(
        self,
        spark: SparkSession,
        emitter: Emitter,
        tables: str,
        *,
        checkpoints: str = "",
        since: datetime | None = None,
        remembers: bool = False,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._spark = spark
        self._emitter = emitter
        self._tables = tables
        self._checkpoints = checkpoints
        self._since = since
        self._remembers = remembers
        self._is_stopping = is_stopping
        self._looked: dict[str, Looked] = {}

    def run(self, suites: Sequence[Path], report: Callable[[Outcome], None] = lambda _: None) -> list[Outcome]:
        """One after the other. What is wrong with one does not keep the others from being run."""
        self._show_tables()
        outcomes = []
        for file in suites:
            outcome = None if self._is_stopping() else self._outcome(file)
            if outcome is None:
                break
            outcomes.append(outcome)
            report(outcome)
        return outcomes

    def _outcome(self, file: Path) -> Outcome | None:
        """None if it was given up. A suite that cannot be read tests nothing, and so is no lineage."""
        try:
            suite = load_suite(file)
            validator = Validator(suite)
        except LineproofError as error:
            return Outcome(file.stem, error=f"{error.what} {error.remedy}")
        try:
            return self._validated(validator)
        except Exception as error:  # whatever it is, the other suites go on
            return Outcome(suite.name, error=f"{file}: {in_short(error)}")

    def _validated(self, validator: Validator) -> Outcome | None:
        suite = validator.suite
        dataset = dataset_of(suite, self._tables)
        with self._emitter.run(job_name(suite.name), inputs=[dataset]) as lineage:
            try:
                outcome = self._tested(validator, dataset, lineage)
            except Exception:
                if not self._is_stopping():
                    raise
                outcome = None
            if outcome is None:
                lineage.abort()
        return outcome

    def _tested(self, validator: Validator, dataset: DatasetName, lineage: Run) -> Outcome | None:
        suite = validator.suite
        try:
            rows = rows_of(self._spark, suite, self._tables, self._checkpoints)
        except PySparkException as error:
            reason = f"{dataset.name} cannot be read: {sanitise(str(error).splitlines()[0])}"
            results = validator.not_looked_at(reason)
            end(lineage, dataset, suite.name, results, None)
            return Outcome(suite.name, results, f"{suite.file}: {reason}")
        files = files_of(rows) if self._remembers else frozenset()
        part = self._part(validator, rows, files)
        results = []
        for result in validator.results(rows, part):
            if self._is_stopping():
                return None
            results.append(result)
        end(lineage, dataset, suite.name, results, None if part else metrics(rows))
        self._remember(suite, files, results)
        return Outcome(suite.name, results)

    def _part(self, validator: Validator, rows: DataFrame, files: frozenset[str]) -> Part | None:
        """The rows that have to be looked at, unless it is all of them."""
        if self._since:
            return Part(written_since(rows, self._since), self._since)
        looked = self._looked.get(validator.suite.name)
        if looked is None or looked.suite != validator.suite:
            return None
        return Part(in_files(rows, files - looked.files), whole=looked.failed | validator.lenient)

    def _remember(self, suite: Suite, files: frozenset[str], results: Sequence[Result]) -> None:
        if self._remembers:
            failed = frozenset(place for place, result in enumerate(results) if not result.success)
            self._looked[suite.name] = Looked(suite, files, failed)

    def _show_tables(self) -> None:
        """Those that are there under their own names, for expectations that look at more than one."""
        store = Store(self._spark, self._tables)
        for table in filter(store.exists, TABLES):
            store.read(table).createOrReplaceTempView(table.name)


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
