"""The twelve reference pipelines (R34): real work on sample data, and lineage that can be trusted."""

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from lineproof.local.pipelines import run as run_by_settings
from lineproof.producers.chain import Chain
from lineproof.producers.emitter import Emitter
from lineproof.producers.pipelines import database
from lineproof.producers.pipelines.catalog import UnusableCatalog, catalog, parse_catalog
from lineproof.producers.pipelines.faults import Fault
from lineproof.producers.pipelines.platform import Platform
from lineproof.producers.pipelines.runner import PIPELINES, Outcome, UnknownPipeline, run_pipelines
from lineproof.producers.pipelines.sample import MAIL_DOMAIN
from lineproof.schemas import certificates
from lineproof.schemas.facets import FacetRegistry
from lineproof.schemas.openlineage import parse
from lineproof.settings import Settings
from tests.transport import Memory

DATABASE = "teei.postgres.public"
SPOILS_RECORDS = {Fault.BAD_RECORDS, Fault.BAD_LINES}
EXPECTED = {
    "benevity-sync": ("benevity.api/volunteer_hours", "buddy_events"),
    "goodera-sync": ("goodera.api/volunteering_events", "buddy_events"),
    "workday-sync": ("workday.api/worker_events", "buddy_system_events"),
    "feedback-ingestion": ("file/inbox", "buddy_feedback"),
    "q2q-transformation": ("buddy_feedback example-ai/outcome-scorer-1", "outcome_scores"),
    "q2q-evidence-extraction": ("buddy_feedback example-ai/evidence-extractor-1", "evidence_snippets"),
    "sroi-calculation": ("buddy_system_events sroi_valuation_weights", "sroi_calculations metric_lineage"),
    "vis-calculation": ("buddy_events outcome_scores", "vis_scores metric_lineage"),
    "aggregation": ("buddy_events outcome_scores sroi_calculations vis_scores", "metrics_company_period"),
    "report-generation": (
        "metrics_company_period sroi_calculations evidence_snippets",
        "file/reports report_lineage",
    ),
    "pdf-export": ("file/reports", "file/pdf"),
    "scheduled-reports": ("metrics_company_period file/pdf", "report_deliveries"),
}
"""What each pipeline reads and writes; a name alone is a table."""


class World:
    """A work directory, and all events that were emitted from it, in strict mode."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "work"
        self.memory = Memory()
        self.api_key = ""
        self.chain = Chain(directory / "certificates.jsonl")
        self.emitter = Emitter(self.memory, "impact", chain=self.chain, strict=True)

    def run(self, *names: str, **options: Any) -> list[Outcome]:
        return run_pipelines(names or list(PIPELINES), self.emitter, self.directory, report=lambda _: None, **options)

    def events(self, name: str, kind: str) -> list[dict[str, Any]]:
        return [
            document
            for document in self.memory.documents
            if document["job"]["name"] == name and document["eventType"] == kind
        ]

    def completed(self, name: str) -> dict[str, Any]:
        """The first COMPLETE of a pipeline."""
        return self.events(name, "COMPLETE")[0]

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.directory / "platform.sqlite")) as connection:
            return list(connection.execute(sql))

    def contents(self) -> dict[str, Any]:
        """All that is stored: every row of every table, every file."""
        names = [name for (name,) in self.query("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows: dict[str, Any] = {name: sorted(self.query(f"SELECT * FROM {name}")) for name in names}
        documents = [file for folder in ("reports", "pdf") for file in (self.directory / folder).iterdir()]
        return {**rows, **{str(file): file.read_bytes() for file in documents}}


@pytest.fixture(scope="module", autouse=True)
def _impatience() -> Iterator[None]:
    """Nobody gives a lock back in these tests, so nobody need wait for one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "LOCK_TIMEOUT_S", 0.0)
        yield


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world in which all pipelines have run once. Not to be changed."""
    world = World(tmp_path_factory.mktemp("finished"))
    assert [outcome.state for outcome in world.run()] == ["COMPLETE"] * 12
    return world


@pytest.fixture(scope="module")
def unlucky(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world in which every fault of every pipeline has struck. Not to be changed."""
    world = World(tmp_path_factory.mktemp("unlucky"))
    world.run()
    with Platform(world.directory, world.emitter) as platform:
        for name, fault in FAULTS:
            strike(platform, name, fault)
        world.api_key = platform.apis.key
    return world


FAULTS = [(name, fault) for name, pipeline in PIPELINES.items() for fault in pipeline.faults]


def strike(platform: Platform, name: str, fault: Fault) -> BaseException | None:
    """Run a pipeline while something is wrong; return what it raised."""
    with fault.strike(platform):
        try:
            PIPELINES[name].work(platform)
        except Exception as error:
            return error
    return None


def datasets(document: dict[str, Any], side: str) -> set[str]:
    """The inputs or outputs of an event, as `EXPECTED` has them."""
    return {
        one["name"] if one["namespace"] == DATABASE else f"{one['namespace']}/{one['name'].rpartition('/')[2]}"
        for one in document[side]
    }


def facets(documents: list[dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every facet: whose it is, its key, and itself."""
    for document in documents:
        parts = [("run", document["run"]["facets"]), ("job", document["job"]["facets"])]
        for side, role in (("inputs", "input"), ("outputs", "output")):
            for one in document[side]:
                parts += [("dataset", one["facets"]), (role, one.get(f"{role}Facets", {}))]
        for entity, by_key in parts:
            for key, facet in by_key.items():
                yield entity, key, facet


def test_the_list_of_critical_pipelines_and_the_code_agree() -> None:
    assert [listed.name for listed in catalog()] == list(PIPELINES) == list(EXPECTED)
    assert {listed.service for listed in catalog()} == {"impact-in", "q2q-ai", "analytics", "reporting"}


@pytest.mark.parametrize("kind", ["finished", "unlucky"])
def test_every_event_of_every_pipeline_is_valid_openlineage_with_valid_facets(
    kind: str, request: pytest.FixtureRequest
) -> None:
    """R11: the check that proves every producer's events valid; also of runs that fail."""
    world: World = request.getfixturevalue(kind)
    registry = FacetRegistry.standard()
    for envelope in world.memory.envelopes:
        parse(envelope.payload)
    for document in world.memory.documents:
        assert registry.problems(document) == []
    for entity, key, facet in facets(world.memory.documents):
        assert facet["_schemaURL"] == registry.schema_url(entity, key), "so that it was held to its schema"
    assert world.emitter.stats.refused == 0


@pytest.mark.parametrize("name", EXPECTED)
def test_a_pipeline_alone_in_an_empty_directory_does_its_work(name: str, world: World) -> None:
    (outcome,) = world.run(name)
    inputs, outputs = EXPECTED[name]
    own = [event for event in world.memory.documents if event["run"]["runId"] == outcome.run_id]
    assert (outcome.name, outcome.state, outcome.error) == (name, "COMPLETE", None)
    assert outcome.records > 0
    assert (own[0]["eventType"], own[-1]["eventType"]) == ("START", "COMPLETE")
    assert datasets(own[0], "inputs") == datasets(own[-1], "inputs") == set(inputs.split())
    assert datasets(own[-1], "outputs") == set(outputs.split())
    assert all(one["outputFacets"]["outputStatistics"]["rowCount"] > 0 for one in own[-1]["outputs"])


def test_row_counts_are_those_of_the_tables(finished: World) -> None:
    written: dict[str, int] = {}
    for name in EXPECTED:
        for one in finished.completed(name)["outputs"]:
            if one["namespace"] == DATABASE:
                rows = one["outputFacets"]["outputStatistics"]["rowCount"]
                written[one["name"]] = written.get(one["name"], 0) + rows
    assert written == {table: finished.query(f"SELECT count(*) FROM {table}")[0][0] for table in written}


def test_ledgers_balance_and_what_is_left_out_is_counted(finished: World) -> None:
    """R20."""
    ledgers = {name: finished.completed(name)["run"]["facets"]["cdme_accountingLedger"] for name in EXPECTED}
    assert all(ledger["balanced"] for ledger in ledgers.values())
    for name in ("benevity-sync", "goodera-sync", "workday-sync", "q2q-transformation", "sroi-calculation"):
        assert ledgers[name]["filteredCount"] > 0
    (sroi,) = finished.query(
        "SELECT count(*), count(w.event_type) FROM buddy_system_events e LEFT JOIN sroi_valuation_weights w "
        "ON w.event_type = e.event_type"
    )
    assert sroi == (ledgers["sroi-calculation"]["inputRecordCount"], ledgers["sroi-calculation"]["processedCount"])


def test_certificates_are_one_chain_that_holds(finished: World) -> None:
    """R21."""
    chain = finished.chain.certificates()
    ends = [event for event in finished.memory.documents if event["eventType"] == "COMPLETE"]
    sent = {event["run"]["facets"]["cdme_fidelityCertificate"]["chainHash"] for event in ends}
    assert certificates.verify(chain) is None
    assert {certificate.chain_hash for certificate in chain} == sent
    assert len(chain) == len(ends) == 14
    assert all(certificate.invariants and all(certificate.invariants.values()) for certificate in chain)


def test_a_rerun_changes_nothing_but_the_runs(world: World) -> None:
    world.run()
    before = world.contents()
    world.run()
    first, second = world.chain.certificates()[:14], world.chain.certificates()[14:]
    assert world.contents() == before
    assert [one.target_state_hash for one in first] == [one.target_state_hash for one in second]
    assert [one.source_state_hash for one in first] == [one.source_state_hash for one in second]


def test_evidence_leads_back_to_what_participants_wrote(finished: World) -> None:
    (evidence,) = finished.completed("q2q-evidence-extraction")["outputs"]
    sources = {
        column: {(one["name"], one["field"]) for one in lineage["inputFields"]}
        for column, lineage in evidence["facets"]["columnLineage"]["fields"].items()
    }
    assert ("buddy_feedback", "feedback_text") in sources["snippet_text"]
    assert ("buddy_feedback", "sentiment") in sources["confidence_score"]
    keys = {one["outputKey"]: one["inputKeys"] for one in evidence["facets"]["cdme_adjointMetadata"]["keyEnvelopes"]}
    assert keys == {snippet: [feedback] for snippet, feedback in finished.query(
        "SELECT snippet_id, feedback_id FROM evidence_snippets"
    )}  # fmt: skip


def test_column_lineage_names_columns_that_are_there(finished: World) -> None:
    ends = [event for event in finished.memory.documents if event["eventType"] == "COMPLETE"]
    for event in ends:
        columns = {(one["namespace"], one["name"]): _field_names(one["facets"]["schema"]) for one in event["inputs"]}
        for output in event["outputs"]:
            lineage = output["facets"]["columnLineage"]["fields"]
            assert set(lineage) <= _field_names(output["facets"]["schema"])
            for source in (source for column in lineage.values() for source in column["inputFields"]):
                assert source["field"] in columns[source["namespace"], source["name"]]


def _field_names(schema: dict[str, Any], prefix: str = "") -> set[str]:
    names = set()
    for field in schema["fields"]:
        names |= {prefix + field["name"]} | _field_names({"fields": field.get("fields", [])}, f"{field['name']}.")
    return names


def test_sroi_is_traceable_to_workday(finished: World) -> None:
    """The metric, through `buddy_system_events`, to where its data came from."""
    made_of: dict[str, set[str]] = {}
    for event in finished.memory.documents:
        for output in datasets(event, "outputs"):
            made_of.setdefault(output, set()).update(datasets(event, "inputs"))
    found, open_ends = set(), {"sroi_calculations"}
    while open_ends:
        found |= open_ends
        open_ends = {source for name in open_ends for source in made_of.get(name, ())} - found
    assert found == {"sroi_calculations", "sroi_valuation_weights", "buddy_system_events", "workday.api/worker_events"}


def test_the_value_of_a_metric_is_that_of_the_table(finished: World) -> None:
    sroi = next(one for one in finished.completed("sroi-calculation")["outputs"] if one["name"] == "sroi_calculations")[
        "outputFacets"
    ]["lineproof_metricValue"]
    ((value,),) = finished.query("SELECT sum(social_value) / sum(investment) FROM sroi_calculations")
    assert (sroi["metric"], sroi["value"]) == ("sroi", pytest.approx(value, abs=0.0001))


def test_scheduled_reports_are_the_parent_of_two_runs(finished: World) -> None:
    (start,) = finished.events("scheduled-reports", "START")
    for name in ("report-generation", "pdf-export"):
        alone, nested = finished.events(name, "START")
        parent = nested["run"]["facets"]["parent"]
        for one in (parent, parent["root"]):
            assert one["run"]["runId"] == start["run"]["runId"]
            assert (one["job"]["namespace"], one["job"]["name"]) == ("impact", "scheduled-reports")
        assert "parent" not in alone["run"]["facets"]


def test_steps_that_are_measured_or_traced_are_steps_of_the_job(finished: World) -> None:
    for name in EXPECTED:
        event = finished.completed(name)
        declared = {step["name"] for step in event["job"]["facets"]["cdme_morphism"]["path"]}
        measured = {step["name"] for step in event["run"]["facets"]["cdme_telemetry"]["morphisms"]}
        traced = {step for path in event["run"]["facets"]["cdme_morphismTrace"]["paths"].values() for step in path}
        assert measured
        assert measured | traced <= declared


def test_every_facet_of_ours_is_used(finished: World) -> None:
    """R18, R19: all that have a schema here."""
    schemas = [json.loads(file.read_text()) for file in files("lineproof.schemas").joinpath("facet_schemas").iterdir()]
    ours = {key for schema in schemas for key in schema["properties"] if key.startswith(("cdme_", "lineproof_"))}
    used = {(entity, key) for entity, key, _ in facets(finished.memory.documents)}
    assert len(ours) >= 22
    assert ours <= {key for _, key in used}
    assert {("job", "jobType"), ("job", "ownership"), ("dataset", "ownership"), ("job", "documentation")} <= used


def test_reports_are_pdf_files_that_open(finished: World) -> None:
    pages = list((finished.directory / "pdf").iterdir())
    assert len(pages) == finished.query("SELECT count(*) FROM metrics_company_period")[0][0]
    for page in pages:
        content = page.read_bytes()
        assert content.startswith(b"%PDF-1.4")
        assert content.endswith(b"%%EOF\n")
        table = int(content.split()[-2])
        offsets = [int(line[:10]) for line in content[table:].splitlines() if line.endswith(b" n ")]
        assert [content[offset:].split()[0] for offset in offsets] == [b"1", b"2", b"3", b"4", b"5"]


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_a_fault_in_the_world_fails_the_run_or_spoils_records_and_passes(
    name: str, fault: Fault, finished: World, tmp_path: Path
) -> None:
    memory = Memory()
    emitter = Emitter(memory, "impact", chain=Chain(tmp_path / "chain"), strict=True)
    before = finished.contents()
    with Platform(finished.directory, emitter) as platform:
        error = strike(platform, name, fault)
        last = memory.documents[-1]
        PIPELINES[name].work(platform)
    assert memory.types[-1] == "COMPLETE", "the fault is over"
    assert finished.contents() == before
    if fault in SPOILS_RECORDS:
        assert (error, last["eventType"]) == (None, "COMPLETE")
        assert last["run"]["facets"]["cdme_accountingLedger"]["erroredCount"] > 0
    else:
        assert last["eventType"] == "FAIL"
        assert type(error).__name__ in last["run"]["facets"]["errorMessage"]["stackTrace"]


def test_no_key_and_no_address_ever_gets_out(unlucky: World) -> None:
    """R17: the errors of external systems repeat both."""
    payloads = b"\n".join(envelope.payload for envelope in unlucky.memory.envelopes)
    assert b"X-Api-Key: [secret]" in payloads
    assert b"[email]" in payloads
    assert unlucky.api_key
    assert unlucky.api_key.encode() not in payloads
    assert MAIL_DOMAIN.encode() not in payloads
    assert not re.search(rb"[\w.]+@[\w-]+\.\w+", payloads)


def test_one_that_fails_stops_no_other(world: World) -> None:
    outcomes = world.run(fail_rate=1.0, seed=3)
    assert [outcome.name for outcome in outcomes] == list(PIPELINES)
    assert {outcome.state for outcome in outcomes if outcome.error is not None} == {"FAIL"}
    assert sum(outcome.state == "FAIL" for outcome in outcomes) >= 8
    assert not any(MAIL_DOMAIN in str(outcome.error) for outcome in outcomes)
    assert len(world.events("scheduled-reports", "FAIL")) == 1


def test_the_same_seed_gives_the_same_faults(world: World) -> None:
    names = ("sroi-calculation", "vis-calculation", "pdf-export")
    first, second, other = (
        [one.state for one in world.run(*names, repeat=3, fail_rate=0.5, seed=s)] for s in (1, 1, 2)
    )
    assert first == second != other
    assert {"COMPLETE", "FAIL"} == set(first)


def test_ctrl_c_aborts_the_run_and_stops_the_server(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    monkeypatch.setattr(Platform, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        world.run("benevity-sync", "goodera-sync")
    assert world.memory.types == ["START", "RUNNING", "ABORT"]
    assert threading.active_count() == before


def test_an_unknown_name_is_refused_before_anything_runs(world: World) -> None:
    with pytest.raises(UnknownPipeline, match="Did you mean sroi-calculation") as refusal:
        world.run("benevity-sync", "sroi-calculatoin")
    assert refusal.value.exit_code == 2
    assert world.memory.envelopes == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: text.replace("pipelines:", "pipes:"), "no list"),
        (lambda text: text.replace("goodera-sync", "benevity-sync"), "listed twice"),
        (lambda text: text.replace("owner: team-analytics", "owner: 7", 1), "sroi-calculation.* no owner"),
        (lambda text: text.replace("freshness_minutes: 360", "freshness_minutes: soon", 1), "no freshness_minutes"),
        (lambda text: text.replace("freshness_minutes: 360", "freshness_minutes: 0", 1), "no freshness_minutes"),
        (lambda text: text.replace("service: impact-in", "servcie: impact-in", 1), "unknown member servcie"),
        (lambda text: text.replace("https://", "ftp://"), "https"),
        (lambda _: "pipelines: [x]", "no mapping"),
        (lambda _: "{", "not YAML"),
    ],
)
def test_a_wrong_list_is_refused_by_name(change: Callable[[str], str], problem: str) -> None:
    text = files("lineproof.conf").joinpath("pipelines.yaml").read_text()
    with pytest.raises(UnusableCatalog, match=problem):
        parse_catalog(change(text))


def test_settings_say_where_the_events_go(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, emitter={"transports": ["file"], "strict": True})
    outcomes = run_by_settings(["all"], settings)
    documents = [json.loads(line) for line in settings.events_path.read_text().splitlines()]
    assert {document["job"]["namespace"] for document in documents} == {"impact-platform"}
    assert {outcome.run_id for outcome in outcomes} <= {document["run"]["runId"] for document in documents}
