"""What tests of topics for subscribers need."""

import re
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
    """The settings with topics for subscribers, which are there."""
    name = settings.topics.events.removeprefix("events-")
    topics = {what: f"{what}-{name}" for what in ("runs", "violations", "quality")}
    changed = settings.model_copy(update={"topics": settings.topics.model_copy(update=topics)})
    prepare_topics(changed, create=True)
    return changed


def records(settings: Settings, topic: str, **more: Any) -> list[Any]:
    """All that is on a topic, decoded."""
    return [*tail(settings.kafka, topic, more.get("schema_ids", {}), last=None, follow=False)]


def settled(settings: Settings) -> list[tuple[Any, ...]]:
    """The runs that have an end, as SQL has them."""
    query = "SELECT run_id, state, duration_ms FROM runs WHERE ended_at IS NOT NULL"
    return sorted(Tables(settings.tables_path).query(query).rows)


def readme_consumer(settings: Settings) -> str:
    """The README's consumer, with the test's broker and topic in the place of its own."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    [code] = [str(block) for block in blocks if "confluent_kafka" in block]
    assert len([line for line in code.splitlines() if line]) <= 15
    names = {"localhost:9092": settings.kafka["bootstrap.servers"], "lineage.runs": settings.topics.runs}
    for name, of_test in names.items():
        assert name in code
        code = code.replace(name, of_test)
    return code


@contextmanager
def consuming(code: str, output: Path) -> Iterator[None]:
    """A consumer in another process, whose lines go to a file."""
    with output.open("w") as file:
        process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=file)
    try:
        yield
    finally:
        process.kill()
        process.wait()
