"""The earlier versions of a table: which of them can still be read, and when each was committed."""

from collections.abc import Callable
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path

from deltalake.exceptions import DeltaError

from lineproof.schemas.errors import TableNotFound
from lineproof.serving.delta_reader import TableSnapshot


class TableHistory:
    """The commits of one table, by version. A version whose files were vacuumed is not readable."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _commits(self) -> list[tuple[int, datetime]]:
        """The versions whose commits are in the log, with their times, oldest first."""
        return sorted(
            (int(file.stem), datetime.fromtimestamp(file.stat().st_mtime, timezone.utc))
            for file in (self._path / "_delta_log").glob("*.json")
            if file.stem.isdecimal()
        )

    def time_of(self, version: int) -> datetime | None:
        """When a version was committed; None if its commit is not in the log."""
        return dict(self._commits).get(version)

    def before(self, at: datetime) -> TableSnapshot | None:
        """The table as it was then; None if it did not exist, or cannot be read as it was."""
        versions = [version for version, time in self._commits if time <= at]
        return self._readable(versions[-1]) if versions else None

    @cached_property
    def oldest_readable_at(self) -> datetime | None:
        """The time of the oldest version from which on all can be read. Files are vacuumed oldest first."""
        commits = self._commits
        first = _first(len(commits), lambda at: self._readable(commits[at][0]) is not None)
        return commits[first][1] if first < len(commits) else None

    @cached_property
    def was_made_at(self) -> datetime | None:
        """When version 0 was committed, if that is in the log."""
        return self.time_of(0)

    def _readable(self, version: int) -> TableSnapshot | None:
        try:
            table = TableSnapshot(self._path, version)
            return table if all(Path(file.path).exists() for file in table.files) else None
        except (DeltaError, TableNotFound, OSError):
            return None


def _first(count: int, holds: Callable[[int], bool]) -> int:
    """The first of `count` numbers for which it holds, if it holds for all after that one."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
