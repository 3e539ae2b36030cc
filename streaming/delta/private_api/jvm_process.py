"""The JVM that PySpark has started as a child of this process."""

import subprocess
from typing import Any

from pyspark.sql import SparkSession


def jvm_process(spark: SparkSession) -> "subprocess.Popen[bytes] | None":
    """The JVM of the session; None if it is not ours: after `spark-submit`, the JVM has started this process."""
    gateway: Any = spark.sparkContext._gateway
    process: subprocess.Popen[bytes] | None = gateway.proc
    return process
