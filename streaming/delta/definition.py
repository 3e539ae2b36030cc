"""Create a table, and compare a table that exists with its definition."""

from collections.abc import Mapping

from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, DataType, StructType

from lineproof.schemas.table_format import current_format
from lineproof.streaming.delta.private_api import delta_log
from lineproof.streaming.delta.table import CONSTRAINT, Table


def create_table(spark: SparkSession, path: str, table: Table) -> None:
    """Create the table, empty, in the format of this release."""
    builder = DeltaTable.create(spark).location(path).comment(table.comment).addColumns(table.struct)
    if table.partition_by:
        builder = builder.partitionedBy(*table.partition_by)
    if table.cluster_by:
        builder = builder.clusterBy(*table.cluster_by)
    for name, value in {**table.properties, **current_format()}.items():
        builder = builder.property(name, value)
    builder.execute()


class Definition:
    """Columns, constraints and properties of a table that exists, next to what they should be."""

    def __init__(self, spark: SparkSession, path: str, table: Table) -> None:
        self._spark = spark
        self._path = path
        self._table = table
        self.name = table.name

    @property
    def properties(self) -> dict[str, str]:
        """The properties that the table has."""
        return delta_log.properties(self._spark, self._path)

    def set(self, properties: Mapping[str, str]) -> None:
        """Set properties, in one commit."""
        if properties:
            pairs = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
            self._alter(f"SET TBLPROPERTIES ({pairs})")

    def add_columns(self) -> None:
        """Add the columns that an older release did not have. No file is rewritten: old rows have nulls there."""
        if self._expected.keys() - self._found.keys():
            no_rows = self._spark.createDataFrame([], self._table.struct)
            no_rows.write.format("delta").mode("append").option("mergeSchema", "true").save(self._path)

    def describe(self) -> None:
        """Set constraints and properties that differ from those of `create_table`. Delta checks new constraints."""
        found = self.properties
        differing = {name: value for name, value in self._table.properties.items() if found.get(name) != value}
        for name in [name.removeprefix(CONSTRAINT) for name in differing if name.startswith(CONSTRAINT)]:
            self._alter(f"DROP CONSTRAINT IF EXISTS {name}")
            self._alter(f"ADD CONSTRAINT {name} CHECK ({self._table.constraints[name]})")
        self.set({name: value for name, value in differing.items() if not name.startswith(CONSTRAINT)})

    def unknown_columns(self) -> list[str]:
        """Columns that the table has and should not have, nested ones included."""
        return sorted(self._found.keys() - self._expected.keys())

    def differing_columns(self) -> list[str]:
        """Columns that are missing or have another type than they should."""
        found = self._found
        return sorted(name for name, kind in self._expected.items() if found.get(name) != kind)

    def _alter(self, change: str) -> None:
        self._spark.sql(f"ALTER TABLE delta.`{self._path}` {change}")

    @property
    def _expected(self) -> dict[str, DataType]:
        return _columns(self._table.struct)

    @property
    def _found(self) -> dict[str, DataType]:
        return _columns(self._spark.read.format("delta").load(self._path).schema)


def _columns(kind: DataType, path: str = "") -> dict[str, DataType]:
    """The names and types of all columns, nested ones included."""
    if isinstance(kind, ArrayType):
        return _columns(kind.elementType, path)
    if not isinstance(kind, StructType):
        return {path: kind}
    nested = (_columns(child.dataType, f"{path}.{child.name}" if path else child.name) for child in kind.fields)
    return {name: kind for columns in nested for name, kind in columns.items()}
