"""The real server in its own process, for tests."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineproof.local.server_process import RunningServer as Registered
from lineproof.schemas.envelope import Envelope, decode
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.tools import consumed, lineproof
from tests.events import payload

START_S = 60
STOP_S = 60


@dataclass(frozen=True)
class RunningServer:
    """A server that answers."""

    url: str
    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        host, _, port = self.url.rpartition("/")[2].rpartition(":")
        return host, int(port)

    @property
    def peak_rss(self) -> int:
        """The most memory that the process has had so far, in bytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        (line,) = [line for line in lines if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024

    def requests(self) -> list[dict[str, Any]]:
        """The access log."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def stop(self) -> int:
        """Stop it with SIGTERM; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_S)


@contextmanager
def server(settings: Settings, *options: str, **environment: str) -> Iterator[RunningServer]:
    """`lineproof serve` on a free port, until the end of the test."""
    settings.home.mkdir(parents=True, exist_ok=True)
    log, errors = settings.home / "serve.out", settings.home / "serve.err"
    chosen = {
        "home": settings.home,
        "topics.events": settings.topics.events,
        "kafka.bootstrap.servers": settings.kafka["bootstrap.servers"],
    }
    with log.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "lineproof", "serve", "--port", "0"),
                *(f"--set={name}={value}" for name, value in chosen.items()),
                *options,
            ],
            stdout=out,
            stderr=err,
            env={**os.environ, **environment},
        )
    try:
        deadline = time.monotonic() + START_S
        while (found := Registered.of(settings.home)) is None or found.pid != process.pid:
            assert process.poll() is None, errors.read_text()
            assert time.monotonic() < deadline, errors.read_text()
            time.sleep(0.05)
        yield RunningServer(found.url, process, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    assert "Traceback" not in errors.read_text(), errors.read_text()


def payloads(settings: Settings, count: int) -> list[bytes]:
    """The events on the topic, as bytes."""
    opened = [decode(message.value()) for message in consumed(settings, settings.topics.events, count)]
    return [one.payload if isinstance(one, Envelope) else one for one in opened]


def size(settings: Settings) -> int:
    """How many records the topic has."""
    return sum(end for _, end in KafkaCluster(settings.kafka).offsets(settings.topics.events).values())


def number(at: int, **changes: Any) -> bytes:
    """An event that differs from the others."""
    return payload(job={"namespace": "tests", "name": f"job-{at}"}, **changes)


def add_key(settings: Settings, *options: str) -> str:
    """Make a key with the command, and return it."""
    added = lineproof("keys", "add", *options, f"--set=home={settings.home}")
    assert added.returncode == 0, added.stderr
    return added.stdout.strip()
