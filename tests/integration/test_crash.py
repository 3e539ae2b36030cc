"""kill -9 between the commits of one batch: the tables are those of an undisturbed run (R50)."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lineproof.settings import Settings
from tests.integration.tools import RunJob, publish, snapshot

pytestmark = pytest.mark.faults

POINTS = [
    "after-archive",  # archived, not curated
    "before-runs",  # between two tables
    "after-certificates",  # all tables written, the checkpoint not
]


def test_killed_at_every_point_the_tables_are_the_same(settings: Settings, run_job: RunJob, tmp_path: Path) -> None:
    publish(settings)
    crashing = settings.model_copy(update={"home": tmp_path / "crashing"})
    config = tmp_path / "crashing.yaml"
    config.write_text(yaml.safe_dump(crashing.model_dump(mode="json")))
    for point in POINTS:
        process = subprocess.run(
            [sys.executable, "-m", "tests.integration.crashing_job", config, point],
            cwd=Path(__file__).parents[2],
            start_new_session=True,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert process.returncode == -signal.SIGKILL, process.stderr

    run_job(crashing)
    run_job(settings)
    assert snapshot(crashing) == snapshot(settings)
