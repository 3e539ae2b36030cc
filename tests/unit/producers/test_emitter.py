"""Published events: identity, order, validity."""

import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import sql_job
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from lineproof.producers.emitter import PRODUCER, AmbiguousJob, Emitter
from lineproof.producers.event_sink import EventSink
from lineproof.producers.naming import InvalidName
from lineproof.schemas.envelope import event_id
from lineproof.schemas.facets import FacetRegistry
from lineproof.schemas.openlineage import InvalidEvent
from tests.events import payload
from tests.transport import Memory


def test_envelopes_have_a_sequence_without_gaps_and_the_id_of_their_payload(emitter: Emitter, memory: Memory) -> None:
    for _ in range(3):
        emitter.run("job").start()
    assert [envelope.sequence for envelope in memory.envelopes] == [0, 1, 2]
    assert len({envelope.emitter_id for envelope in memory.envelopes}) == 1
    assert all(envelope.event_id == event_id(envelope.payload) for envelope in memory.envelopes)


def test_threads_share_one_sequence(emitter: Emitter, memory: Memory) -> None:
    threads = [threading.Thread(target=lambda: [emitter.run("job").start() for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [envelope.sequence for envelope in memory.envelopes] == list(range(400))


def test_every_event_and_facet_has_producer_and_schema_url(emitter: Emitter, memory: Memory) -> None:
    """Facets built by others get the producer of the emitter that sends them."""
    sql = sql_job.SQLJobFacet(query="SELECT 1", producer="https://example.com/somebody-else")
    with emitter.run("job", job_facets={"sql": sql}):
        pass
    emitter.declare_job("job")
    emitter.declare_dataset(ol.StaticDataset("db", "table"))
    assert {document["producer"] for document in memory.documents} == {PRODUCER}
    assert [document["schemaURL"].rpartition("#")[2] for document in memory.documents] == [
        *("/$defs/RunEvent", "/$defs/RunEvent", "/$defs/JobEvent", "/$defs/DatasetEvent")
    ]
    facet = memory.documents[0]["job"]["facets"]["sql"]
    assert facet["_producer"] == PRODUCER
    assert facet["_schemaURL"] == "https://openlineage.io/spec/facets/1-1-0/SQLJobFacet.json#/$defs/SQLJobFacet"


def test_dataset_and_job_events_have_their_own_keys(emitter: Emitter, memory: Memory) -> None:
    emitter.declare_dataset(ol.StaticDataset("db", "table"))
    emitter.declare_job("job", inputs=[ol.InputDataset("db", "table")])
    assert [envelope.kind for envelope in memory.envelopes] == ["DATASET", "JOB"]
    assert memory.keys == [b"dataset:db/table", b"job:tests/job"]


@pytest.mark.parametrize(
    ("documentation", "content_type"),
    [("https://example.com/jobs/sroi", "text/uri-list"), ("Computes **SROI**.", "text/markdown")],
)
def test_a_job_links_to_its_documentation(
    emitter: Emitter, memory: Memory, documentation: str, content_type: str
) -> None:
    emitter.declare_job("sroi", documentation=documentation)
    facet = memory.documents[0]["job"]["facets"]["documentation"]
    assert (facet["description"], facet["contentType"]) == (documentation, content_type)


def test_json_is_published_byte_for_byte(emitter: Emitter, memory: Memory) -> None:
    body = payload().replace(b", ", b"  ,\n")
    emitter.publish_json(body)
    assert memory.envelopes[0].payload == body


def test_invalid_events_are_not_published(emitter: Emitter, memory: Memory) -> None:
    with pytest.raises(InvalidEvent):
        emitter.publish_json(payload(eventTime="yesterday"))
    assert memory.envelopes == []


def test_an_invalid_facet_is_removed_counted_and_logged(
    emitter: Emitter, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    """The service continues, and the rest of the event is sent."""
    with emitter.run("job", facets={"cdme_execution": {"epoch": "2026-01"}, "acme_anything": {"_schemaURL": "urn:x"}}):
        pass
    assert memory.types == ["START", "COMPLETE"]
    assert set(memory.documents[0]["run"]["facets"]) == {"acme_anything"}
    assert emitter.stats.refused == 2
    assert "run.facets.cdme_execution" in caplog.text


def test_strict_mode_raises_for_an_invalid_facet(memory: Memory) -> None:
    emitter = Emitter(memory, "tests", strict=True)
    with pytest.raises(InvalidEvent, match=r"run\.facets\.cdme_execution"):
        emitter.run("job", facets={"cdme_execution": {"epoch": "2026-01"}}).start()
    assert memory.envelopes == []


def test_values_without_a_json_form_do_not_raise(
    emitter: Emitter, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    for value in (object(), float("nan")):
        emitter.run("job", facets={"acme_odd": {"_schemaURL": "urn:x", "value": value}}).start()
    assert emitter.stats.refused == 2
    assert memory.documents[0]["run"]["facets"] == {}
    assert "no form in JSON" in caplog.text


def test_user_facets_are_validated_by_the_users_schema(memory: Memory, tmp_path: Path) -> None:
    """Facets are extensible by configuration; `_schemaURL` and `_producer` are added."""
    schema = {"$id": "urn:acme:deployment:1", "type": "object", "properties": {"commit": {"type": "string"}}}
    file = tmp_path / "deployment.json"
    file.write_text(json.dumps(schema))
    registry = FacetRegistry.standard().with_user_facets({"run": {"acme_deployment": file}})
    emitter = Emitter(memory, "tests", facets=registry, strict=True)
    emitter.run("job", facets={"acme_deployment": {"commit": "4f2a"}}).start()
    assert memory.facet("acme_deployment") == {
        "commit": "4f2a",
        "_producer": PRODUCER,
        "_schemaURL": "urn:acme:deployment:1",
    }
    with pytest.raises(InvalidEvent, match="acme_deployment"):
        emitter.run("job", facets={"acme_deployment": {"commit": 42}}).start()


@pytest.mark.parametrize("namespace", ["im pact", "a.b.c", ".impact", "postgres://db"])
def test_an_emitter_checks_its_namespace(memory: Memory, namespace: str) -> None:
    with pytest.raises(InvalidName, match="namespace"):
        Emitter(memory, namespace)
    Emitter(memory, "social.impact-2_x")


def test_a_job_name_that_changes_with_every_run_raises_at_its_definition(emitter: Emitter) -> None:
    with pytest.raises(InvalidName, match="2026-01-31"):
        emitter.job("load-2026-01-31")
    emitter.run("load-2026-01-31").start()
    assert emitter.stats.refused == 1


def test_two_functions_cannot_be_the_same_job(emitter: Emitter) -> None:
    """Job names are unique in a namespace."""

    def first() -> None: ...
    def second() -> None: ...

    emitter.job("sroi")(first)
    with pytest.raises(AmbiguousJob, match="first already"):
        emitter.job("sroi")(second)


def test_all_events_carry_the_trace_id_of_the_start(emitter: Emitter, memory: Memory) -> None:
    contexts = [SpanContext(number, 1, is_remote=False, trace_flags=TraceFlags(1)) for number in (0xABC, 0xDEF)]
    with trace.use_span(NonRecordingSpan(contexts[0])):
        run = emitter.run("job").start()
    with trace.use_span(NonRecordingSpan(contexts[1])):
        run.complete()
    assert [envelope.trace_id for envelope in memory.envelopes] == [f"{0xABC:032x}"] * 2
    emitter.run("job").start()
    assert memory.envelopes[-1].trace_id is None


def test_a_forked_process_has_its_own_sequence(emitter: Emitter, memory: Memory) -> None:
    emitter.run("job").start()
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        emitter.run("job").start()
        envelope = memory.envelopes[-1]
        os.write(writer, f"{envelope.emitter_id} {envelope.sequence}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    emitter_id, sequence = os.read(reader, 100).decode().split()
    assert sequence == "0"
    assert emitter_id != memory.envelopes[0].emitter_id


def test_the_openlineage_client_keeps_its_own_producer(emitter: Emitter) -> None:
    """A service that also uses the standard client keeps its own producer there."""
    event = ol.JobEvent(eventTime="2026-01-01T00:00:00Z", job=ol.Job("a", "b"))
    assert event.producer != PRODUCER


def test_counters_are_exported_to_prometheus(memory: Memory) -> None:
    """In a new process, because the collector is registered once per process."""
    script = (
        "from prometheus_client import generate_latest\n"
        "from lineproof.producers.emitter import Emitter\n"
        "from tests.transport import Memory\n"
        "emitter = Emitter(Memory(), 'tests')\n"
        "with emitter.run('job'): pass\n"
        "print(generate_latest().decode())\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)
    assert 'lineproof_emitter_events_total{outcome="emitted"} 2.0' in done.stdout
    assert 'lineproof_emitter_events_total{outcome="delivered"} 2.0' in done.stdout
    assert "lineproof_emitter_pending_events 0.0" in done.stdout


def test_lineage_errors_are_logged_without_secrets(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    sink = EventSink(memory, FacetRegistry.standard())
    with caplog.at_level(logging.ERROR), sink.guard():
        raise ValueError("password=hunter2 for ann@example.org")
    assert "hunter2" not in caplog.text
    assert "ann@example.org" not in caplog.text
