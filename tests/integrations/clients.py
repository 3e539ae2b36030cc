"""What the tests of clients share: the configuration on the pages in `docs/clients`, and a process that uses it."""

import os
import re
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.tools import replayed

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "clients"
URL = "http://localhost:5000"
"""The address of the gateway on the pages."""


def blocks(page: str, section: str, language: str) -> list[str]:
    """The code blocks of a language in a section of a page."""
    page_text = (PAGES / f"{page}.md").read_text()
    [text] = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", page_text, re.MULTILINE | re.DOTALL)
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def filled_in(block: str, values: Mapping[str, str]) -> str:
    """A block of a page with the addresses, the topic and the folders of the test instead of those that it names."""
    for example, value in values.items():
        assert example in block
        block = block.replace(example, value)
    return block


def new_topic(bootstrap_servers: str) -> str:
    """Create a topic, and return its name."""
    name = f"events-{uuid.uuid4().hex[:8]}"
    KafkaCluster({"bootstrap.servers": bootstrap_servers}).create_topics([name], 2, 1)
    return name


def run_client(command: Sequence[str | Path], directory: Path, environment: Mapping[str, str]) -> str:
    """Run a client until it ends, and return what it printed."""
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def run_script(script: str, directory: Path, **environment: str) -> str:
    """Run commands of a page in bash, and return what they printed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return run_client(["bash", "-euo", "pipefail", "-c", script], directory, {**inherited, **environment})


def values_in_topic(settings: Settings) -> list[bytes]:
    """The values of all records of the topic."""
    return [message.value() for message in replayed(settings, settings.topics.events)]


def with_topic(settings: Settings, topic: str, **others: Any) -> Settings:
    """The settings of a test, for another topic."""
    return settings.model_copy(update={"topics": settings.topics.model_copy(update={"events": topic}), **others})


def assert_all_used(tables: Tables, events: int) -> None:
    """There are so many records, each of them a different event, and no dead letter."""
    counted = tables.query("SELECT count(*), count(DISTINCT event_id), count(reason) FROM records")
    assert counted.rows == [(events, events, 0)]
    assert tables.query("SELECT * FROM dead_letters").rows == []
