"""kill -9 at every commit point of a batch: the tables are those of an undisturbed run (R50).

`make faults` kills 50 times in one run, CI a few times, by FAULT_KILLS.
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
from lineproof.topics.cluster import Kafka
from tests.end_to_end.tools import RunJob, assert_archive_is_topic, consumed, publish, rows, snapshot
from tests.faults.crashing_job import AT_RANDOM, points

KILLS = int(os.environ.get("FAULT_KILLS", "50"))

pytestmark = pytest.mark.faults


def test_killed_at_every_point_the_tables_are_the_same(settings: Settings, run_job: RunJob, tmp_path: Path) -> None:
    crashing = settings.model_copy(update={"home": tmp_path / "crashing"})
    config = tmp_path / "crashing.yaml"
    config.write_text(yaml.safe_dump(crashing.model_dump(mode="json")))
    killed = 0
    for point, which in strikes():
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
        has_ended = job.returncode == 0 and point.startswith(AT_RANDOM)  # before its time came
        assert job.returncode == -signal.SIGKILL or has_ended, job.stderr
        killed += not has_ended
        seconds = time.monotonic() - began
        print(f"kill {killed} of {KILLS}, {point}, {which} batch, {seconds:.0f} s: {left(crashing)}", flush=True)
        if killed == KILLS:
            break

    run_job(crashing)
    undisturbed = settings.model_copy(update={"topics": settings.topics.model_copy(update={"dead_letters": ""})})
    run_job(undisturbed)
    assert snapshot(crashing) == snapshot(undisturbed)
    assert rows(crashing, "archive") == rows(undisturbed, "archive")
    assert_archive_is_topic(crashing)

    # The dead-letter topic promises less: each one, at least once.
    topic = settings.topics.dead_letters
    count = sum(end - begin for begin, end in Kafka(settings.kafka).offsets(topic).values())
    sources = {dict(letter.headers())["lineproof.source"].decode() for letter in consumed(settings, topic, count)}
    assert sources == {f"{row[0]}/{row[1]}/{row[2]}" for row in rows(crashing, "dead_letters")}


def strikes() -> Iterator[tuple[str, str]]:
    """Every point in turn, and one moment at random; the same ones in every run."""
    random = Random(5)
    while True:
        moment = f"{AT_RANDOM}{random.uniform(0, 10):.2f}"
        for point in random.sample([*points(), moment], len(points()) + 1):
            yield point, random.choice(["first", "new"])


def left(settings: Settings) -> str:
    """What the kill has left behind: how far each query had planned, written and finished."""
    ingest, curate, graph = (Path(settings.checkpoints_path, query) for query in ("ingest", "curate", "graph"))
    archived = DeltaTable(f"{settings.tables_path}/archive").history(1)[0]["version"] - 1
    return (
        f"ingest planned {_last(ingest / 'offsets')}, archived {archived}, finished {_last(ingest / 'commits')}; "
        f"curate planned {_last(curate / 'offsets')}, finished {_last(curate / 'commits')}; "
        f"graph planned {_last(graph / 'offsets')}, finished {_last(graph / 'commits')}"
    )


def _last(log: Path) -> int:
    return max((int(entry.name) for entry in log.glob("[0-9]*")), default=-1)
