"""SIGKILL at every commit point of a batch: the tables equal those of an undisturbed run.

`make faults` kills the job 50 times. FAULT_KILLS sets another number, as CI does.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import yaml
from deltalake import DeltaTable

from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.tools import RunJob, assert_archive_is_topic, consumed, publish, rows, snapshot
from tests.faults.crashing_job import AT_RANDOM, points

KILLS = int(os.environ.get("FAULT_KILLS", "50"))

pytestmark = pytest.mark.faults


def test_the_tables_are_the_same_after_kills_at_every_point(
    settings: Settings, run_job: RunJob, tmp_path: Path
) -> None:
    crashing = settings.model_copy(update={"home": tmp_path / "crashing"})
    config = tmp_path / "crashing.yaml"
    config.write_text(yaml.safe_dump(crashing.model_dump(mode="json")))
    killed = 0
    for point, which in kill_points():
        publish(settings, runs=3)
        began = time.monotonic()
        job = subprocess.run(
            [sys.executable, "-m", "tests.faults.crashing_job", config, point, which],
            cwd=Path(__file__).parents[2],
            start_new_session=True,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        has_ended = job.returncode == 0 and point.startswith(AT_RANDOM)  # before it was killed
        assert job.returncode == -signal.SIGKILL or has_ended, job.stderr
        killed += not has_ended
        seconds = time.monotonic() - began
        print(f"kill {killed} of {KILLS}, {point}, {which} batch, {seconds:.0f} s: {progress(crashing)}", flush=True)
        if killed == KILLS:
            break

    run_job(crashing)
    undisturbed = settings.model_copy(update={"topics": settings.topics.model_copy(update={"dead_letters": ""})})
    run_job(undisturbed)
    assert snapshot(crashing) == snapshot(undisturbed)
    assert rows(crashing, "archive") == rows(undisturbed, "archive")
    assert_archive_is_topic(crashing)

    # The dead-letter topic gets every dead letter at least once.
    topic = settings.topics.dead_letters
    count = sum(end - begin for begin, end in KafkaCluster(settings.kafka).offsets(topic).values())
    sources = {dict(letter.headers())["lineproof.source"].decode() for letter in consumed(settings, topic, count)}
    assert sources == {f"{row[0]}/{row[1]}/{row[2]}" for row in rows(crashing, "dead_letters")}


def kill_points() -> Iterator[tuple[str, str]]:
    """Every point and one random moment, in random order; the same sequence in every run."""
    random = Random(5)
    while True:
        moment = f"{AT_RANDOM}{random.uniform(0, 10):.2f}"
        for point in random.sample([*points(), moment], len(points()) + 1):
            yield point, random.choice(["first", "new"])


def progress(settings: Settings) -> str:
    """The last batch that each query has planned, written and finished."""
    ingest, curate, graph = (Path(settings.checkpoints_path, query) for query in ("ingest", "curate", "graph"))
    archived = DeltaTable(f"{settings.tables_path}/archive").history(1)[0]["version"] - 1
    return (
        f"ingest planned {_last(ingest / 'offsets')}, archived {archived}, finished {_last(ingest / 'commits')}; "
        f"curate planned {_last(curate / 'offsets')}, finished {_last(curate / 'commits')}; "
        f"graph planned {_last(graph / 'offsets')}, finished {_last(graph / 'commits')}"
    )


def _last(log: Path) -> int:
    return max((int(entry.name) for entry in log.glob("[0-9]*")), default=-1)
