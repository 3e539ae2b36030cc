"""The contract of a batch's write to a Delta table.

`private_api` implements it on Delta's internal classes. An implementation on Delta's public API alone (slower, but for
any version of Delta) has to keep what is said here, and `BatchWriter` is the place to choose between the two.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from pyspark.sql import Column, DataFrame


class DataFile(Protocol):
    """A data file of a table."""

    def path(self) -> str:
        """Where it is, relative to the table or absolute."""

    def size(self) -> int:
        """Its bytes."""

    def remove(self) -> Any:
        """The action that takes it out of the table."""


class DeltaTransaction(Protocol):
    """One batch of one application, written to one table, in one commit, at most once.

    The transaction sees the table as it was when the transaction began.
    """

    @property
    def is_written(self) -> bool:
        """Whether the table has this batch of the application, or a later one."""

    def files_matching(self, condition: Column) -> list[DataFile]:
        """The files of the table that may hold a row for which the condition is true."""

    def read_files(self, files: Sequence[DataFile]) -> DataFrame:
        """The rows of these files."""

    def commit(self, rows: DataFrame, replaced: Sequence[DataFile] = ()) -> None:
        """Add the rows and remove the files.

        Fails if another writer has removed one of these files, or has written the batch.
        """
