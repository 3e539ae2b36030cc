"""The job on the shared session."""

import pytest
from pyspark.sql import SparkSession

from lineproof.jobrunner import job_config
from lineproof.settings import Settings
from lineproof.streaming import job
from tests.integration.tools import RunJob


@pytest.fixture
def run_job(spark: SparkSession) -> RunJob:
    """Runs the job until it has caught up, and returns its batches."""

    def run(settings: Settings) -> list[job.Progress]:
        batches: list[job.Progress] = []
        job.run(spark, job_config(settings), batches.append, lambda: False)
        return batches

    return run
