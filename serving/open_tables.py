"""Tables that stay open between queries, for a server: opening a table takes longer than most queries.

`OpenTables.now()` is the newest version of all tables, `OpenTables.as_of()` an earlier one. Both answer SQL over the
same tables, views and functions as `lineproof sql`, bounded in time and memory, and never write.
"""

import re
import tempfile
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar

import duckdb

from lineproof.schemas.errors import LineproofError, TableNotFound
from lineproof.schemas.tables import LINEAGE_EVENTS, TABLES
from lineproof.schemas.views import FUNCTIONS, VIEWS, for_duckdb, named_in
from lineproof.serving.delta_reader import MEMORY_LIMIT, TableSnapshot, identifier, is_table, local_directory, rows
from lineproof.serving.known_at import NEEDED, at_event_time
from lineproof.serving.sql import QueryError, Result, with_views
from lineproof.serving.table_history import TableHistory

CHECK_EVERY_S = 1.0
"""How old the known versions of the tables may be."""
TIMEOUT_S = 10.0
INTERRUPT_EVERY_S = 0.1
EARLIER_SETS = 4
"""So many earlier states of the tables are kept open."""

Value = TypeVar("Value")
Snapshots = Mapping[str, TableSnapshot]


class QueryTimeout(LineproofError):
    """The query took too long and was interrupted."""


class UnknownVersion(LineproofError):
    """`as_of` is neither a time nor a version that can be read."""

    exit_code = 2


@dataclass(frozen=True)
class Known:
    """Which state of the tables answers a query."""

    how: Literal["now", "version", "event time"]
    """version: the tables as they were. event time: their files are gone, so rows are chosen by the times in events."""
    at: datetime | None = None
    """The time that was asked for; None for now."""
    oldest_at: datetime | None = None
    """The earliest time of which all tables can still be read as they were; None for now."""


class OpenTables:
    """The Delta tables in one local directory, kept open. Thread-safe."""

    def __init__(self, location: str, spill: Path | None = None, *, timeout_s: float = TIMEOUT_S) -> None:
        self._location, self._root = location, Path(location)
        self._spill, self._timeout_s = spill, timeout_s
        self._lock = threading.Lock()
        self._now: TableSet | None = None
        self._checked_at = float("-inf")
        self._earlier: OrderedDict[str, TableSet] = OrderedDict()

    @property
    def location(self) -> str:
        """Where the tables are."""
        return self._location

    @property
    def spill(self) -> Path | None:
        """Where data goes that does not fit into memory."""
        return self._spill

    def now(self) -> "TableSet":
        """The newest versions. Tables that are not on this machine are refused."""
        local_directory(self._location)
        with self._lock:
            return self._newest()

    def as_of(self, asked: str | None) -> "TableSet":
        """The tables at a time, or at a version of `lineage_events`; now if nothing is asked."""
        if not asked:
            return self.now()
        local_directory(self._location)
        with self._lock:
            if asked not in self._earlier:
                at = self._time_of(asked)
                if at >= datetime.now(timezone.utc):
                    return self._newest()  # not kept: it would grow old
                self._earlier[asked] = self._open_at(at)
            self._earlier.move_to_end(asked)
            while len(self._earlier) > EARLIER_SETS:
                self._earlier.popitem(last=False)
            return self._earlier[asked]

    def close(self) -> None:
        """Forget the tables. What still runs ends first."""
        with self._lock:
            self._earlier.clear()
            self._now = None

    def _newest(self) -> "TableSet":
        if self._now is None:
            self._now = TableSet(self._snapshots({}), Known("now"), self._database(None), Derived(), self._timeout_s)
            self._checked_at = time.monotonic()
        elif time.monotonic() - self._checked_at > CHECK_EVERY_S:
            self._now = self._now.of(self._snapshots(self._now.snapshots))
            self._checked_at = time.monotonic()
        return self._now

    def _open_at(self, at: datetime) -> "TableSet":
        histories = {path.name: TableHistory(path) for path in self._paths()}
        oldest_at = max((time for history in histories.values() if (time := history.oldest_readable_at)), default=at)
        if at < oldest_at and any(_existed(history, at) for history in histories.values()):
            known, snapshots = Known("event time", at, oldest_at), self._snapshots({})
        else:
            known = Known("version", at, oldest_at)
            snapshots = {name: table for name, history in histories.items() if (table := history.before(at))}
        database = self._database(at if known.how == "event time" else None)
        return TableSet(snapshots, known, database, Derived(), self._timeout_s)

    def _time_of(self, asked: str) -> datetime:
        if re.fullmatch(r"[0-9]{1,18}", asked):
            committed_at = TableHistory(self._root / LINEAGE_EVENTS.name).time_of(int(asked))
            if committed_at is None:
                raise UnknownVersion(
                    f"There is no version {asked} of {LINEAGE_EVENTS.name} in its log.",
                    "Name a later version, or a time.",
                )
            return committed_at
        try:
            at = datetime.fromisoformat(asked.strip().replace("Z", "+00:00").replace(" ", "+"))
            return at.astimezone(timezone.utc) if at.tzinfo else at.replace(tzinfo=timezone.utc)
        except (ValueError, OverflowError) as error:
            raise UnknownVersion(
                f"{asked[:50]!r} is neither a time nor a version.",
                "Give a time such as 2026-01-31T10:00:00Z, or a version of lineage_events.",
            ) from error

    def _paths(self) -> list[Path]:
        return [path for path in sorted(self._root.iterdir()) if is_table(path)] if self._root.is_dir() else []

    def _snapshots(self, known: Snapshots) -> Snapshots:
        """The newest version of each table. Those that are known already are not opened again."""
        found: dict[str, TableSnapshot] = {}
        for path in self._paths():
            table = known.get(path.name)
            with suppress(TableNotFound):  # a table's directory exists a moment before its first commit
                found[path.name] = table if table and table.is_newest() else TableSnapshot(path)
        return found

    def _database(self, restricted_to: datetime | None) -> "Database":
        return Database(self._root, self._spill, restricted_to)


def _existed(history: TableHistory, at: datetime) -> bool:
    """Whether a table was there at this time, or its first commits are no longer in the log."""
    made_at = history.was_made_at
    return made_at is None or made_at <= at


class Derived:
    """Values made from tables, each made again only when one of its tables has another version."""

    def __init__(self) -> None:
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self._values: dict[str, tuple[tuple[int, ...], Any]] = {}

    def get(self, key: str, versions: tuple[int, ...], build: Callable[[], Value]) -> Value:
        """The value, made by `build` if there is none of these versions."""
        with self._locks[key]:  # others need not wait
            kept = self._values.get(key)
            if kept is None or kept[0] != versions:
                kept = self._values[key] = (versions, build())
            value: Value = kept[1]
            return value


class TableSet:
    """All tables at one state. Thread-safe."""

    def __init__(
        self, snapshots: Snapshots, known: Known, database: "Database", derived: Derived, timeout_s: float
    ) -> None:
        self.snapshots, self.known = snapshots, known
        self._database, self._derived, self._timeout_s = database, derived, timeout_s

    def of(self, snapshots: Snapshots) -> "TableSet":
        """The same tables at other versions, with the same database."""
        if snapshots == self.snapshots:
            return self
        return TableSet(snapshots, self.known, self._database, self._derived, self._timeout_s)

    @cached_property
    def versions(self) -> dict[str, int]:
        """The version of each table."""
        return {name: table.version for name, table in self.snapshots.items()}

    @property
    def is_empty(self) -> bool:
        """Whether no job has made tables yet."""
        return not self.snapshots

    @property
    def etag(self) -> str:
        """Changes with the version of any table."""
        stated = repr((sorted(self.versions.items()), self.known.how, self.known.at))
        return sha256(stated.encode()).hexdigest()[:16]

    def query(self, sql: str, *parameters: object, timeout_s: float | None = None, limit: int | None = None) -> Result:
        """Run one query. If a table that it reads does not exist yet, it has no rows."""
        needed = tables_in(sql)
        if not needed <= self.snapshots.keys():
            return Result([], [])
        ordered = sorted(needed, key=lambda name: (name in NEEDED, name))  # what a view reads comes before it
        tables = [self.snapshots[name] for name in ordered]
        return self._database.run(sql, parameters, tables, timeout_s or self._timeout_s, limit)

    def rows(self, sql: str, *parameters: object) -> list[dict[str, Any]]:
        """The rows of a query, by column name."""
        result = self.query(sql, *parameters)
        return [dict(zip(result.columns, row, strict=True)) for row in result.rows]

    def row(self, sql: str, *parameters: object) -> dict[str, Any] | None:
        """The first row of a query; None if it has none."""
        return next(iter(self.rows(sql, *parameters)), None)

    def scalar(self, sql: str, *parameters: object, default: Any = 0) -> Any:
        """The only value of a query; `default` if it is null or there is none."""
        found = self.query(sql, *parameters).rows
        return default if not found or found[0][0] is None else found[0][0]

    def derived(self, key: str, of: Collection[str], build: Callable[["TableSet"], Value]) -> Value:
        """A value that is made from these tables. It is made again only when one of them has another version."""
        versions = tuple(self.versions.get(name, -1) for name in sorted(of))
        return self._derived.get(key, versions, lambda: build(self))


class Database:
    """One DuckDB in memory, with a view for each table that was asked for. It reads nothing but the tables."""

    def __init__(self, root: Path, spill: Path | None, restricted_to: datetime | None) -> None:
        if spill:
            spill.mkdir(parents=True, exist_ok=True)
        self._directory = tempfile.TemporaryDirectory(prefix="spill-", dir=spill)
        self._restricted_to = restricted_to
        self._connection = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "memory_limit": MEMORY_LIMIT,
                "temp_directory": self._directory.name,
            }
        )
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("SET parquet_metadata_cache = true")
        self._connection.execute(f"SET allowed_directories = {[f'{root.absolute()}/', f'{self._directory.name}/']}")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        self._lock = threading.Lock()
        self._tables: dict[str, TableSnapshot] = {}
        self._views: set[str] = set()

    def run(
        self,
        sql: str,
        parameters: Sequence[object],
        tables: Iterable[TableSnapshot],
        timeout_s: float,
        limit: int | None,
    ) -> Result:
        """Run a query over these versions of its tables; `limit` bounds the number of rows."""
        is_late, has_ended = threading.Event(), threading.Event()
        cursor = self._connection.cursor()

        def interrupt() -> None:
            is_late.set()
            with suppress(duckdb.Error):  # closed already
                cursor.interrupt()
                while not has_ended.wait(INTERRUPT_EVERY_S):  # one that comes before the query begins has no effect
                    cursor.interrupt()

        timer = threading.Timer(timeout_s, interrupt)
        timer.start()
        try:
            with self._lock:  # until the query is bound, its tables must not change
                self._prepare(sql, tables)
                relation = cursor.sql(sql, params=list(parameters))
            if relation is None:
                return Result([], [])
            relation = relation if limit is None else relation.limit(limit)
            return Result(relation.columns, list(rows(relation)))
        except duckdb.Error as error:
            if is_late.is_set():
                raise QueryTimeout(
                    f"The query took longer than {timeout_s:g} s.",
                    "Ask for less: a shorter time, one job or dataset, a smaller depth.",
                ) from error
            raise QueryError(
                f"The query failed: {str(error).strip()}",
                f"The tables are {', '.join(table.name for table in TABLES)}; the views {', '.join(VIEWS)}; "
                f"the functions {', '.join(FUNCTIONS)}, each of (namespace, name).",
            ) from error
        finally:
            has_ended.set()
            timer.cancel()
            if is_late.is_set():
                timer.join()
            cursor.close()

    def _prepare(self, sql: str, tables: Iterable[TableSnapshot]) -> None:
        """Create the views that the query needs, and those of tables that have another version."""
        for table in tables:
            former = self._tables.get(table.name)
            if former is table:
                continue
            if former and former.columns != table.columns:
                self._drop_views()  # a view remembers the columns of what it reads
            select = table.select(self._connection)
            if self._restricted_to:
                select = at_event_time(table.name, select, self._restricted_to)
            self._connection.execute(f"CREATE OR REPLACE VIEW {identifier(table.name)} AS {select}")
            self._tables[table.name] = table
        for statement in for_duckdb(sql, self._views):
            self._connection.execute(statement.replace("CREATE ", "CREATE OR REPLACE ", 1))
        self._views |= named_in(sql, self._views)

    def _drop_views(self) -> None:
        for name in self._views & {*VIEWS}:
            self._connection.execute(f"DROP VIEW IF EXISTS {name}")
        self._views.clear()


def tables_in(sql: str) -> set[str]:
    """The tables that a query names, itself or through views."""
    words = {*re.findall(r"\w+", with_views(sql))}
    named = {table.name for table in TABLES if table.name in words}
    return named | {needed for name in named for needed in NEEDED.get(name, ())}
