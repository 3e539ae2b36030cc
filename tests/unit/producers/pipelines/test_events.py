"""The twelve reference pipelines: real work on sample data, and valid lineage."""

import json
from importlib.resources import files

import pytest

from lineproof.schemas import certificates
from lineproof.schemas.facets import FacetRegistry
from lineproof.schemas.openlineage import parse
from tests.unit.producers.pipelines.world import (
    DATABASE,
    EXPECTED,
    World,
    datasets,
    facets,
)


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
    (result,) = world.run(name)
    inputs, outputs = EXPECTED[name]
    own = [event for event in world.memory.documents if event["run"]["runId"] == result.run_id]
    assert (result.name, result.state, result.error) == (name, "COMPLETE", None)
    assert result.records > 0
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
