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
    """Every producer's events are valid, those of failed runs included."""
    world: World = request.getfixturevalue(kind)
    registry = FacetRegistry.standard()
    for envelope in world.memory.envelopes:
        parse(envelope.payload)
    for document in world.memory.documents:
        assert registry.problems(document) == []
    for entity, key, facet in facets(world.memory.documents):
        assert facet["_schemaURL"] == registry.schema_url(entity, key), "it was validated by its schema"
    assert world.emitter.stats.refused == 0


@pytest.mark.parametrize("name", EXPECTED)
def test_each_pipeline_runs_alone_in_an_empty_directory(name: str, world: World) -> None:
    (result,) = world.run(name)
    inputs, outputs = EXPECTED[name]
    own = [event for event in world.memory.documents if event["run"]["runId"] == result.run_id]
    assert (result.name, result.state, result.error) == (name, "COMPLETE", None)
    assert result.records > 0
    assert (own[0]["eventType"], own[-1]["eventType"]) == ("START", "COMPLETE")
    assert datasets(own[0], "inputs") == datasets(own[-1], "inputs") == set(inputs.split())
    assert datasets(own[-1], "outputs") == set(outputs.split())
    assert all(dataset["outputFacets"]["outputStatistics"]["rowCount"] > 0 for dataset in own[-1]["outputs"])


def test_row_counts_equal_those_of_the_tables(finished: World) -> None:
    written: dict[str, int] = {}
    for name in EXPECTED:
        for dataset in finished.completed(name)["outputs"]:
            if dataset["namespace"] == DATABASE:
                rows = dataset["outputFacets"]["outputStatistics"]["rowCount"]
                written[dataset["name"]] = written.get(dataset["name"], 0) + rows
    assert written == {table: finished.query(f"SELECT count(*) FROM {table}")[0][0] for table in written}


def test_ledgers_balance_and_count_filtered_records(finished: World) -> None:
    ledgers = {name: finished.completed(name)["run"]["facets"]["cdme_accountingLedger"] for name in EXPECTED}
    assert all(ledger["balanced"] for ledger in ledgers.values())
    for name in ("benevity-sync", "goodera-sync", "workday-sync", "q2q-transformation", "sroi-calculation"):
        assert ledgers[name]["filteredCount"] > 0
    (sroi,) = finished.query(
        "SELECT count(*), count(w.event_type) FROM buddy_system_events e LEFT JOIN sroi_valuation_weights w "
        "ON w.event_type = e.event_type"
    )
    assert sroi == (ledgers["sroi-calculation"]["inputRecordCount"], ledgers["sroi-calculation"]["processedCount"])


def test_certificates_form_one_valid_chain(finished: World) -> None:
    chain = finished.chain.certificates()
    ends = [event for event in finished.memory.documents if event["eventType"] == "COMPLETE"]
    sent = {event["run"]["facets"]["cdme_fidelityCertificate"]["chainHash"] for event in ends}
    assert certificates.verify(chain) is None
    assert {certificate.chain_hash for certificate in chain} == sent
    assert len(chain) == len(ends) == 14
    assert all(certificate.invariants and all(certificate.invariants.values()) for certificate in chain)


def test_a_rerun_writes_the_same_data(world: World) -> None:
    world.run()
    before = world.contents()
    world.run()
    first, second = world.chain.certificates()[:14], world.chain.certificates()[14:]
    assert world.contents() == before
    assert [certificate.target_state_hash for certificate in first] == [
        certificate.target_state_hash for certificate in second
    ]
    assert [certificate.source_state_hash for certificate in first] == [
        certificate.source_state_hash for certificate in second
    ]


def test_measured_and_traced_steps_are_declared_by_the_job(finished: World) -> None:
    for name in EXPECTED:
        event = finished.completed(name)
        declared = {step["name"] for step in event["job"]["facets"]["cdme_morphism"]["path"]}
        measured = {step["name"] for step in event["run"]["facets"]["cdme_telemetry"]["morphisms"]}
        traced = {step for path in event["run"]["facets"]["cdme_morphismTrace"]["paths"].values() for step in path}
        assert measured
        assert measured | traced <= declared


def test_every_lineproof_facet_is_used(finished: World) -> None:
    """Every facet with a schema in schemas/facet_schemas."""
    schemas = [json.loads(file.read_text()) for file in files("lineproof.schemas").joinpath("facet_schemas").iterdir()]
    ours = {key for schema in schemas for key in schema["properties"] if key.startswith(("cdme_", "lineproof_"))}
    used = {(entity, key) for entity, key, _ in facets(finished.memory.documents)}
    assert len(ours) >= 22
    assert ours <= {key for _, key in used}
    assert {("job", "jobType"), ("job", "ownership"), ("dataset", "ownership"), ("job", "documentation")} <= used


def test_reports_are_valid_pdf_files(finished: World) -> None:
    pages = list((finished.directory / "pdf").iterdir())
    assert len(pages) == finished.query("SELECT count(*) FROM metrics_company_period")[0][0]
    for page in pages:
        content = page.read_bytes()
        assert content.startswith(b"%PDF-1.4")
        assert content.endswith(b"%%EOF\n")
        table = int(content.split()[-2])
        offsets = [int(line[:10]) for line in content[table:].splitlines() if line.endswith(b" n ")]
        assert [content[offset:].split()[0] for offset in offsets] == [b"1", b"2", b"3", b"4", b"5"]
