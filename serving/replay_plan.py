"""What a replay is about, decided once: so that one which was stopped goes on with the same records.

The archive grows meanwhile, also by what a replay sends. So its ends are written down first, in a directory of the
replay's own, and where the archive alone cannot tell which records are meant, all their coordinates.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lineproof.schemas.errors import LineproofError, nearest
from lineproof.serving.archive import Archive, Part, Selected
from lineproof.serving.atomic_file import write_whole
from lineproof.serving.delta_files import bounded_duckdb, files_of, is_table, quoted, rows_sql
from lineproof.serving.selection import NoSelection, Selection, any_of
from lineproof.serving.sql import Tables

_FILE, _COORDINATES = "plan.json", "selected.parquet"
_NARROW = ("records", "lineage_events")
_VIEW = "CREATE VIEW {name} AS SELECT * FROM {rows}"
_CHOSEN = """COPY (
    SELECT topic, partition, archive.offset FROM records AS archive WHERE {condition} AND {by_content}
) TO {file} (FORMAT parquet)"""
_NAMES = "SELECT namespace || '/' || name FROM {table}"


class NothingSelected(LineproofError):
    """No archived record is meant."""


@dataclass(frozen=True)
class Plan:
    """A replay: where it comes from and goes to, and what is selected."""

    purpose: Mapping[str, Any]
    """What the user asked for, in the user's words. Another one is another replay."""
    begun_at: str
    condition: str
    by_coordinates: bool
    parts: tuple[Part, ...]
    directory: Path

    @property
    def records(self) -> int:
        """How many are selected."""
        return sum(part.records for part in self.parts)

    @property
    def selected(self) -> Selected:
        """Which they are."""
        return Selected(self.condition, self.directory / _COORDINATES if self.by_coordinates else None)


def load_plan(directory: Path) -> Plan | None:
    """The plan that was made there before."""
    try:
        kept = json.loads((directory / _FILE).read_text())
    except FileNotFoundError:
        return None
    parts = tuple(Part(**part) for part in kept.pop("parts"))
    return Plan(**kept, parts=parts, directory=directory)


def make_plan(directory: Path, purpose: Mapping[str, Any], selection: Selection, tables: str, home: Path) -> Plan:
    """Decide what is selected, and write it down."""
    archive = Archive(tables, home)
    there = archive.parts(Selected("true"))
    ends = any_of(part.condition for part in there) if there else "false"
    condition = f"{selection.where()} AND {ends}"
    directory.mkdir(parents=True, exist_ok=True)
    if selection.is_by_content:
        _write_coordinates(directory / _COORDINATES, condition, selection, tables, home)
    plan = Plan(
        purpose,
        datetime.now(timezone.utc).isoformat(timespec="seconds"),
        condition,
        selection.is_by_content,
        (),
        directory,
    )
    parts = tuple(archive.parts(plan.selected))
    if not parts:
        raise NothingSelected("No archived record is selected.", _what_there_is(selection, tables))
    plan = replace(plan, parts=parts)
    kept = {name: value for name, value in vars(plan).items() if name != "directory"}
    write_whole(directory / _FILE, json.dumps({**kept, "parts": [asdict(part) for part in parts]}, indent=1))
    return plan


def not_curated(tables: str) -> int:
    """Records of the archive of which the tables do not know yet what they are."""
    counts = {name: rows for name, rows, *_ in Tables(tables).overview()[1]}
    return int(counts.get("archive", 0) - counts.get("records", 0))


def _write_coordinates(file: Path, condition: str, selection: Selection, tables: str, home: Path) -> None:
    """`records` stands in for the archive: it has the same coordinates and times, and knows event and run."""
    if missing := [name for name in _NARROW if not is_table(Path(tables, name))]:
        raise NoSelection(
            f"To select by job, run or dataset takes the table {missing[0]}, which is not in {tables}.",
            "Select by --since, --until or --offsets, or nothing: that takes the archive alone.",
        )
    by_content, parameters = selection.where_content()
    with bounded_duckdb(home) as connection:
        for name in _NARROW:
            files = files_of(Path(tables, name))
            if not files:
                raise NothingSelected("No archived record is an event yet.", "Run `lineproof job` first.")
            connection.execute(_VIEW.format(name=name, rows=rows_sql(files, "")))
        chosen = _CHOSEN.format(condition=condition, by_content=by_content, file=quoted(file))
        connection.execute(chosen, parameters)


def _what_there_is(selection: Selection, tables: str) -> str:
    for table, name in (("jobs", selection.job), ("datasets", selection.dataset)):
        if name and is_table(Path(tables, table)):
            known = [row[0] for row in Tables(tables).query(_NAMES.format(table=table)).rows]
            if name not in known and (meant := nearest(name, known)):
                return f"Did you mean {meant}?"
    return "Select more: `lineproof sql` shows what there is."
