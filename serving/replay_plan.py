"""The plan of a replay: which records are selected. It is made once, so a replay that was stopped continues with them.

The archive keeps growing, also by the records that a replay sends. So the plan has the end of each partition and, where
the archive alone cannot tell which records are selected, a file with the coordinates of all of them.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lineproof.schemas.errors import LineproofError, nearest
from lineproof.schemas.tables import ARCHIVE, DATASETS, JOBS, LINEAGE_EVENTS, RECORDS
from lineproof.serving.archive import Archive, ArchiveFilter, OffsetRange
from lineproof.serving.atomic_file import write_atomically
from lineproof.serving.delta_reader import TableSnapshot, bounded_duckdb, is_table, literal
from lineproof.serving.selection import InvalidSelection, Selection, any_of
from lineproof.serving.sql import Tables

_FILE, _COORDINATES = "plan.json", "selected.parquet"
_CONTENT_TABLES = (RECORDS.name, LINEAGE_EVENTS.name)
_SELECT_COORDINATES = """COPY (
    SELECT topic, partition, archive.offset FROM records AS archive WHERE {condition} AND {by_content}
) TO {file} (FORMAT parquet)"""
_NAMES = "SELECT namespace || '/' || name FROM {table}"


class NothingSelected(LineproofError):
    """No archived record matches the filters."""


@dataclass(frozen=True)
class Plan:
    """A replay: its source, its target, and the records it sends."""

    purpose: Mapping[str, Any]
    """Source, target and filters, as the user wrote them. Another purpose is another replay."""
    begun_at: str
    condition: str
    by_coordinates: bool
    ranges: tuple[OffsetRange, ...]
    directory: Path

    @property
    def records(self) -> int:
        """How many records are selected."""
        return sum(offsets.records for offsets in self.ranges)

    @property
    def filter(self) -> ArchiveFilter:
        """Selects the records in the archive."""
        return ArchiveFilter(self.condition, self.directory / _COORDINATES if self.by_coordinates else None)


def load_plan(directory: Path) -> Plan | None:
    """The plan in this directory, if a replay has begun there."""
    try:
        document = json.loads((directory / _FILE).read_text())
    except FileNotFoundError:
        return None
    ranges = tuple(OffsetRange(**offsets) for offsets in document.pop("parts"))
    return Plan(**document, ranges=ranges, directory=directory)


def make_plan(directory: Path, purpose: Mapping[str, Any], selection: Selection, tables: str, spill: Path) -> Plan:
    """Select the records, and write the plan to the directory."""
    archive = Archive(tables, spill)
    archived = archive.ranges(ArchiveFilter("true"))
    ends = any_of(offsets.condition for offsets in archived) if archived else "false"
    condition = f"{selection.where()} AND {ends}"
    directory.mkdir(parents=True, exist_ok=True)
    if selection.is_by_content:
        _write_coordinates(directory / _COORDINATES, condition, selection, tables, spill)
    begun_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    plan = Plan(purpose, begun_at, condition, selection.is_by_content, (), directory)
    plan = replace(plan, ranges=tuple(archive.ranges(plan.filter)))
    if not plan.ranges:
        raise NothingSelected("No archived record is selected.", _remedy(selection, tables))
    document = {name: value for name, value in vars(plan).items() if name not in ("directory", "ranges")}
    parts = [asdict(offsets) for offsets in plan.ranges]
    write_atomically(directory / _FILE, json.dumps({**document, "parts": parts}, indent=1))
    return plan


def not_curated(tables: str) -> int:
    """How many archived records are not yet in the curated tables, so that their job, run and dataset are not known."""
    counts = {name: rows for name, rows, *_ in Tables(tables).overview()[1]}
    return int(counts.get(ARCHIVE.name, 0) - counts.get(RECORDS.name, 0))


def _write_coordinates(file: Path, condition: str, selection: Selection, tables: str, spill: Path) -> None:
    """Look the records up in `records`, which has the coordinates and times of the archive, and event and run ids."""
    if missing := [name for name in _CONTENT_TABLES if not is_table(Path(tables, name))]:
        raise InvalidSelection(
            f"Selecting by job, run or dataset needs the table {missing[0]}, which is not in {tables}.",
            "Select by --since, --until or --offsets, or use no filter: these need the archive only.",
        )
    by_content, parameters = selection.where_content()
    with bounded_duckdb(spill) as connection:
        for table in (TableSnapshot(Path(tables, name)) for name in _CONTENT_TABLES):
            if not table.files:
                raise NothingSelected("No archived record is curated yet.", "Run `lineproof job` first.")
            connection.execute(f"CREATE VIEW {table.name} AS {table.select(connection)}")
        select = _SELECT_COORDINATES.format(condition=condition, by_content=by_content, file=literal(file))
        connection.execute(select, parameters)


def _remedy(selection: Selection, tables: str) -> str:
    for table, name in ((JOBS.name, selection.job), (DATASETS.name, selection.dataset)):
        if name and is_table(Path(tables, table)):
            known = [row[0] for row in Tables(tables).query(_NAMES.format(table=table)).rows]
            if name not in known and (closest := nearest(name, known)):
                return f"Did you mean {closest}?"
    return "Use fewer or wider filters: `lineproof sql` shows what the tables hold."
