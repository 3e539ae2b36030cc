"""Great Expectations over one dataset: what was expected, and what was there."""

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

from lineproof.quality.expectations import in_short, is_about_rows, known
from lineproof.quality.rows import Part
from lineproof.quality.suite import Expectation, Suite
from lineproof.schemas.sanitise import sanitise

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
    since: datetime | None = None
    """Only rows that were written since were looked at."""


class Validator:
    """The expectations of a suite, checked before anything is read."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self._expectations = [(one, known(suite, one)) for one in suite.expectations]

    @property
    def lenient(self) -> frozenset[int]:
        """Those that some rows may fail, by their place: what is true of each part need not be so of what is left."""
        return frozenset(
            place for place, one in enumerate(self.suite.expectations) if one.arguments.get("mostly", 1) != 1
        )

    def results(self, rows: DataFrame, part: Part | None = None) -> Iterator[Result]:
        """One after the other. What cannot be looked at is told, and the others go on."""
        look = _Looks(self.suite.name, rows)
        for place, (written, expectation) in enumerate(self._expectations):
            some = part if part and place not in part.whole and is_about_rows(written, expectation) else None
            began = time.monotonic()
            missing = [name for name in _columns(written) if name.split(".")[0] not in rows.columns]
            if missing:
                found: dict[str, Any] = {"error": f"there is no column {missing[0]}."}
            else:
                try:
                    found = _found(look(expectation, some.rows if some else rows))
                except Exception as error:
                    found = {"error": in_short(error)}
            yield self._result(
                written, found, duration_ms=round((time.monotonic() - began) * 1000), since=some.since if some else None
            )

    def not_looked_at(self, reason: str) -> list[Result]:
        """What is to be said where there are no rows to look at."""
        return [self._result(one, {"error": reason}) for one in self.suite.expectations]

    def _result(self, written: Expectation, found: dict[str, Any], **more: Any) -> Result:
        if "error" in found:
            found = {"error": f"{self.suite.file}:{written.line}: {found['error']}"}
        return Result(
            expectation=written.kind,
            column=_column(written),
            success=bool(found.pop("success", False)),
            expected=_expected(written),
            **found,
            **more,
        )


class _Looks:
    """Great Expectations in the session of the rows, without a copy of them in memory: the job may need that."""

    def __init__(self, name: str, rows: DataFrame) -> None:
        context = gx.get_context(mode="ephemeral", project_config=_in_memory())
        source = context.data_sources.add_spark(name="spark", persist=False)
        source.get_execution_engine().spark = rows.sparkSession
        self._batch = source.add_dataframe_asset(name=name).add_batch_definition_whole_dataframe("whole")

    def __call__(self, expectation: Any, rows: DataFrame) -> Mapping[str, Any]:
        batch = self._batch.get_batch({"dataframe": rows})
        found = batch.validate(expectation, result_format={"result_format": "SUMMARY"})
        return dict(found.to_json_dict())


def _in_memory() -> DataContextConfig:
    """Great Expectations without the directory that it would make, and leave, for each suite."""
    return DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(),
        progress_bars=ProgressBarsConfig(globally=False),
        analytics_enabled=False,
    )


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
