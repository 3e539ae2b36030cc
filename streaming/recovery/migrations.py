"""Migrate tables of earlier releases, format by format, to the one that this release writes.

A finished migration is recorded in the table property `lineproof.format` and in the table's history. Every migration
can be repeated: after a crash, the next start continues with the first one that is not recorded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone

from pyspark.sql import SparkSession

from lineproof.schemas.errors import LineproofError
from lineproof.schemas.table_format import FORMAT, FORMAT_PROPERTY, current_format, format_number, refuse_newer
from lineproof.schemas.tables import RUNS
from lineproof.schemas.verdicts import CERTIFICATE_UNKNOWN_ALGORITHM
from lineproof.streaming.delta.definition import Definition
from lineproof.streaming.delta.table import Table


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


def rename_foreign_algorithm(definition: Definition) -> None:
    """Rename a verdict in `runs` to the word that the other tables and views have for it."""
    if definition.name == RUNS.name:
        definition.replace_value("certificate_verdict", "foreign algorithm", CERTIFICATE_UNKNOWN_ALGORITHM)


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1, "columns, constraints and properties of this release; the table records has the time of the event", conform
    ),
    Migration(2, "runs.certificate_verdict: foreign algorithm is now unknown algorithm", rename_foreign_algorithm),
)
"""In order. A release that changes the content of a table or its meaning adds a migration and increments FORMAT."""


def migrate(spark: SparkSession, path: str, table: Table) -> list[Migration]:
    """Migrate a table to the format of this release, and check that it is what this release would create."""
    definition = Definition(spark, path, table)
    found = definition.properties
    refuse_newer(path, found)
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
