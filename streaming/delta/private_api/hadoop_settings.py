"""Hadoop's record of where each of its settings comes from."""

from typing import Any

from pyspark.sql import SparkSession


def settings_sources(spark: SparkSession) -> Any:
    """The map from each of Hadoop's thousand settings to the file that it was read from. Nothing here uses it.

    But Spark sends the settings with every task, and Hadoop compresses these file names one by one: 45 ms each time, a
    seventh of the processor time of small batches. `session` clears the map.
    """
    settings = spark._jsc.hadoopConfiguration()
    sources = settings.getClass().getDeclaredField("updatingResource")
    sources.setAccessible(True)
    return sources.get(settings)
