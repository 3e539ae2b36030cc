"""Tables of earlier releases, brought to what this one writes, step by step.

A step is recorded in the table when it is done, as the property `lineproof.format` and in the table's history. Each may
be begun again: after a crash, the next start goes on with the one that was not recorded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone

from pyspark.sql import SparkSession

from lineproof.schemas.errors import LineproofError
from lineproof.schemas.table_format import FORMAT, FORMAT_PROPERTY, current_format, format_of, refuse_newer
from lineproof.streaming.delta.definition import Definition
from lineproof.streaming.delta.store import Table


class UnknownTable(LineproofError):
    """A table is not as any release that we know of has written it."""


@dataclass(frozen=True)
class Step:
    """From the format before to this one."""

    number: int
    what: str
    apply: Callable[[Definition], None]


def conform(definition: Definition) -> None:
    """Add what the table lacks: columns, which old rows have nulls in, constraints, and properties."""
    definition.add_columns()
    definition.describe()


STEPS: tuple[Step, ...] = (
    Step(1, "columns, constraints and properties as of this release; records know the time of their event", conform),
)
"""In order. A release that changes what is in a table, or what it means, adds one and raises FORMAT."""


def migrate(spark: SparkSession, path: str, table: Table) -> list[Step]:
    """Bring a table to the format of this release, and make sure that it is what this release would make."""
    definition = Definition(spark, path, table)
    found = definition.properties
    refuse_newer(path, found)
    if unknown := definition.unknown_columns():
        raise UnknownTable(
            f"The table {path} has columns that this release does not know: {', '.join(unknown)}.",
            "Use the release that wrote them, a newer one. If they were added by hand, drop them.",
        )
    steps = [step for step in STEPS if step.number > format_of(found)]
    for step in steps:
        step.apply(definition)
        done_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        recorded = {f"{FORMAT_PROPERTY}.{step.number}": f"{done_at}: {step.what}"}
        definition.set({**current_format(), FORMAT_PROPERTY: str(step.number), **recorded})
    # A release may also add a column without a change of format: older ones go on with the rest.
    conform(definition)
    _check(definition, path, table)
    return steps


def _check(definition: Definition, path: str, table: Table) -> None:
    """Refuse a table that differs from what `Store.create` would make."""
    expected, found = {**table.properties, FORMAT_PROPERTY: str(FORMAT)}, definition.properties
    wrong = [f"the property {name} is {found.get(name)}" for name in expected if found.get(name) != expected[name]]
    wrong += [f"the column {column}" for column in definition.differing_columns()]
    if wrong:
        raise UnknownTable(
            f"The table {path} is not what this release makes: {'; '.join(wrong)}.",
            "Remove the checkpoints `curate` and `graph` and all tables but `archive`: they are rebuilt from it. "
            "Or, if this is the archive, take back what changed it.",
        )
