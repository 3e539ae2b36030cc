"""The definition of a table, and conditions by which Delta skips its files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from pyspark.sql.types import StructType

from lineproof.schemas.tables import TableContract

COMMITS_PER_CHECKPOINT = "50"
"""Of a table's log. With Delta's ten, every tenth small batch took half as long again."""

CONSTRAINT = "delta.constraints."
"""The prefix of properties that are constraints."""


@dataclass(frozen=True)
class Table:
    """A table as the job creates it: its columns as DDL with their comments, its layout and its constraints."""

    contract: TableContract
    comment: str
    schema: tuple[str, ...]
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    """The columns that most queries filter by."""
    stats_columns: tuple[str, ...] = ()
    """Further columns by whose range a file is skipped. Statistics of every column take longer than the write."""
    constraints: Mapping[str, str] = field(default_factory=dict)
    """Names and conditions. A row that breaks one is a bug of lineproof, and stops the job."""
    retention_column: str = ""
    """The time by which a row becomes too old to keep. Empty: rows are kept for ever."""
    retention_setting: str = ""
    """The setting under `retention` that says for how long, where it does not have the table's name."""

    @property
    def name(self) -> str:
        """The name that readers know the table by, and its directory."""
        return self.contract.name

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that identify a row: no two rows have the same values."""
        return self.contract.key

    @property
    def properties(self) -> dict[str, str]:
        """The Delta table properties."""
        return {
            "delta.dataSkippingStatsColumns": ",".join(dict.fromkeys((*self.cluster_by, *self.stats_columns))),
            "delta.checkpointInterval": COMMITS_PER_CHECKPOINT,
            **{f"{CONSTRAINT}{name}": condition for name, condition in self.constraints.items()},
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.split()[0] for column in self.schema)

    @property
    def struct(self) -> StructType:
        """The columns as Spark's type."""
        return cast(StructType, StructType.fromDDL(", ".join(self.schema)))
