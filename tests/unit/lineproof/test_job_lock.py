"""The lock between jobs with the same home directory."""

from pathlib import Path

import pytest

from lineproof.local.job_lock import JobRunning, job_lock
from lineproof.settings import Settings


def test_jobs_share_the_lock_and_a_rebuild_needs_it_alone(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    refused = pytest.raises(JobRunning, match="Another job is running")
    with job_lock(settings), job_lock(settings) as lock, refused, lock.alone():
        pass
    with job_lock(settings) as lock:
        with lock.alone(), pytest.raises(JobRunning, match="removing the tables"), job_lock(settings):
            pass
        with job_lock(settings):  # the tables are removed: another job may start
            pass


def test_without_a_home_directory_there_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with job_lock(Settings(home=tmp_path / "file" / "home")) as lock, lock.alone():
        pass
