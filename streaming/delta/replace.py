"""Make a small table equal to given rows, and rewrite only the files whose rows differ."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.transaction import DataFile, DeltaTransaction

_FILE = "file"


def write_replacement(table: Table, transaction: DeltaTransaction, files: Sequence[DataFile], rows: DataFrame) -> None:
    """Commit the rows that the table does not have, without the files with rows that it should not have.

    All columns are compared, and none may be null. If nothing differs, nothing is committed.
    """
    columns = list(table.columns)
    expected = rows.select(*columns).localCheckpoint()
    current = transaction.read_files(files).select(*columns, F.col("_metadata.file_name").alias(_FILE))
    stale = {row[_FILE] for row in current.join(expected, columns, "left_anti").select(_FILE).distinct().collect()}
    kept = current.where(~F.col(_FILE).isin(*stale)) if stale else current
    added = expected.join(kept, columns, "left_anti").localCheckpoint()
    if stale or not added.isEmpty():
        transaction.commit(added, replaced=[file for file in files if file.path().rpartition("/")[2] in stale])
