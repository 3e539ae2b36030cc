"""`lineproof quality report`: how every test last went, without Spark."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lineproof.schemas.errors import LineproofError
from lineproof.serving.sql import Tables
from lineproof.settings import Settings

Row = dict[str, Any]
"""A row of `latest_results`."""

COLUMNS = (
    *("success", "suite", "name", "expectation", "column", "expected", "observed", "unexpected_count", "samples"),
    *("error", "since", "event_time"),
)
"""What the terminal shows."""

_QUERY = """
SELECT * FROM latest_results AS one ORDER BY one.success, one.suite, one.namespace, one.name, one.result_id
"""


class NoResults(LineproofError):
    """Nothing was ever tested, which is not the same as nothing failed."""


class PageNotWritten(LineproofError):
    """The page has no place."""


def results(settings: Settings) -> list[Row]:
    """Those that failed first."""
    found = Tables(settings.tables_path).query(_QUERY)
    if not found.rows:
        raise NoResults(
            f"There are no results of tests in {settings.tables_path}.",
            "Run `lineproof quality run`; what it emits is in the tables as soon as the job has read it.",
        )
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def write_page(found: Sequence[Row], file: Path) -> None:
    """The same as a page."""
    from lineproof.quality.html_report import page  # takes seconds, and needs what the table does not

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(found), encoding="utf-8")
    except OSError as error:
        raise PageNotWritten(f"{file} cannot be written: {error.strerror}.", "Name another file.") from error
