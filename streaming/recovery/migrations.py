"""Migrate tables of earlier releases, step by step, to the format that this release writes.

A finished step is recorded in the table property `lineproof.format` and in the table's history. Every step can be
repeated: after a crash, the next start continues with the first step that is not recorded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone

from pyspark.sql import SparkSession

from lineproof.schemas.errors import LineproofError
from lineproof.schemas.table_format import FORMAT, FORMAT_PROPERTY, current_format, format_number, refuse_newer
from lineproof.streaming.delta.definition import Definition
from lineproof.streaming.delta.table import Table


class IncompatibleTable(LineproofError):
    """A table has columns or properties that this release would not write."""


@dataclass(frozen=True)
class Step:
    """A migration from the previous format to format `number`."""

    number: int
    description: str
    apply: Callable[[Definition], None]


def conform(definition: Definition) -> None:
    """Add missing columns (null in old rows), constraints and properties."""
    definition.add_columns()
    definition.describe()


STEPS: tuple[Step, ...] = (
    Step(1, "columns, constraints and properties of this release; `records` has the time of the event", conform),
)
"""In order. A release that changes the content of a table or its meaning adds a step and increments FORMAT."""


def migrate(spark: SparkSession, path: str, table: Table) -> list[Step]:
    """Migrate a table to the format of this release, and check that it is what this release would create."""
    definition = Definition(spark, path, table)
    found = definition.properties
    refuse_newer(path, found)
    if unknown := definition.unknown_columns():
        raise IncompatibleTable(
            f"The table {path} has columns that this release does not know: {', '.join(unknown)}.",
            "Use the newer release that wrote them. If they were added by hand, drop them.",
        )
    steps = [step for step in STEPS if step.number > format_number(found)]
    for step in steps:
        step.apply(definition)
        done_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        recorded = {f"{FORMAT_PROPERTY}.{step.number}": f"{done_at}: {step.description}"}
        definition.set({**current_format(), FORMAT_PROPERTY: str(step.number), **recorded})
    # A release may add a column without a new format: older releases still read the other columns.
    conform(definition)
    _check(definition, path, table)
    return steps


def _check(definition: Definition, path: str, table: Table) -> None:
    """Refuse a table that differs from what `create_table` would make."""
    expected, found = {**table.properties, FORMAT_PROPERTY: str(FORMAT)}, definition.properties
    wrong = [f"the property {name} is {found.get(name)}" for name in expected if found.get(name) != expected[name]]
    wrong += [f"the column {column}" for column in definition.differing_columns()]
    if wrong:
        raise IncompatibleTable(
            f"The table {path} differs from what this release creates: {'; '.join(wrong)}.",
            "Remove the checkpoints `curate` and `graph` and all tables except `archive`: they are rebuilt from it. "
            "If this is the archive, undo the change.",
        )
