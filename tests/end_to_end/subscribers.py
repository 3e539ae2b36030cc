"""Helpers for tests of the topics for subscribers."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lineproof.local.job_topics import prepare_topics
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.topics.tail import tail

ROOT = Path(__file__).parents[2]


def with_topics(settings: Settings) -> Settings:
    """The settings with topics for subscribers, which are created."""
    name = settings.topics.events.removeprefix("events-")
    topics = {kind: f"{kind}-{name}" for kind in ("runs", "violations", "quality")}
    changed = settings.model_copy(update={"topics": settings.topics.model_copy(update=topics)})
    prepare_topics(changed, create=True)
    return changed


def records(settings: Settings, topic: str, **more: Any) -> list[Any]:
    """All records of a topic, decoded."""
    return [*tail(settings.kafka, topic, more.get("schema_ids", {}), last=None, follow=False)]


def ended_runs(settings: Settings) -> list[tuple[Any, ...]]:
    """The runs that have ended, read with SQL."""
    query = "SELECT run_id, state, duration_ms FROM runs WHERE ended_at IS NOT NULL"
    return sorted(Tables(settings.tables_path).query(query).rows)


def example_consumer(settings: Settings) -> str:
    """The code of examples/subscribe.py, with the broker and topic of the test."""
    code = (ROOT / "examples" / "subscribe.py").read_text()
    body = code.split('"""')[2].splitlines()
    assert len([line for line in body if line and not line.lstrip().startswith("#")]) <= 18
    names = {"localhost:9092": settings.kafka["bootstrap.servers"], "lineage.runs": settings.topics.runs}
    for name, test_name in names.items():
        assert name in code
        code = code.replace(name, test_name)
    return code


@contextmanager
def consuming(code: str, output: Path) -> Iterator[None]:
    """Run a consumer in another process, with its output in a file."""
    with output.open("w") as file:
        process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=file)
    try:
        yield
    finally:
        process.kill()
        process.wait()
