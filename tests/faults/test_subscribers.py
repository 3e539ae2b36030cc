"""A consumer in another process sees every ended run once by id, although the job is killed with SIGKILL."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from lineproof.settings import Settings
from tests.delivery import wait_for
from tests.end_to_end.subscribers import ROOT, consuming, ended_runs, example_consumer, records, with_topics
from tests.end_to_end.tools import RunJob, publish

pytestmark = pytest.mark.faults

POINTS = ("after-runs", "before-topics", "after-topics", "before-curate")


def test_every_ended_run_is_seen_once_across_kills(settings: Settings, run_job: RunJob, tmp_path: Path) -> None:
    settings = with_topics(settings)
    config, seen = tmp_path / "crashing.yaml", tmp_path / "seen"
    config.write_text(yaml.safe_dump(settings.model_dump(mode="json")))
    with consuming(example_consumer(settings), seen):
        for point in POINTS:
            publish(settings, runs=3)
            job = subprocess.run(
                [sys.executable, "-m", "tests.faults.crashing_job", config, point, "new"],
                cwd=ROOT,
                start_new_session=True,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert job.returncode == -signal.SIGKILL, job.stderr
        run_job(settings)
        expected = [[str(value) for value in row] for row in ended_runs(settings)]
        wait_for(lambda: len(seen.read_text().splitlines()) >= len(expected))
    assert sorted(line.split() for line in seen.read_text().splitlines()) == expected

    published = [message.record for message in records(settings, settings.topics.runs)]
    assert len(published) > len(expected), "no kill made the job repeat itself"
    by_id = {run["record_id"]: run for run in published}
    assert {*Counter(run["run_id"] for run in by_id.values()).values()} == {1}
