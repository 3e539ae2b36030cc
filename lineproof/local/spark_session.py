"""The Spark session of a command: the one that `spark-submit` made, or a new one on this machine."""

import os

from pyspark.sql import SparkSession

from lineproof.local import jars
from lineproof.local.java import find_java, log_options
from lineproof.local.logs import job_log, jvm_output_to
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
    with jvm_output_to(log):
        return session(options, jars.spark_jars(), log_options(log))
