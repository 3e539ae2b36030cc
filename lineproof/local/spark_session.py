"""The Spark session of a command: the one that `spark-submit` made, or a new one on this machine."""

import os
import subprocess
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from lineproof.local import jars
from lineproof.local.java import find_java, log_options
from lineproof.local.jvm_guard import guard_jvm
from lineproof.local.logs import job_log, jvm_output_to
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings
from lineproof.streaming.delta.private_api.jvm_process import jvm_process
from lineproof.streaming.session import session, was_submitted

STOP_TIMEOUT_S = 20.0


class JvmEnded(LineproofError):
    """The JVM has ended while it was needed."""


def spark_session(settings: Settings) -> SparkSession:
    """The session that `spark-submit` made, or a new one on this machine that logs to the job's log.

    The JVM of a new one ends with this process, also if this process is killed.
    """
    if was_submitted():
        return session(settings.spark, jars=(), java_options=())
    os.environ["JAVA_HOME"] = str(find_java().resolve().parents[1])
    log = job_log(settings).absolute()
    log.parent.mkdir(parents=True, exist_ok=True)
    options = {"spark.sql.warehouse.dir": str(log.parent), **settings.spark}
    with jvm_output_to(log):
        spark = session(options, jars.spark_jars(), log_options(log))
    if jvm := jvm_process(spark):
        guard_jvm(jvm.pid)
    return spark


def stop_session(spark: SparkSession, timeout_s: float = STOP_TIMEOUT_S) -> None:
    """Stop Spark. A JVM that does not answer in time is killed: what a command has not committed, it repeats."""
    jvm = jvm_process(spark)
    timer = threading.Timer(timeout_s, jvm.kill if jvm else lambda: None)
    timer.daemon = True
    timer.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # that the JVM has ended
            spark.stop()
    except (Py4JError, OSError):
        if jvm is None or jvm.poll() is None:
            raise
    finally:
        timer.cancel()


@contextmanager
def jvm_end_explained(spark: SparkSession) -> Iterator[None]:
    """Replace the error of a call to a JVM that has ended by one that says so."""
    jvm = jvm_process(spark)
    try:
        yield
    except (LineproofError, Py4JError, OSError) as error:
        cause = error.__cause__ if isinstance(error, LineproofError) else error
        if jvm is None or not isinstance(cause, Py4JError | OSError) or (code := _exit_code(jvm)) is None:
            raise
        raise JvmEnded(
            f"Spark's JVM has ended, {f'killed by signal {-code}' if code < 0 else f'with exit code {code}'}.",
            "Nothing is lost: the next start repeats the batch. If it was the system that killed it, there was too "
            "little memory: see spark.driver.memory.",
        ) from error


def _exit_code(jvm: "subprocess.Popen[bytes]") -> int | None:
    """The exit code of a JVM that no longer answers: it may still be ending. None if it is running."""
    try:
        return jvm.wait(1)
    except subprocess.TimeoutExpired:
        return None
