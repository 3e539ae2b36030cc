"""Lineproof with a computation that does not end, and does not notice that it is cancelled. Run as a program.

`busy.py session HOME` computes in a plain query. `busy.py COMMAND OPTION…` is the command line, with a batch of curate
that never ends. Both print a line that begins with BUSY when they are.
"""

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from lineproof.cli.main import main
from lineproof.local.spark_session import spark_session
from lineproof.settings import Settings
from lineproof.streaming.curate import Curate
from tests.jvm_options import SPARK_OPTIONS

BUSY = "busy: "

ENDLESS = "aggregate(sequence(1, 1000000), {0}, (total, x) -> total + array_max(sequence(x, x + 1000000)))"
"""Months of work on one row: Spark looks for a cancellation between rows."""


def compute(spark: SparkSession) -> None:
    """Keep two tasks busy without end."""
    print(BUSY, flush=True)
    spark.range(0, 2, 1, 2).selectExpr(ENDLESS.format("id")).collect()


def plan(_curate: Curate, arrived: DataFrame, number: int) -> None:
    """Keep the query's own thread busy without end: columns of constants are computed while Spark plans."""
    print(BUSY, flush=True)
    arrived.sparkSession.sql(f"SELECT {ENDLESS.format('id')} FROM VALUES (0L) AS one(id)").collect()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["session", home]:
            compute(spark_session(Settings(home=Path(home), spark=SPARK_OPTIONS)))
        case arguments:
            Curate._curate = plan  # type: ignore[assignment, method-assign]
            main(arguments)
