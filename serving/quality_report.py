"""The latest result of every data quality test, without Spark."""

from pathlib import Path
from typing import Any

from lineproof.schemas.errors import LineproofError
from lineproof.serving.sql import Tables

ResultRow = dict[str, Any]
"""A row of the view `latest_results`."""

COLUMNS = (
    *("success", "suite", "name", "expectation", "column", "expected", "observed", "unexpected_count", "samples"),
    *("error", "since", "event_time"),
)
"""The columns that the terminal shows."""

_QUERY = """
SELECT * FROM latest_results AS result
ORDER BY result.success, result.suite, result.namespace, result.name, result.result_id
"""


class NoResults(LineproofError):
    """No test was ever run, which is not the same as no test failed."""


class PageNotWritten(LineproofError):
    """The HTML report cannot be written to this file."""


def results(tables: str) -> list[ResultRow]:
    """The latest result of every test, failed tests first."""
    found = Tables(tables).query(_QUERY)
    if not found.rows:
        raise NoResults(
            f"There are no results of tests in {tables}.",
            "Run `lineproof quality run`; its results are in the tables as soon as the job has read them.",
        )
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def write_page(html: str, file: Path) -> None:
    """Write the HTML report, and the directories above it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html, encoding="utf-8")
    except OSError as error:
        raise PageNotWritten(f"{file} cannot be written: {error.strerror}.", "Name another file.") from error
