"""Numbers that a producer chooses: none of them stops the job."""

import uuid
from pathlib import Path

from pyspark.sql import SparkSession

from lineproof.serving.sql import Tables
from tests.events import payload
from tests.histories import FACET
from tests.streaming.curated import curated

LIMITS: dict[str, tuple[object, int | None]] = {
    "usual": (2.5, 150_000),
    "none": (0, 0),
    "beyond 64 bits": (1e15, None),
    "beyond a double": (10**400, None),
    "infinite": ("Infinity", None),
    "not a number": ("NaN", None),
    "text": ("long", None),
    "negative": (-1, -60_000),
    "a list": ([1], None),
}
"""`maxDurationMinutes` of a job's lineproof_sla facet, and the column `max_duration_ms`."""


def job_with_limit(number: int, name: str, minutes: object) -> bytes:
    sla = {**FACET, "freshnessMinutes": minutes, "maxDurationMinutes": minutes}
    job = {"namespace": "limits", "name": name, "facets": {"lineproof_sla": sla}}
    return payload(run={"runId": str(uuid.UUID(int=number))}, job=job)


def test_a_limit_that_does_not_fit_is_null(spark: SparkSession, tmp_path: Path) -> None:
    events = [job_with_limit(number, name, minutes) for number, (name, (minutes, _)) in enumerate(LIMITS.items())]
    curated(spark, str(tmp_path), [events])
    tables = Tables(str(tmp_path))
    found = dict(tables.query("SELECT name, max_duration_ms FROM jobs").rows)
    assert found == {name: limit for name, (_, limit) in LIMITS.items()}
    [(open_runs,)] = tables.query("SELECT count(is_overdue) FROM open_runs").rows
    assert open_runs == len(LIMITS), "the view reads the limits of all of them"
