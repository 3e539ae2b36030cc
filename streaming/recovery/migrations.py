"""Migrate the archive of an earlier release, format by format, and refuse other tables that have to be rebuilt.

A finished migration is recorded in the table property `lineproof.format` and in the table's history. Every migration
can be repeated: after a crash, the next start continues with the first one that is not recorded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone

from pyspark.sql import SparkSession

from lineproof.schemas.errors import LineproofError
from lineproof.schemas.table_format import FORMAT, FORMAT_PROPERTY, current_format, format_number, refuse_newer
from lineproof.schemas.tables import INGEST
from lineproof.streaming.delta.definition import Definition
from lineproof.streaming.delta.table import Table
from lineproof.streaming.recovery.checkpoint import REBUILD


class IncompatibleTable(LineproofError):
    """A table has columns or properties that this release would not write."""


@dataclass(frozen=True)
class Migration:
    """Brings a table from the previous format to format `number`."""

    number: int
    description: str
    apply: Callable[[Definition], None]


def conform(definition: Definition) -> None:
    """Add missing columns (null in old rows), constraints and properties."""
    definition.add_columns()
    definition.describe()


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "columns, constraints and properties of this release", conform),
    Migration(2, "nothing changed in the archive", conform),
    Migration(3, "nothing changed in the archive", conform),
)
"""Of the archive, in order. A release that changes the content of a table or its meaning adds a migration, increments
FORMAT, and says which tables are rebuilt."""

REBUILT_SINCE = 3
"""Tables that are made from the archive have had other rows before this format: they are rebuilt and not migrated."""


def migrate(spark: SparkSession, path: str, table: Table) -> list[Migration]:
    """Migrate a table to the format of this release, and check that it is what this release would create."""
    definition = Definition(spark, path, table)
    found = definition.properties
    refuse_newer(path, found)
    _refuse_older(path, table, format_number(found))
    if unknown := definition.unknown_columns():
        raise IncompatibleTable(
            f"The table {path} has columns that this release does not know: {', '.join(unknown)}.",
            "Use the newer release that wrote them. If they were added by hand, drop them.",
        )
    due = [migration for migration in MIGRATIONS if migration.number > format_number(found)]
    for migration in due:
        migration.apply(definition)
        done_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        recorded = {f"{FORMAT_PROPERTY}.{migration.number}": f"{done_at}: {migration.description}"}
        definition.set({**current_format(), FORMAT_PROPERTY: str(migration.number), **recorded})
    # A release may add a column without a new format: older releases still read the other columns.
    conform(definition)
    _check(definition, path, table)
    return due


def _refuse_older(path: str, table: Table, number: int) -> None:
    """Refuse a table whose rows an earlier release made from the archive, and this one would make differently."""
    if table.contract.written_by != INGEST and number < REBUILT_SINCE:
        raise IncompatibleTable(
            f"The table {path} has format {number}. Since format {REBUILT_SINCE}, its rows are made differently.",
            REBUILD,
        )


def _check(definition: Definition, path: str, table: Table) -> None:
    """Refuse a table that differs from what `create_table` would make."""
    expected, found = {**table.properties, FORMAT_PROPERTY: str(FORMAT)}, definition.properties
    wrong = [f"the property {name} is {found.get(name)}" for name in expected if found.get(name) != expected[name]]
    wrong += [f"the column {column}" for column in definition.differing_columns()]
    if wrong:
        raise IncompatibleTable(
            f"The table {path} differs from what this release creates: {'; '.join(wrong)}.",
            "Start once with --rebuild: all tables except the archive are made again from it. If this is the archive, "
            "undo the change.",
        )
