"""The examples, run as they are: a service emits, the job runs, a subscriber is told, a notebook queries."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from lineproof.settings import Settings
from lineproof.streaming.spark_settings import AVRO_LIMITS
from tests.delivery import wait_for
from tests.end_to_end.subscribers import consuming, example_consumer, with_topics
from tests.end_to_end.tools import RunJob

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run_example(name: str, settings: Settings) -> str:
    """Run an example in another process, with the broker and the folders of the test; return what it prints."""
    environment = {
        **os.environ,
        "LINEPROOF_HOME": str(settings.home),
        "LINEPROOF_KAFKA_BOOTSTRAP_SERVERS": settings.kafka["bootstrap.servers"],
        "LINEPROOF_TOPICS_EVENTS": settings.topics.events,
    }
    example = subprocess.run(
        [sys.executable, EXAMPLES / name], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert example.returncode == 0, example.stderr
    return example.stdout


def test_emit_subscribe_query(settings: Settings, run_job: RunJob, tmp_path: Path) -> None:
    settings = with_topics(settings)
    emitted = run_example("emit.py", settings)
    run_id = emitted.split()[1].removesuffix(":")
    assert emitted == f"run {run_id}: COMPLETE, revenue 42, 2 events emitted\n"

    seen = tmp_path / "seen"
    with consuming(example_consumer(settings), seen):
        run_job(settings)
        wait_for(lambda: "\n" in seen.read_text())
    assert seen.read_text().split()[:2] == [run_id, "COMPLETED"]

    queried = run_example("query.py", settings)
    assert "COMPLETED" in queried
    assert "does not hold" not in queried
    assert queried.splitlines()[-1] == "shop.public.daily_revenue is made from orders"


def test_the_cluster_example_names_the_jars_and_limits_we_test_with() -> None:
    script = (EXAMPLES / "spark_submit.sh").read_text()
    dependencies = ElementTree.parse(ROOT / "conf" / "ivy.xml").iter("dependency")
    spark = {
        f"{dependency.get('org')}:{dependency.get('name')}:{dependency.get('rev')}"
        for dependency in dependencies
        if str(dependency.get("conf")).startswith("spark")
    }
    [packages] = [line.removeprefix("PACKAGES=") for line in script.splitlines() if line.startswith("PACKAGES=")]
    assert set(packages.split(",")) == spark
    assert f'AVRO_LIMITS="{AVRO_LIMITS}"' in script
    assert "streaming/main.py --config" in script
    assert (ROOT / "streaming" / "main.py").exists()


def test_the_index_lists_every_example() -> None:
    index = (EXAMPLES / "README.md").read_text()
    files = {file.name for file in EXAMPLES.iterdir() if file.suffix in (".py", ".sh")}
    assert files == {name for name in files if f"({name})" in index}
