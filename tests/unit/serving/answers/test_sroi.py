"""The reference pipelines: how old the social return on investment is, and which pipelines are covered."""

from dataclasses import replace
from pathlib import Path

import pytest

from lineproof.local.installation import critical_pipelines
from lineproof.producers.emitter import Emitter
from lineproof.producers.pipelines.runner import PIPELINES, run_pipelines
from lineproof.serving.answers.coverage import coverage
from lineproof.serving.answers.freshness import DatasetFreshness, dataset_freshness
from lineproof.serving.answers.installation import Installation
from lineproof.serving.open_tables import OpenTables, TableSet
from tests.heartbeat import beat
from tests.tables import tables_of
from tests.transport import Memory

ROOT = Path(__file__).parents[4]
NAMESPACE = "teei.postgres.public"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> TableSet:
    """All twelve pipelines once, and then those of the metrics again: their sources are not loaded again."""
    directory, memory = tmp_path_factory.mktemp("pipelines"), Memory()
    emitter = Emitter(memory, "impact-platform")
    for names in (list(PIPELINES), ["sroi-calculation", "aggregation"]):
        run_pipelines(names, emitter, directory / "data", report=lambda _: None)
    emitter.close()
    values = [envelope.encode() for envelope in memory.envelopes]
    return OpenTables(str(tables_of(directory / "tables", values))).now()


@pytest.fixture
def up(tmp_path: Path) -> Installation:
    listed = critical_pipelines(str(ROOT / "conf" / "pipelines.yaml"))
    return Installation("1.0", beat(tmp_path), listed, "conf/pipelines.yaml")


def test_the_freshness_of_sroi_goes_back_to_the_events_of_the_buddy_system(tables: TableSet, up: Installation) -> None:
    def of(name: str) -> DatasetFreshness:
        return dataset_freshness(tables, up, (NAMESPACE, name))

    sroi, events = of("sroi_calculations"), of("buddy_system_events")
    assert (sroi.verdict, sroi.limit_s, sroi.limit_source) == ("fresh", 86_400, "declared")
    assert sroi.effective is not None
    assert events.loaded_at is not None
    assert sroi.loaded_at is not None
    assert (sroi.effective.of.name, sroi.effective.loaded_at) == ("buddy_system_events", events.loaded_at)
    assert sroi.effective.loaded_at < sroi.loaded_at
    assert [one.name for one in sroi.effective.sources] == ["sroi_valuation_weights", "worker_events"]
    assert sroi.effective.is_complete


def test_all_critical_pipelines_are_covered(tables: TableSet, up: Installation) -> None:
    found = coverage(tables, up)
    assert (found.seen, found.of, found.ratio) == (12, 12, 1.0)
    assert up.pipelines is not None
    renamed = replace(up, pipelines=(*up.pipelines[:-1], up.pipelines[-1]._replace(name="not there")))
    missing = coverage(tables, renamed).missing
    assert [(one.name, one.missing_since) for one in missing] == [("not there", None)]
