"""Run the expectations of one suite with Great Expectations, and turn its answers into results."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import great_expectations as gx
from great_expectations.data_context.types.base import (
    DataContextConfig,
    InMemoryStoreBackendDefaults,
    ProgressBarsConfig,
)
from pyspark.sql import DataFrame

from lineproof.quality.dataset_reader import RowSubset
from lineproof.quality.expectations import build_expectation, is_row_level, one_line
from lineproof.quality.suite import Expectation, Suite
from lineproof.schemas.sanitise import sanitise

MAX_SAMPLES = 5
_COLUMN_ARGUMENTS = ("column", "column_A", "column_B", "column_list", "column_set")


@dataclass(frozen=True)
class ExpectationResult:
    """The result of one expectation."""

    expectation: str
    column: str | None
    success: bool
    expected: str
    """Its arguments, or its description."""
    observed: str | None = None
    unexpected_count: int | None = None
    unexpected_share: float | None = None
    samples: tuple[str, ...] = ()
    """A few unexpected values, with personal data masked."""
    error: str | None = None
    """Why it could not be checked."""
    duration_ms: int = 0
    since: datetime | None = None
    """Only rows written since then were checked."""


class Validator:
    """Checks a suite. Creating it fails if an expectation is wrong, before any data is read."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self._expectations = [(declared, build_expectation(suite, declared)) for declared in suite.expectations]

    @property
    def tolerant_expectations(self) -> frozenset[int]:
        """Positions of expectations that some rows may fail (`mostly`).

        They need all rows: each set of new files may pass, and the rows that remain may fail.
        """
        return frozenset(
            position
            for position, declared in enumerate(self.suite.expectations)
            if declared.arguments.get("mostly", 1) != 1
        )

    def validate(self, rows: DataFrame, subset: RowSubset | None = None) -> Iterator[ExpectationResult]:
        """Check one expectation after the other. One that cannot be checked gives an error, and the others go on."""
        engine = _GreatExpectations(self.suite.name, rows)
        for position, (declared, expectation) in enumerate(self._expectations):
            can_use_subset = subset and position not in subset.on_all_rows and is_row_level(declared, expectation)
            used = subset if can_use_subset else None
            began = time.monotonic()
            missing = [name for name in _columns(declared) if name.split(".")[0] not in rows.columns]
            if missing:
                answer: dict[str, Any] = {"error": f"there is no column {missing[0]}."}
            else:
                try:
                    answer = _answer(engine.validate(expectation, used.rows if used else rows))
                except Exception as error:
                    answer = {"error": one_line(error)}
            duration_ms = round((time.monotonic() - began) * 1000)
            yield self._result(declared, answer, duration_ms=duration_ms, since=used.since if used else None)

    def fail_all(self, reason: str) -> list[ExpectationResult]:
        """The results when there are no rows to check."""
        return [self._result(declared, {"error": reason}) for declared in self.suite.expectations]

    def _result(self, declared: Expectation, answer: dict[str, Any], **more: Any) -> ExpectationResult:
        if "error" in answer:
            answer = {"error": f"{self.suite.file}:{declared.line}: {answer['error']}"}
        return ExpectationResult(
            expectation=declared.kind,
            column=_column(declared),
            success=bool(answer.pop("success", False)),
            expected=_expected(declared),
            **answer,
            **more,
        )


class _GreatExpectations:
    """Great Expectations in the Spark session of the rows. It does not cache them: the job may need that memory."""

    def __init__(self, name: str, rows: DataFrame) -> None:
        context = gx.get_context(mode="ephemeral", project_config=_in_memory_config())
        source = context.data_sources.add_spark(name="spark", persist=False)
        source.get_execution_engine().spark = rows.sparkSession
        self._batch = source.add_dataframe_asset(name=name).add_batch_definition_whole_dataframe("whole")

    def validate(self, expectation: Any, rows: DataFrame) -> Mapping[str, Any]:
        batch = self._batch.get_batch({"dataframe": rows})
        result = batch.validate(expectation, result_format={"result_format": "SUMMARY"})
        return dict(result.to_json_dict())


def _in_memory_config() -> DataContextConfig:
    """By default, Great Expectations creates a directory for each suite and leaves it behind."""
    return DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(),
        progress_bars=ProgressBarsConfig(globally=False),
        analytics_enabled=False,
    )


def _answer(result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of Great Expectations in our names. It reports an exception either once, or once for each metric."""
    raised = result.get("exception_info") or {}
    raised = [raised] if "raised_exception" in raised else list(raised.values())
    messages = [info["exception_message"] for info in raised if info.get("raised_exception")]
    if messages:
        return {"error": sanitise(str(messages[0]))}
    details = result.get("result") or {}
    percent = details.get("unexpected_percent")
    unexpected = details.get("unexpected_count")
    observed = details.get("observed_value", unexpected)
    samples = details.get("partial_unexpected_list") or []
    return {
        "success": result["success"],
        "observed": None if observed is None else str(observed),
        "unexpected_count": unexpected,
        "unexpected_share": None if percent is None else percent / 100,
        "samples": tuple(sanitise(str(sample)) for sample in samples[:MAX_SAMPLES]),
    }


def _columns(declared: Expectation) -> list[str]:
    values = [declared.arguments.get(argument) for argument in _COLUMN_ARGUMENTS]
    return [str(name) for value in values if value for name in (value if isinstance(value, list) else [value])]


def _column(declared: Expectation) -> str | None:
    column = declared.arguments.get("column")
    return None if column is None else str(column)


def _expected(declared: Expectation) -> str:
    if "description" in declared.arguments:
        return str(declared.arguments["description"])
    return ", ".join(f"{name}: {value}" for name, value in declared.arguments.items() if name != "column")
