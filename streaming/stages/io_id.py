"""The identity of a combination of jobs, inputs and outputs: a hash of their names, the key of `job_io`."""

from functools import cache

from pyspark.sql import Column
from pyspark.sql import functions as F


def names(entities: Column) -> Column:
    """Namespace and name of each entity."""
    return F.transform(
        F.coalesce(entities, F.array()),
        lambda entity: F.struct(entity["namespace"].alias("namespace"), entity["name"].alias("name")),
    )


def names_of_event(datasets: str) -> Column:
    """The names of an event's inputs or outputs, each once, sorted as in `runs`."""
    return F.array_sort(F.array_distinct(names(F.col(datasets))))


def jobs_of_event() -> Column:
    """The job of an event, as a list."""
    return F.array(F.struct(F.col("job_namespace").alias("namespace"), F.col("job_name").alias("name")))


def io_id(jobs: Column, inputs: Column, outputs: Column) -> Column:
    """The id of a combination, of names that are sorted; null if there are neither inputs nor outputs."""
    combination = F.struct(jobs.alias("jobs"), inputs.alias("inputs"), outputs.alias("outputs"))
    return F.when(F.size(inputs) + F.size(outputs) > 0, F.sha2(F.to_json(combination), 256))


@cache
def of_job_event() -> Column:
    """The id of a job event's combination; null for all other events."""
    of_event = io_id(jobs_of_event(), names_of_event("inputs"), names_of_event("outputs"))
    return F.when(F.col("kind") == "JOB", of_event)
