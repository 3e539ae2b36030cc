"""Runs the code blocks of docs/openlineage_guide.md."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from lineproof.schemas.facets import FacetRegistry
from lineproof.schemas.openlineage import parse

GUIDE = (Path(__file__).parents[3] / "docs" / "openlineage_guide.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The events of the guide's code, with the file transport instead of Kafka."""
    monkeypatch.chdir(tmp_path)
    settings: dict[str, Any] = {}
    for block in blocks("yaml"):
        if block.startswith("# lineproof.yaml"):
            settings |= yaml.safe_load(block)
    settings["emitter"]["transports"] = ["file"]
    Path("lineproof.yaml").write_text(yaml.safe_dump(settings))
    [schema] = blocks("json")
    Path("conf").mkdir()
    Path("conf/acme-deployment.json").write_text(schema)
    namespace: dict[str, Any] = {}
    for block in blocks("python"):
        exec(compile(block, "docs/openlineage_guide.md", "exec"), namespace)
    assert namespace["emitter"].stats.refused == 0
    return [json.loads(line) for line in Path(".lineproof/events.jsonl").read_text().splitlines()]


def test_the_code_runs_and_its_events_are_valid(written: list[dict[str, Any]], tmp_path: Path) -> None:
    user_facets = {"run": {"acme_deployment": tmp_path / "conf" / "acme-deployment.json"}}
    registry = FacetRegistry.standard().with_user_facets(user_facets)
    for event in written:
        parse(json.dumps(event).encode())
        assert registry.problems(event) == []
    assert len(written) > 20


def test_the_values_in_the_text_are_right(written: list[dict[str, Any]]) -> None:
    by_job = {event["job"]["name"]: event for event in written if "job" in event}
    error = by_job["workday-sync"]["run"]["facets"]["errorMessage"]["message"]
    claimed = re.search(r"the event says: (.*)$", GUIDE, re.MULTILINE)
    assert claimed
    assert error == f"ConnectionError: {claimed[1]}"
    assert by_job["deploy"]["run"]["facets"]["acme_deployment"]["commit"] == "4f2a9c1"
    assert by_job["leaking-sync"]["eventType"] == "FAIL"


def test_linked_headings_and_settings_exist() -> None:
    """Links to headings of the page, and names of settings."""
    headings = {re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^## (.*)$", GUIDE, re.M)}
    assert set(re.findall(r"\]\(#([^)]+)\)", GUIDE)) <= headings
    from lineproof.settings.sections import EmitterSettings

    for name in re.findall(r"`emitter\.(\w+)", GUIDE):
        assert name in EmitterSettings.model_fields
