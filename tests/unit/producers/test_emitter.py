"""Events as they leave: identity, order, validity (R10, R11, R13, R16)."""

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


def test_envelopes_count_without_a_gap_and_know_their_payload(emitter: Emitter, memory: Memory) -> None:
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


def test_every_event_names_its_producer_and_its_schema(emitter: Emitter, memory: Memory) -> None:
    """R11; also facets made by others are vouched for by who sends them."""
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


def test_dataset_and_job_events_have_keys_of_their_own(emitter: Emitter, memory: Memory) -> None:
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
    """R13"""
    emitter.declare_job("sroi", documentation=documentation)
    facet = memory.documents[0]["job"]["facets"]["documentation"]
    assert (facet["description"], facet["contentType"]) == (documentation, content_type)


def test_json_goes_out_byte_for_byte(emitter: Emitter, memory: Memory) -> None:
    body = payload().replace(b", ", b"  ,\n")
    emitter.publish_json(body)
    assert memory.envelopes[0].payload == body


def test_what_is_no_event_does_not_leave(emitter: Emitter, memory: Memory) -> None:
    with pytest.raises(InvalidEvent):
        emitter.publish_json(payload(eventTime="yesterday"))
    assert memory.envelopes == []


def test_an_invalid_facet_is_left_out_counted_and_named(
    emitter: Emitter, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    """The service goes on, and so does the rest of its event."""
    with emitter.run("job", facets={"cdme_execution": {"epoch": "2026-01"}, "acme_anything": {"_schemaURL": "urn:x"}}):
        pass
    assert memory.types == ["START", "COMPLETE"]
    assert set(memory.documents[0]["run"]["facets"]) == {"acme_anything"}
    assert emitter.stats.refused == 2
    assert "run.facets.cdme_execution" in caplog.text


def test_strict_mode_raises_instead(memory: Memory) -> None:
    emitter = Emitter(memory, "tests", strict=True)
    with pytest.raises(InvalidEvent, match=r"run\.facets\.cdme_execution"):
        emitter.run("job", facets={"cdme_execution": {"epoch": "2026-01"}}).start()
    assert memory.envelopes == []


def test_values_without_json_do_not_reach_the_service(
    emitter: Emitter, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    for value in (object(), float("nan")):
        emitter.run("job", facets={"acme_odd": {"_schemaURL": "urn:x", "value": value}}).start()
    assert emitter.stats.refused == 2
    assert memory.documents[0]["run"]["facets"] == {}
    assert "no form in JSON" in caplog.text


def test_facets_of_the_user_are_checked_by_the_users_schema(memory: Memory, tmp_path: Path) -> None:
    """R18: extensible by configuration; `_schemaURL` and `_producer` are added."""
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
def test_a_namespace_is_checked_again_where_it_is_used(memory: Memory, namespace: str) -> None:
    """R14"""
    with pytest.raises(InvalidName, match="namespace"):
        Emitter(memory, namespace)
    Emitter(memory, "social.impact-2_x")


def test_a_name_that_changes_with_every_run_is_refused_where_it_is_defined(emitter: Emitter) -> None:
    """R13"""
    with pytest.raises(InvalidName, match="2026-01-31"):
        emitter.job("load-2026-01-31")
    emitter.run("load-2026-01-31").start()
    assert emitter.stats.refused == 1


def test_a_job_is_one_function(emitter: Emitter) -> None:
    """R13: unique in a namespace."""

    def first() -> None: ...
    def second() -> None: ...

    emitter.job("sroi")(first)
    with pytest.raises(AmbiguousJob, match="first already"):
        emitter.job("sroi")(second)


def test_start_and_end_carry_the_trace_of_the_start(emitter: Emitter, memory: Memory) -> None:
    """R16"""
    contexts = [SpanContext(number, 1, is_remote=False, trace_flags=TraceFlags(1)) for number in (0xABC, 0xDEF)]
    with trace.use_span(NonRecordingSpan(contexts[0])):
        run = emitter.run("job").start()
    with trace.use_span(NonRecordingSpan(contexts[1])):
        run.complete()
    assert [envelope.trace_id for envelope in memory.envelopes] == [f"{0xABC:032x}"] * 2
    emitter.run("job").start()
    assert memory.envelopes[-1].trace_id is None


def test_a_forked_process_counts_for_itself(emitter: Emitter, memory: Memory) -> None:
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
    """A service that also uses the stock client must not find its events renamed."""
    event = ol.JobEvent(eventTime="2026-01-01T00:00:00Z", job=ol.Job("a", "b"))
    assert event.producer != PRODUCER


def test_counters_are_there_for_prometheus(memory: Memory) -> None:
    """R12; in a process of its own, because the collector is registered once in each."""
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


def test_errors_of_lineage_are_logged_without_secrets(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    sink = EventSink(memory, FacetRegistry.standard())
    with caplog.at_level(logging.ERROR), sink.guard():
        raise ValueError("password=hunter2 for ann@example.org")
    assert "hunter2" not in caplog.text
    assert "ann@example.org" not in caplog.text
