"""The standard OpenLineage client publishes to our topic with configuration alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from lineproof.schemas.envelope import Envelope, decode
from lineproof.settings import Settings
from tests.end_to_end.tools import consumed

SCRIPT = """
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState

client = OpenLineageClient()
run = Run("01890000-0000-7000-8000-000000000001")
for state in (RunState.START, RunState.COMPLETE):
    client.emit(RunEvent(eventType=state, eventTime="2026-01-01T00:00:00Z", run=run, job=Job("airflow", "nightly")))
"""


def run_client(config: dict[str, object], directory: Path) -> subprocess.CompletedProcess[str]:
    file = directory / "openlineage.yml"
    file.write_text(yaml.safe_dump({"transport": config}))
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "OPENLINEAGE_CONFIG": str(file)},
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_client_is_configured_by_yaml(settings: Settings, tmp_path: Path) -> None:
    done = run_client(
        {
            "type": "lineproof.producers.transports.openlineage.LineproofTransport",
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


def test_missing_options_are_named(tmp_path: Path) -> None:
    kind = "lineproof.producers.transports.openlineage.LineproofTransport"
    broker = {"bootstrap.servers": "127.0.0.1:9"}
    for config, missing in (
        ({"type": kind, "spool": "s"}, "transport.config.bootstrap.servers is not set"),
        ({"type": kind, "config": broker}, "transport.spool is not set"),
        ({"type": kind, "config": broker, "spool": "s", "topick": "t"}, "transport.topick is unknown"),
    ):
        assert missing in run_client(config, tmp_path).stderr  # type: ignore[arg-type]
