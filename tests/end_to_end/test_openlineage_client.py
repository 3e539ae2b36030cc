"""The standard OpenLineage client publishes to our topic with configuration alone."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

from lineproof.schemas.envelope import Envelope, decode
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests import backend as backends
from tests.backend import Reply
from tests.end_to_end.tools import consumed

KIND = "lineproof.producers.transports.openlineage.LineproofTransport"
SCRIPT = """
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState

client = OpenLineageClient()
run = Run("01890000-0000-7000-8000-000000000001")
for state in (RunState.START, RunState.COMPLETE):
    client.emit(RunEvent(eventType=state, eventTime="2026-01-01T00:00:00Z", run=run, job=Job("airflow", "nightly")))
"""


def run_client(config: dict[str, object], directory: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    file = directory / "openlineage.yml"
    file.write_text(yaml.safe_dump({"transport": {"type": KIND, **config}}))
    state = {"XDG_STATE_HOME": str(directory / "state")}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **state, "OPENLINEAGE_CONFIG": str(file), **environ},
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_client_is_configured_by_yaml(settings: Settings, tmp_path: Path) -> None:
    done = run_client(
        {
            "topic": settings.topics.events,
            "spool": str(tmp_path / "spool"),
            "config": dict(settings.kafka),
        },
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    envelopes = [decode(message.value()) for message in consumed(settings, settings.topics.events, 2)]
    assert all(isinstance(envelope, Envelope) for envelope in envelopes)
    opened = [envelope for envelope in envelopes if isinstance(envelope, Envelope)]
    assert [envelope.event_type for envelope in opened] == ["START", "COMPLETE"]
    assert [envelope.sequence for envelope in opened] == [0, 1]
    assert json.loads(opened[0].payload)["producer"].startswith("https://github.com/OpenLineage")


def test_brokers_alone_are_enough(settings: Settings, tmp_path: Path) -> None:
    """Events wait below the user's state directory, in a directory of their own for each target."""
    KafkaCluster(settings.kafka).create_topics(["lineage.events"], 1, 1)
    done = run_client({"config": dict(settings.kafka)}, tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(consumed(settings, "lineage.events", 2)) == 2
    [spool] = (tmp_path / "state" / "lineproof" / "spool").iterdir()
    assert re.fullmatch(r"[\w.-]+-[0-9a-f]{12}", spool.name)
    assert [topic.name for topic in spool.iterdir()] == ["lineage.events"]


def test_a_url_alone_is_enough(tmp_path: Path) -> None:
    with backends.running() as backend:
        done = run_client({"url": backend.url, "api_key": "s3cret"}, tmp_path)
        assert done.returncode == 0, done.stderr
        assert backend.types == ["START", "COMPLETE"]
        assert backend.requests[0].headers["authorization"] == "Bearer s3cret"
    assert "s3cret" not in done.stderr


def test_what_one_process_leaves_the_next_one_sends(tmp_path: Path) -> None:
    """To the same target, and to no other."""
    with backends.running() as backend, backends.running() as other:
        backend.judge = lambda _: Reply(503, headers={"Retry-After": "60"})
        run_client({"url": backend.url}, tmp_path)
        backend.judge = lambda _: None
        run_client({"url": other.url}, tmp_path)
        assert len(other.accepted) == 2
        assert not backend.accepted
        run_client({"url": backend.url}, tmp_path)
        assert backend.types == ["START", "COMPLETE"] * 2


def test_everything_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    broker = {"bootstrap.servers": "127.0.0.1:9"}
    for config, problems in (
        ({}, ["neither transport.config.bootstrap.servers (Kafka) nor transport.url (HTTP) is set"]),
        (
            {"config": broker, "topick": "t", "api_key": "k", "schema_registry": {"uri": "x"}},
            [
                "transport.topick is unknown (did you mean topic?)",
                "transport.api_key has no effect with transport.config.bootstrap.servers",
                "transport.schema_registry: A schema registry has no option uri",
            ],
        ),
        ({"url": "http://127.0.0.1:9", "config": broker}, ["transport.config has no effect with transport.url"]),
        ({"url": "127.0.0.1:9"}, ["transport: '127.0.0.1:9' is not the URL of a backend"]),
    ):
        stderr = run_client(config, tmp_path).stderr  # type: ignore[arg-type]
        for problem in problems:
            assert problem in stderr
        if "URL" not in problems[0]:
            assert "The options of this transport: config, topic, schema_registry, url, endpoint, api_key" in stderr


def test_a_state_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run_client({"url": "http://127.0.0.1:9"}, tmp_path, XDG_STATE_HOME=str(tmp_path / "file"))
    assert "Set transport.spool" in done.stderr
