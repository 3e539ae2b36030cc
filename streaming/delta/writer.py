"""Write access to the tables, for one batch of one query."""

from functools import reduce
from operator import or_

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineproof.streaming.delta.fold import files_with_keys, plan_fold, write_fold
from lineproof.streaming.delta.key_ranges import KeyRanges
from lineproof.streaming.delta.private_api.optimistic_transaction import OptimisticTransaction
from lineproof.streaming.delta.reader import TableReader, lies_within
from lineproof.streaming.delta.replace import write_replacement
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.transaction import DeltaTransaction
from lineproof.streaming.stages.merge_rules import MergeRules


class BatchWriter(TableReader):
    """Writes one batch to the tables in one directory, to each table in one commit.

    Delta keeps the application id and the number of the last batch with each table. A write that the table already has
    is skipped: a batch that is repeated after a crash changes only the tables that it had not reached.
    """

    def __init__(self, spark: SparkSession, root: str, app_id: str, number: int) -> None:
        if not app_id or number < 0:
            raise ValueError(
                f"A batch is written under an application id and a number from 0, not {app_id!r}, {number}"
            )
        super().__init__(spark, root)
        self._app_id = app_id
        self._number = number

    @property
    def number(self) -> int:
        """The number of the batch."""
        return self._number

    def append(self, table: Table, rows: DataFrame) -> None:
        """Add rows."""
        transaction = self._begin(table)
        if not transaction.is_written:
            transaction.commit(rows.select(*table.columns))

    def fold(
        self, table: Table, keys: DataFrame, new: DataFrame, rules: MergeRules, within: KeyRanges | None = None
    ) -> DataFrame:
        """Replace the rows with these keys by the merge of old and new; return the rows of these keys.

        All keys lie in the range `within`.
        """
        transaction, condition = self._begin(table), lies_within(within)
        if transaction.is_written:
            return self.rows_of(table, keys, within)
        files = files_with_keys(transaction, transaction.files_matching(condition), condition, keys)
        if not files:
            transaction.commit(rules.merge(new).select(*table.columns))
            return self.rows_of(table, keys, within)
        plan = plan_fold(table, transaction, files, condition, keys, new, rules)
        write_fold(transaction, plan)
        return plan.rows

    def replace(self, table: Table, rows: DataFrame) -> None:
        """Make a small table equal to these rows. Only files whose rows differ are rewritten."""
        transaction = self._begin(table)
        if not transaction.is_written:
            write_replacement(table, transaction, transaction.files_matching(lies_within(None)), rows)

    def _begin(self, table: Table) -> DeltaTransaction:
        return OptimisticTransaction(self._spark, self.path(table), self._app_id, self._number)


class DryWriter(BatchWriter):
    """Computes everything that a batch would write, and writes nothing: fails where the batch would fail."""

    def append(self, table: Table, rows: DataFrame) -> None:
        """Compute the rows."""
        _compute(table, rows.select(*table.columns))

    def fold(
        self, table: Table, keys: DataFrame, new: DataFrame, rules: MergeRules, within: KeyRanges | None = None
    ) -> DataFrame:
        """Compute the merged rows, and return them."""
        transaction, condition = self._begin(table), lies_within(within)
        files = files_with_keys(transaction, transaction.files_matching(condition), condition, keys)
        merged = (
            plan_fold(table, transaction, files, condition, keys, new, rules).rows
            if files
            else rules.merge(new).select(*table.columns).localCheckpoint(eager=False)
        )
        _compute(table, merged)
        return merged

    def replace(self, table: Table, rows: DataFrame) -> None:
        """Compute the rows."""
        _compute(table, rows.select(*table.columns))


def _compute(table: Table, rows: DataFrame) -> None:
    """Compute every value, and check the constraints that Delta would check."""
    required = [column.split()[0] for column in table.schema if " NOT NULL" in column]
    is_broken = [F.col(name).isNull() for name in required] + [~F.expr(each) for each in table.constraints.values()]
    broken = reduce(or_, is_broken, F.lit(False))
    fault = F.when(broken, F.raise_error(F.lit(f"A row breaks a constraint of {table.name}.")).cast("string"))
    rows.withColumn("fault", fault).write.format("noop").mode("overwrite").save()
