"""How a tool answers: from one state of the tables, with the trust, what it is based on, and a bounded size."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

from lineproof.schemas.control_characters import visible
from lineproof.schemas.errors import LineproofError
from lineproof.serving.mcp.bounding import as_text, without_drawing
from lineproof.serving.open_tables import OpenTables, TableSet
from lineproof.serving.sandbox.answer import known_document
from lineproof.serving.sandbox.processes import SqlProcesses

NOTHING = "There are no tables yet: no job has written any. Run `lineproof up`, or name their place with --set tables=…"
_NOTHING_THEN = "There were no tables at that time. Ask without as_of, or for a later time."
MAX_SQL = 1000
"""Longer queries are left out: they cost more of the context than they tell."""
_SQL_TRUST = "rows as they are in the tables; ledger_checks, certificate_checks and violations judge them"


@dataclass(frozen=True)
class Found:
    """An answer with the trust in it."""

    answer: BaseModel | dict[str, Any]
    trust: str
    reason: str


class Reader:
    """Answers tools. Thread-safe."""

    def __init__(self, tables: OpenTables, processes: SqlProcesses) -> None:
        self._tables, self._processes = tables, processes

    def answer(self, as_of: str | None, find: Callable[[TableSet], Found | None], missing: str = "") -> str:
        """The answer as text. If there is none, `missing` says what does not exist."""
        try:
            tables = self._tables.as_of(as_of)
            found = find(tables)
        except LineproofError as error:
            raise _told(error) from error
        if found is None:
            advice = _nothing(tables) if tables.is_empty else "Use search to find the exact namespace and name."
            raise ToolError(f"There is no {visible(missing[:500])}. {advice}")
        document = found.answer if isinstance(found.answer, dict) else found.answer.model_dump(mode="json")
        return _text(
            document,
            (found.trust, _nothing(tables) if tables.is_empty else found.reason),
            {"known": known_document(tables.known), "table_versions": tables.versions},
        )

    def query(self, sql: str, limit: int, as_of: str | None) -> str:
        """The rows of one SELECT."""
        try:
            found = self._processes.run(sql, limit, as_of)
        except LineproofError as error:
            raise _told(error) from error
        based_on = {"known": found.pop("known"), "table_versions": found.pop("versions")}
        return _text(found, ("unknown", _SQL_TRUST), based_on)


def _nothing(tables: TableSet) -> str:
    return NOTHING if tables.known.at is None else _NOTHING_THEN


def _text(document: dict[str, Any], trust: tuple[str, str], based_on: dict[str, Any]) -> str:
    answer = without_drawing(document)
    cursor = answer.pop("next_cursor", None)
    sql = answer.pop("sql", None) if "items" in answer else None
    left_out = ["answer.items: there are more than the limit"] if cursor else []
    return as_text(
        {
            "trust": {"verdict": trust[0], "reason": trust[1]},
            "based_on": {**based_on, **({"sql": sql} if sql and len(sql) <= MAX_SQL else {})},
            "answer": answer,
            "left_out": left_out,
        }
    )


def _told(error: LineproofError) -> ToolError:
    return ToolError(visible(f"{error.what} {error.remedy}")[:2000])
