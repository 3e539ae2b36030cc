"""Great Expectations over one dataset: what was expected, and what was there."""

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import AtomicType

from lineproof.producers.sanitise import sanitise
from lineproof.quality.suite import Expectation, Suite, SuiteError
from lineproof.schemas.errors import nearest

# Before it is imported: it would report its users, and wait for the network.
os.environ["GX_ANALYTICS_ENABLED"] = "false"

import great_expectations as gx
from great_expectations.data_context.types.base import (
    DataContextConfig,
    InMemoryStoreBackendDefaults,
    ProgressBarsConfig,
)
from great_expectations.exceptions.exceptions import ExpectationNotFoundError
from great_expectations.expectations.registry import (
    get_expectation_impl,
    list_registered_expectation_implementations,
    register_core_expectations,
)

SAMPLES = 5
_COLUMNS = ("column", "column_A", "column_B", "column_list", "column_set")


@dataclass(frozen=True)
class Result:
    """How one expectation was met."""

    expectation: str
    column: str | None
    success: bool
    expected: str
    """Its arguments, or what it says of itself."""
    observed: str | None = None
    unexpected_count: int | None = None
    unexpected_share: float | None = None
    samples: tuple[str, ...] = ()
    """A few of the values that are not as expected, personal data masked."""
    error: str | None = None
    """Why it could not be looked at."""
    duration_ms: int = 0


@dataclass(frozen=True)
class Metrics:
    """What a dataset is like."""

    row_count: int
    null_counts: Mapping[str, int]
    distinct_counts: Mapping[str, int]
    """About so many: exact ones would take longer than all expectations."""


class Validator:
    """The expectations of a suite, checked before anything is read."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        register_core_expectations()
        self._expectations = [(one, _known(suite, one)) for one in suite.expectations]

    def results(self, rows: DataFrame) -> Iterator[Result]:
        """One after the other. What cannot be looked at is told, and the others go on."""
        context = gx.get_context(mode="ephemeral", project_config=_in_memory())
        asset = context.data_sources.add_spark(name="spark").add_dataframe_asset(name=self.suite.name)
        batch = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": rows})
        for written, expectation in self._expectations:
            began = time.monotonic()
            found: dict[str, Any]
            missing = [name for name in _columns(written) if name.split(".")[0] not in rows.columns]
            if missing:
                found = {"error": f"{self.suite.file}:{written.line}: there is no column {missing[0]}."}
            else:
                try:
                    result = batch.validate(expectation, result_format={"result_format": "SUMMARY"})
                    found = _found(result.to_json_dict())
                except Exception as error:
                    found = {"error": f"{self.suite.file}:{written.line}: {_in_short(error)}"}
            yield Result(
                expectation=written.kind,
                column=_column(written),
                success=bool(found.pop("success", False)) and "error" not in found,
                expected=_expected(written),
                duration_ms=round((time.monotonic() - began) * 1000),
                **found,
            )


def rows_of(spark: SparkSession, suite: Suite, tables: str) -> DataFrame:
    """What the suite is about: one of the tables below a directory, or what lies at its path."""
    return spark.read.format(suite.format).load(suite.place(tables))


def metrics(rows: DataFrame) -> Metrics:
    """Counts of the rows, and of each column."""
    plain = [field.name for field in rows.schema if isinstance(field.dataType, AtomicType)]

    def quoted(name: str) -> Any:
        return F.col(f"`{name}`")

    [counted] = rows.agg(
        F.count("*").alias("rows"),
        F.struct(*(F.count_if(quoted(name).isNull()).alias(name) for name in rows.columns)).alias("nulls"),
        F.struct(*(F.approx_count_distinct(quoted(name)).alias(name) for name in plain)).alias("distinct"),
    ).collect()
    return Metrics(counted.rows, counted.nulls.asDict(), counted.distinct.asDict())


def _in_memory() -> DataContextConfig:
    """Great Expectations without the directory that it would make, and leave, for each suite."""
    return DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(),
        progress_bars=ProgressBarsConfig(globally=False),
        analytics_enabled=False,
    )


def _known(suite: Suite, written: Expectation) -> Any:
    """The expectation with its arguments, as Great Expectations has it."""
    try:
        kind = get_expectation_impl(written.kind)
    except ExpectationNotFoundError as error:
        meant = nearest(written.kind, list_registered_expectation_implementations())
        remedy = f"Did you mean {meant}?" if meant else "Great Expectations' gallery lists them."
        raise SuiteError(suite.file, written.line, f"There is no {written.kind}.", remedy) from error
    try:
        return kind(**written.arguments)
    except ValueError as error:
        what = f"{written.kind} does not take these arguments: {_in_short(error)}"
        raise SuiteError(
            suite.file, written.line, what, "Its page in Great Expectations' gallery lists them."
        ) from error


def _found(result: Mapping[str, Any]) -> dict[str, Any]:
    """What Great Expectations found, in our words. An exception is told in two ways: once, and once per metric."""
    raised = result.get("exception_info") or {}
    raised = [raised] if "raised_exception" in raised else list(raised.values())
    messages = [one["exception_message"] for one in raised if one.get("raised_exception")]
    if messages:
        return {"error": sanitise(str(messages[0]))}
    seen = result.get("result") or {}
    share = seen.get("unexpected_percent")
    unexpected = seen.get("unexpected_count")
    observed = seen.get("observed_value", unexpected)
    samples = seen.get("partial_unexpected_list") or []
    return {
        "success": result["success"],
        "observed": None if observed is None else str(observed),
        "unexpected_count": unexpected,
        "unexpected_share": None if share is None else share / 100,
        "samples": tuple(sanitise(str(one)) for one in samples[:SAMPLES]),
    }


def _columns(written: Expectation) -> list[str]:
    named = [written.arguments.get(name) for name in _COLUMNS]
    return [str(one) for names in named if names for one in (names if isinstance(names, list) else [names])]


def _column(written: Expectation) -> str | None:
    column = written.arguments.get("column")
    return None if column is None else str(column)


def _expected(written: Expectation) -> str:
    if "description" in written.arguments:
        return str(written.arguments["description"])
    return ", ".join(f"{name}: {value}" for name, value in written.arguments.items() if name != "column")


def _in_short(error: Exception) -> str:
    return sanitise(" ".join(str(error).split()))[:300]
