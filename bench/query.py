"""How long people wait for an answer, by `lineproof sql`, over the tables of the curated benchmark."""

import time
from collections.abc import Iterator

from pyspark.sql import functions as F

from lineproof.bench.figures import Figure, below
from lineproof.bench.world import World
from lineproof.serving.sql import Tables
from lineproof.streaming.delta.store import Store
from lineproof.streaming.tables import edges

EDGES, DEPTH, PARENTS = 100_000, 20, 2
ROUNDS = 5
LIMIT_MS = 300


def query(world: World, tables: str) -> Iterator[Figure]:
    """Lineage, a run and a job's last runs. The fastest of a few rounds: the first ones read files from disk."""
    world.say("query")
    place = str(world.directory / tables)
    _add_graph(world, place)
    answers = Tables(place)
    (run_id, namespace, name) = answers.query("SELECT run_id, job_namespace, job_name FROM runs LIMIT 1").rows[0]
    questions = {
        f"upstream, {DEPTH} deep": ("SELECT count(*) FROM lineage_upstream(?, ?)", "graph", f"{DEPTH}-0"),
        "a run by id": ("SELECT * FROM runs WHERE run_id = ?", run_id),
        "a job's last 100 runs": (
            "SELECT * FROM runs WHERE job_namespace = ? AND job_name = ? ORDER BY started_at DESC LIMIT 100",
            namespace,
            name,
        ),
    }
    for what, (sql, *parameters) in questions.items():
        seconds = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            answers.query(sql, *parameters)
            seconds.append(time.perf_counter() - began)
        yield below(LIMIT_MS, f"query: {what}", min(seconds) * 1000, "ms")


def _add_graph(world: World, place: str) -> None:
    """Layers of datasets, each made of two of the layer below."""
    width = EDGES // DEPTH // PARENTS
    nothing = F.lit(None).cast("string")
    number, layer = F.col("id") % width, (F.col("id") / (width * PARENTS)).cast("int")
    parent = (number * PARENTS + F.floor(F.col("id") / width) % PARENTS) % width
    rows = world.spark.range(EDGES).select(
        F.sha2(F.col("id").cast("string"), 256).alias("edge_id"),
        F.lit("DATASET").alias("kind"),
        F.lit("graph").alias("job_namespace"),
        F.concat(F.lit("job-"), number.cast("string")).alias("job_name"),
        F.lit("graph").alias("source_namespace"),
        F.concat_ws("-", layer, parent).alias("source_name"),
        nothing.alias("source_field"),
        F.lit("graph").alias("target_namespace"),
        F.concat_ws("-", layer + 1, number).alias("target_name"),
        nothing.alias("target_field"),
        F.array().cast(edges.TABLE.struct["transformations"].dataType).alias("transformations"),
        F.current_timestamp().alias("first_seen_at"),
        F.struct(F.current_timestamp().alias("event_time"), nothing.alias("run_id")).alias("last_seen"),
    )
    Store(world.spark, place, "bench", 0).append(edges.TABLE, rows)
