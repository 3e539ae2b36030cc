"""`dataset_nodes`: for every dataset that is the same as another one, the name that both have in lineage.

A symlinks facet moves only the dataset that carries it: a stranger's facet cannot rename other datasets. The table is a
function of `datasets` and is computed from all of its symlinks, which are few, when a batch has a symlinks facet.
"""

import json

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineproof.schemas.tables import DATASET_NODES
from lineproof.streaming.delta.table import Table
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.stages.graph import GraphBatch
from lineproof.streaming.stages.latest_facets import facet_named
from lineproof.streaming.stages.resolve_nodes import resolve_nodes
from lineproof.streaming.tables import datasets

TABLE = Table(
    contract=DATASET_NODES,
    comment="For every dataset that is the same as another one, the name that it has in lineage.",
    cluster_by=("namespace", "name"),
    schema=(
        "namespace STRING NOT NULL COMMENT 'namespace of the dataset, as in its events'",
        "name STRING NOT NULL COMMENT 'name of the dataset, as in its events'",
        "node_namespace STRING NOT NULL COMMENT 'its namespace in lineage'",
        "node_name STRING NOT NULL COMMENT 'its name in lineage: the end of its chain of symlinks'",
    ),
)


def write(batch: GraphBatch, writer: BatchWriter) -> None:
    """Compute the table again, if the batch has a symlinks facet."""
    is_stated = (F.col("role") != "JOB") & facet_named(F.col("facets"), "symlinks").isNotNull()
    if not batch.observations.where(is_stated).isEmpty():
        writer.replace(TABLE, dataset_nodes(writer.read(datasets.TABLE)))


def dataset_nodes(rows: DataFrame) -> DataFrame:
    """Rows of `dataset_nodes` from rows of `datasets`."""
    linked = rows.where(F.col("symlinks").isNotNull()).select("namespace", "name", _pointer().alias("other"))
    found = linked.where(F.col("other").isNotNull()).select("namespace", "name", "other.*").collect()
    nodes = resolve_nodes({(row[0], row[1]): (row[2], row[3]) for row in found})
    # As one JSON text: DataFrames of Python rows are made by Python on the executors, which a cluster may not have.
    text = json.dumps([dict(zip(TABLE.columns, (*name, *node), strict=True)) for name, node in nodes.items()])
    listed = F.from_json(F.lit(text), f"ARRAY<STRUCT<{', '.join(f'{name}: STRING' for name in TABLE.columns)}>>")
    return rows.sparkSession.range(1).select(F.explode(listed).alias("node")).select("node.*")


def _pointer() -> Column:
    """The other name that a dataset has by its own symlinks: the smallest, and that of a table if there is one."""

    def is_other(symlink: Column) -> Column:
        is_same = (symlink["namespace"] == F.col("namespace")) & (symlink["name"] == F.col("name"))
        return symlink["namespace"].isNotNull() & symlink["name"].isNotNull() & ~is_same

    others = F.filter("symlinks", is_other)
    tables = F.filter(others, lambda symlink: F.coalesce(symlink["type"] == "TABLE", F.lit(False)))
    names = F.transform(
        F.when(F.size(tables) > 0, tables).otherwise(others),
        lambda symlink: F.struct(symlink["namespace"].alias("namespace_"), symlink["name"].alias("name_")),
    )
    return F.array_min(names)
