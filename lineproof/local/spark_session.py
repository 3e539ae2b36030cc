"""The Spark session of a command: the one that `spark-submit` made, or a new one on this machine."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.local import jars
from lineproof.local.java import find_java, log_options
from lineproof.settings import Settings
from lineproof.streaming.session import session, was_submitted


def spark_session(settings: Settings) -> SparkSession:
    """The session that `spark-submit` made, or a new one on this machine that logs to the job's log."""
    if was_submitted():
        return session(settings.spark, jars=(), java_options=())
    os.environ["JAVA_HOME"] = str(find_java().resolve().parents[1])
    log = job_log(settings).absolute()
    log.parent.mkdir(parents=True, exist_ok=True)
    options = {"spark.sql.warehouse.dir": str(log.parent), **settings.spark}
    with _jvm_output_to(log):
        return session(options, jars.spark_jars(), log_options(log))


def job_log(settings: Settings) -> Path:
    """The log of Spark on this machine."""
    return settings.home / "logs" / "job.log"


@contextmanager
def _jvm_output_to(log: Path) -> Iterator[None]:
    """Redirect stdout and stderr to the log while the JVM starts and inherits them.

    This process's own stdout and stderr are for data and for messages to the user.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    originals = os.dup(1), os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(originals[0], 1)
            os.dup2(originals[1], 2)
            for descriptor in originals:
                os.close(descriptor)
