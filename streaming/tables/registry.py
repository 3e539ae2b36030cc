"""All tables of the job, and the query that writes each.

Names and keys alone are in `lineproof.schemas.tables`, which needs no Spark.
"""

from typing import Protocol, TypeVar

from pyspark.sql import DataFrame

from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.batch import Batch
from lineproof.streaming.stages.graph import GraphBatch
from lineproof.streaming.tables import (
    accepted_losses,
    archive,
    certificates,
    column_lineage,
    dataset_nodes,
    dataset_schemas,
    datasets,
    dead_letters,
    job_io,
    jobs,
    lineage_events,
    quality_results,
    quarantine,
    records,
    runs,
)

B = TypeVar("B", contravariant=True)


class TableModule(Protocol[B]):
    """A module of `tables/`: the table's definition, and how a batch is written to it."""

    TABLE: Table

    def write(self, batch: B, writer: BatchWriter) -> DataFrame | None:
        """Write the table's part of a batch; `runs` returns the rows that it changed."""


CURATED: tuple[TableModule[Batch], ...] = (
    runs,
    lineage_events,
    records,
    certificates,
    quality_results,
    dead_letters,
)
"""Written by curate. `runs` comes first: when graph reads an event in `lineage_events`, `runs` has it already."""

GRAPH: tuple[TableModule[GraphBatch], ...] = (job_io, column_lineage, datasets, jobs, dataset_schemas, dataset_nodes)
"""Written by graph. `dataset_nodes` comes last: it is made from `datasets`. `job_io` reads `runs`; no other table reads
another."""

DERIVED: tuple[TableModule[Batch] | TableModule[GraphBatch], ...] = (*CURATED, *GRAPH)
"""All tables that are made from the archive."""

TABLES: tuple[Table, ...] = (
    *(archive.TABLE, quarantine.TABLE, accepted_losses.TABLE),
    *(module.TABLE for module in DERIVED),
)
