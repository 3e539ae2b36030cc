"""What a table is, as its log has it, beside what it should be."""

from collections.abc import Mapping

from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, DataType, StructType

from lineproof.streaming.delta import snapshot
from lineproof.streaming.delta.store import CONSTRAINT, Table


class Definition:
    """Columns, constraints and properties of a table that is there."""

    def __init__(self, spark: SparkSession, path: str, table: Table) -> None:
        self._spark = spark
        self._path = path
        self._table = table

    @property
    def properties(self) -> dict[str, str]:
        """Those that the table has."""
        return snapshot.properties(self._spark, self._path)

    def set(self, properties: Mapping[str, str]) -> None:
        """Set properties, in one commit."""
        if properties:
            pairs = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
            self._alter(f"SET TBLPROPERTIES ({pairs})")

    def add_columns(self) -> None:
        """Add the columns that an older release did not have. No file is rewritten: old rows have nulls there."""
        if self._expected.keys() - self._found.keys():
            nothing = self._spark.createDataFrame([], self._table.struct)
            nothing.write.format("delta").mode("append").option("mergeSchema", "true").save(self._path)

    def describe(self) -> None:
        """Set constraints and properties that differ from what `Store.create` would set. Constraints are checked."""
        found = self.properties
        differing = {name: value for name, value in self._table.properties.items() if found.get(name) != value}
        for name in [one.removeprefix(CONSTRAINT) for one in differing if one.startswith(CONSTRAINT)]:
            self._alter(f"DROP CONSTRAINT IF EXISTS {name}")
            self._alter(f"ADD CONSTRAINT {name} CHECK ({self._table.constraints[name]})")
        self.set({name: value for name, value in differing.items() if not name.startswith(CONSTRAINT)})

    def unknown_columns(self) -> list[str]:
        """Columns that the table has and should not have, also within others."""
        return sorted(self._found.keys() - self._expected.keys())

    def differing_columns(self) -> list[str]:
        """Columns that are not as they should be."""
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
    """The names and types of all columns, also of those within others."""
    if isinstance(kind, ArrayType):
        return _columns(kind.elementType, path)
    if not isinstance(kind, StructType):
        return {path: kind}
    parts = (_columns(one.dataType, f"{path}.{one.name}" if path else one.name) for one in kind.fields)
    return {name: kind for part in parts for name, kind in part.items()}
