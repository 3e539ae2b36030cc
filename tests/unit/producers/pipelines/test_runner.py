"""Running pipelines by name, with the emitter of the settings."""

import json
from pathlib import Path

import pytest

from lineproof.local.pipelines import run as run_by_settings
from lineproof.producers.pipelines.runner import UnknownPipeline
from lineproof.settings import Settings
from tests.unit.producers.pipelines.world import (
    World,
)


def test_an_unknown_name_raises_before_anything_runs(world: World) -> None:
    with pytest.raises(UnknownPipeline, match="Did you mean sroi-calculation") as refusal:
        world.run("benevity-sync", "sroi-calculatoin")
    assert refusal.value.exit_code == 2
    assert world.memory.envelopes == []


def test_events_go_to_the_transport_of_the_settings(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, emitter={"transports": ["file"], "strict": True})
    results = run_by_settings(["all"], settings)
    documents = [json.loads(line) for line in settings.events_path.read_text().splitlines()]
    assert {document["job"]["namespace"] for document in documents} == {"impact-platform"}
    assert {result.run_id for result in results} <= {document["run"]["runId"] for document in documents}
