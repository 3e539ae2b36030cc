"""Latency of the queries that users run with `lineproof sql`, over the tables of the curated benchmark."""

import time
from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineproof.bench.environment import Environment
from lineproof.bench.figures import Figure, below
from lineproof.serving.sql import Tables
from lineproof.streaming.delta.writer import BatchWriter
from lineproof.streaming.tables import job_io

EDGES, DEPTH, PARENTS = 100_000, 20, 2
ROUNDS = 5
LIMIT_MS = 300


def query(environment: Environment, tables: str) -> Iterator[Figure]:
    """Query upstream lineage, a run and the last runs of a job. The fastest round counts: the first reads from disk."""
    environment.log("query")
    path = str(environment.directory / tables)
    _add_graph(environment, path)
    reader = Tables(path)
    (run_id, job_namespace, job_name) = reader.query("SELECT run_id, job_namespace, job_name FROM runs LIMIT 1").rows[0]
    queries = {
        f"upstream, {DEPTH} deep": ("SELECT count(*) FROM lineage_upstream(?, ?)", "graph", f"{DEPTH}-0"),
        "a run by id": ("SELECT * FROM runs WHERE run_id = ?", run_id),
        "a job's last 100 runs": (
            "SELECT * FROM runs WHERE job_namespace = ? AND job_name = ? ORDER BY started_at DESC LIMIT 100",
            job_namespace,
            job_name,
        ),
    }
    for name, (sql, *parameters) in queries.items():
        seconds = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            reader.query(sql, *parameters)
            seconds.append(time.perf_counter() - began)
        yield below(LIMIT_MS, f"query: {name}", min(seconds) * 1000, "ms")


def _add_graph(environment: Environment, path: str) -> None:
    """Add layers of datasets; each dataset is made from two of the layer below."""
    width = EDGES // DEPTH // PARENTS
    number, layer = F.col("id") % width, F.floor(F.col("id") / width)

    def named(*parts: Column) -> Column:
        return F.struct(F.lit("graph").alias("namespace"), F.concat_ws("-", *parts).alias("name"))

    parents = [named(layer, (number * PARENTS + parent) % width) for parent in range(PARENTS)]
    rows = environment.spark.range(width * DEPTH).select(
        F.sha2(F.col("id").cast("string"), 256).alias("io_id"),
        F.array(named(F.lit("job"), number)).alias("jobs"),
        F.array(*parents).alias("inputs"),
        F.array(named(layer + 1, number)).alias("outputs"),
    )
    BatchWriter(environment.spark, path, "bench", 0).append(job_io.TABLE, rows)
