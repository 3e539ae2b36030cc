"""The list of critical pipelines, and the commands that use it."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from lineproof.cli.main import app
from lineproof.local.installation import UnusablePipelines, critical_pipelines, installation_of
from lineproof.serving.answers.installation import CriticalPipeline
from lineproof.settings import load
from tests.heartbeat import beat
from tests.streaming.story import story
from tests.tables import tables_of

ROOT = Path(__file__).parents[3]


def test_the_list_of_the_reference_pipelines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    found = installation_of(load())
    assert found.pipelines is not None
    assert len(found.pipelines) == 12
    assert found.pipelines[0] == CriticalPipeline("impact-platform", "benevity-sync", 21_600, 21_600)
    monkeypatch.chdir(tmp_path)
    assert installation_of(load()).pipelines is None, "there is no such file here"


def test_limits_by_pattern_keep_their_order() -> None:
    installation = installation_of(load(overrides=["freshness.limits.a/*=24h", "freshness.limits.*=90m"]))
    assert installation.limits == (("a/*", 86_400.0), ("*", 5400.0))


def listed(directory: Path, document: Any) -> tuple[CriticalPipeline, ...] | None:
    file = directory / "list.yaml"
    file.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return critical_pipelines(str(file))


def test_an_entry_has_its_own_namespace_and_period(tmp_path: Path) -> None:
    entries = [{"name": "a"}, {"name": "b", "namespace": "y", "period": "7d", "freshness_minutes": 30, "owner": "me"}]
    found = listed(tmp_path, {"namespace": "x", "pipelines": entries})
    assert found == (CriticalPipeline("x", "a", 86_400, None), CriticalPipeline("y", "b", 604_800, 1800))
    assert listed(tmp_path, {"pipelines": []}) == ()
    assert critical_pipelines("") is None


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ("[", "not YAML"),
        ("", "no list"),
        ({"pipelines": ["a"]}, "entry 1 is not a mapping"),
        ({"pipelines": [{"name": "a"}]}, "namespace"),
        ({"pipelines": [{"namespace": "a"}]}, "without a name"),
        ({"namespace": "x", "pipelines": [{"name": "a"}, {"name": "a"}]}, "x/a is listed twice"),
        ({"namespace": "x", "pipelines": [{"name": "a", "period": "daily"}]}, "period"),
        ({"namespace": "x", "pipelines": [{"name": "a", "freshness_minutes": 0}]}, "freshness_minutes"),
        ({"namespace": "x", "pipelines": [{"name": "a", "freshness_minutes": float("inf")}]}, "freshness_minutes"),
        ({"namespace": "x", "pipelines": [{"name": "a", "freshness_minutes": True}]}, "freshness_minutes"),
    ],
)
def test_a_list_that_is_not_valid_is_refused(tmp_path: Path, document: Any, problem: str) -> None:
    with pytest.raises(UnusablePipelines, match=problem):
        listed(tmp_path, document)


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnusablePipelines, match="cannot be read"):
        critical_pipelines("no/such/file.yaml")


def invoke(directory: Path, *arguments: str) -> Result:
    """Run a command on the tables of the story, which are older than every period and limit."""
    places = [f"--set=tables={directory / 'tables'}", f"--set=checkpoints={beat(directory / 'checkpoints')}"]
    return CliRunner().invoke(app, [*arguments, *places])


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    tables_of(tmp_path / "tables", story())
    return tmp_path


def test_coverage_below_the_target_has_exit_code_3(tables: Path) -> None:
    entries = [{"name": "load", "period": "100000d"}, {"name": "report", "period": "1h"}]
    listed(tables, {"namespace": "world", "pipelines": entries})
    option = f"--set=coverage.pipelines={tables / 'list.yaml'}"
    assert invoke(tables, "coverage", option).exit_code == 0
    assert invoke(tables, "coverage", option, "--fail-under", "50").exit_code == 0
    failed = invoke(tables, "coverage", option, "--fail-under", "50.1", "-o", "json")
    assert failed.exit_code == 3
    first, *others = json.loads(failed.stdout)
    assert (first["covered"], first["of"], first["percent"]) == (1, 2, 50.0)
    assert [(one["name"], one["missing_since"]) for one in first["missing"]] == [("report", "2026-01-31T11:05:00Z")]
    assert len(others) == 9
    assert "Not seen: world/report (since 2026-01-31 11:05 UTC)" in failed.stderr


def test_coverage_of_an_unknown_whole_fails(tables: Path) -> None:
    assert invoke(tables, "coverage", "--set=coverage.pipelines=").exit_code == 0
    assert invoke(tables, "coverage", "--set=coverage.pipelines=", "--fail-under", "0").exit_code == 3


def test_late_datasets_have_exit_code_3_if_asked(tables: Path) -> None:
    assert invoke(tables, "freshness", "--fail-late").exit_code == 0
    limits = "--set=freshness.limits.world/report=1h"
    assert invoke(tables, "freshness", limits).exit_code == 0
    failed = invoke(tables, "freshness", limits, "--fail-late", "-o", "json")
    assert failed.exit_code == 3
    found = json.loads(failed.stdout)
    assert [(one["name"], one["verdict"]) for one in found] == [
        ("report", "late"),
        ("clean", "unknown"),
        ("orders", "unknown"),
    ]
    assert found[0]["effective"]["of"] == {"namespace": "world", "name": "orders"}
    table = invoke(tables, "freshness", limits)
    assert "freshness.limits: world/report" in table.stdout
    assert "1 late, 0 fresh, 2 unknown" in table.stderr
