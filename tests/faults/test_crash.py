"""SIGKILL at every commit point of a batch: the tables equal those of an undisturbed run.

`make faults` kills the job 50 times. FAULT_KILLS sets another number, as CI does. Every run draws a new seed for the
points and moments; KILL_SEED=NUMBER repeats those of another run.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from deltalake import DeltaTable

from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.subscribers import ended_runs, records, with_topics
from tests.end_to_end.tools import RunJob, assert_archive_is_topic, consumed, publish, rows, snapshot
from tests.faults.crashing_job import AT_RANDOM, points
from tests.jvm_options import NO_CODEGEN, SPARK_OPTIONS

KILLS = int(os.environ.get("FAULT_KILLS", "50"))

COMPILED = {name: SPARK_OPTIONS[name] for name in SPARK_OPTIONS.keys() - NO_CODEGEN.keys()}
SIDE_BY_SIDE = {"trigger": "500ms", "graph_trigger": "1s"}
MODES: dict[str, dict[str, Any]] = {
    "one query at a time": {},
    "side by side": SIDE_BY_SIDE,
    "side by side, compiled": {**SIDE_BY_SIDE, "spark": COMPILED},
}
"""The settings of the killed job: one query after the other until they have caught up, or all at once."""

pytestmark = pytest.mark.faults


def test_the_tables_are_the_same_after_kills_at_every_point(
    settings: Settings, run_job: RunJob, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seed = int(os.environ.get("KILL_SEED") or secrets.randbits(64))
    record_property("repeat with", f"KILL_SEED={seed} FAULT_KILLS={KILLS} pytest -m faults tests/faults/test_crash.py")
    settings = with_topics(settings)
    crashing = settings.model_copy(update={"home": tmp_path / "crashing"})
    configs = {mode: tmp_path / f"{number}.yaml" for number, mode in enumerate(MODES)}
    for mode, config in configs.items():
        config.write_text(yaml.safe_dump({**crashing.model_dump(mode="json"), **MODES[mode]}))
    killed = 0
    for point, which, mode in kill_points(seed):
        publish(settings, runs=3)
        began = time.monotonic()
        job = subprocess.run(
            [sys.executable, "-m", "tests.faults.crashing_job", configs[mode], point, which],
            cwd=Path(__file__).parents[2],
            start_new_session=True,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        has_ended = job.returncode == 0 and point.startswith(AT_RANDOM)  # before it was killed
        assert job.returncode == -signal.SIGKILL or has_ended, f"{point}, {which}, {mode}: {job.stderr}"
        killed += not has_ended
        how = f"{point}, {which} batch, {mode}, {time.monotonic() - began:.0f} s"
        print(f"kill {killed} of {KILLS}, {how}: {progress(crashing)}", flush=True)
        if killed == KILLS:
            break

    run_job(crashing)
    silent = dict.fromkeys(("dead_letters", "runs", "violations", "quality"), "")
    undisturbed = settings.model_copy(update={"topics": settings.topics.model_copy(update=silent)})
    run_job(undisturbed)
    assert snapshot(crashing) == snapshot(undisturbed)
    assert rows(crashing, "archive") == rows(undisturbed, "archive")
    assert_archive_is_topic(crashing)

    # The dead-letter topic gets every dead letter at least once.
    topic = settings.topics.dead_letters
    count = sum(end - begin for begin, end in KafkaCluster(settings.kafka).offsets(topic).values())
    sources = {dict(letter.headers())["lineproof.source"].decode() for letter in consumed(settings, topic, count)}
    assert sources == {f"{row[0]}/{row[1]}/{row[2]}" for row in rows(crashing, "dead_letters")}

    # The last record of every run is its row.
    last = {message.key: message.record for message in records(settings, settings.topics.runs)}
    found = [(key, run["state"], run["duration_ms"]) for key, run in last.items()]
    assert sorted(found) == ended_runs(crashing)


def kill_points(seed: int) -> Iterator[tuple[str, str, str]]:
    """Every point and random moments, in random order, each with the batch and the mode of the job."""
    random = Random(seed)
    modes = cycle(random.sample([*MODES], len(MODES)))
    while True:
        moments = [f"{AT_RANDOM}{random.uniform(0, 10):.2f}" for _ in MODES]
        for point in random.sample([*points(), *moments], len(points()) + len(moments)):
            yield point, random.choice(["first", "new"]), next(modes)


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
