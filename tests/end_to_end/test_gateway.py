"""Any OpenLineage HTTP client, the real server, a real broker: what is acknowledged is on the topic, byte for byte."""

import gzip
import json
import os
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
import zstandard

from lineproof.schemas.avro import CONFLUENT_MARKER
from lineproof.schemas.envelope import Envelope, decode, event_id
from lineproof.schemas.headers import PRINCIPAL
from lineproof.schemas.registry import Registry
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from tests.bad_input import DEFECTIVE, USABLE
from tests.end_to_end.server import add_key, number, payloads, server, size
from tests.end_to_end.tools import RunJob, consumed, lineproof, rows
from tests.events import ABSENT, payload
from tests.registry import running as running_registry

CLIENT = """
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState

client = OpenLineageClient()
run = Run("01890000-0000-7000-8000-000000000001")
for state in (RunState.START, RunState.COMPLETE):
    client.emit(RunEvent(eventType=state, eventTime="2026-01-01T00:00:00Z", run=run, job=Job("airflow", "nightly")))
assert client.close(30) is not False
"""


@pytest.mark.parametrize("transport", ["http", "async_http"])
@pytest.mark.parametrize("compression", ["", "gzip"])
def test_the_standard_client_needs_only_the_url(
    settings: Settings, tmp_path: Path, transport: str, compression: str
) -> None:
    with server(settings) as running:
        environment = {"OPENLINEAGE_URL": running.url}
        if transport != "http" or compression:
            prefix = "OPENLINEAGE__TRANSPORT__"
            environment = {f"{prefix}TYPE": transport, f"{prefix}URL": running.url}
            if compression:
                environment[f"{prefix}COMPRESSION"] = compression
        done = subprocess.run(
            [sys.executable, "-c", CLIENT],
            env={**os.environ, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        events = [json.loads(body) for body in payloads(settings, 2)]
        assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
        assert [line["status"] for line in running.requests()] == [201, 201]


def test_bytes_are_never_rewritten(settings: Settings, run_job: RunJob) -> None:
    odd = [
        b'{ "eventTime" :"2026-01-31T10:00:00.000Z",\n\t"job": {"name":"a\\"],[{", "namespace":"t\\u00e9sts"} , "run":{'
        b'"runId": "01890000-0000-7000-8000-000000000002"},"x": 1.50e+1, "eventType":"START", "producer":"https://a.b",'
        b'"schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"}',
        payload().replace(b'"name": "in"', '"name": "\U0001f600 é"'.encode()),
        payload().replace(b'"name": "out"', rb'"name": "\ud83d\ude00 \ud800 \\"'),
        payload(run={"runId": "run_20240115_001"}, producer=ABSENT, schemaURL=ABSENT),
        payload()[:-1] + b',"eventType":"FAIL"}',
    ]
    array = b" [ " + b" ,\n".join(odd) + b"\t]\n"
    with server(settings) as running, httpx.Client(base_url=running.url) as client:
        for body in odd:
            assert client.post("/api/v1/lineage", content=b"\n " + body + b"\r\n").status_code == 201
        for path in ("/api/v1/lineage", "/api/v1/lineage/batch", "/api/v1/lineage/events"):
            assert client.post(path, content=array).status_code == 204
        for encoding, compress in (("gzip", gzip.compress), ("zstd", zstandard.compress)):
            answer = client.post("/api/v1/lineage", content=compress(array), headers={"Content-Encoding": encoding})
            assert answer.status_code == 204
    sent = sorted(odd * 6)
    assert sorted(payloads(settings, len(sent))) == sent
    run_job(settings)
    assert {row[-1] for row in rows(settings, "dead_letters")} == set()
    archived = rows(settings, "archive")
    assert len(archived) == len(sent)
    assert len(rows(settings, "lineage_events")) == len(odd)


def test_the_job_agrees_with_the_gateway(settings: Settings, run_job: RunJob) -> None:
    """What the gateway accepts is an event for the job, with at least the defects that the gateway has named."""
    cases = {**{name: body for name, (body, _) in DEFECTIVE.items()}, **USABLE}
    unusual = {body for body in cases.values() if body.startswith(b"{")}
    named: dict[str, set[str]] = {}
    with server(settings, "--set=gateway.max_json_depth=700") as running, httpx.Client(timeout=60) as client:
        for body in unusual:
            answer = client.post(f"{running.url}/api/v1/lineage", content=body)
            if answer.status_code == 201:
                found = answer.headers.get("Lineproof-Defects", "")
                named[event_id(body)] = {*found.split(", ")} - {""}
        assert len(unusual) - len(named) == 1, "only the one that nests 1,000 deep is refused"
    run_job(settings)
    assert rows(settings, "dead_letters") == []
    join = 'archive JOIN records USING (topic, partition, "offset") JOIN lineage_events USING (event_id)'
    found = Tables(settings.tables_path).query(f"SELECT value, defects FROM {join}").rows
    seen = [
        (event_id(opened.payload if isinstance(opened := decode(value), Envelope) else opened), defects)
        for value, defects in found
    ]
    assert {key for key, _ in seen} == named.keys()
    # The gateway compares with the day after tomorrow, the job with the time of the record.
    assert not {key: missing for key, defects in seen if (missing := named[key] - {*(defects or ())})}


def test_a_defect_is_accepted_and_named(settings: Settings) -> None:
    with server(settings) as running:
        answer = httpx.post(f"{running.url}/api/v1/lineage", content=payload(producer=ABSENT, eventType="PAUSE"))
        assert answer.status_code == 201
        assert answer.headers["Lineproof-Defects"] == "missing_producer, unknown_event_type"


def test_what_is_no_event_is_refused_with_its_field_and_not_stored(settings: Settings) -> None:
    with server(settings) as running, httpx.Client(base_url=running.url) as client:
        answer = client.post("/api/v1/lineage", content=payload(eventTime="yesterday"))
        assert answer.status_code == 400
        assert {"code": "bad_event_time", "field": "eventTime"}.items() <= answer.json().items()
        assert answer.json()["remedy"]
        batch = b"[" + b",".join([number(1), b'{"a": 1}', number(2), b"{nothing}"]) + b"]"
        answer = client.post("/api/v1/lineage/batch", content=batch)
        assert answer.status_code == 200
        assert answer.json()["status"] == "partial_success"
        assert answer.json()["summary"] == {
            **{"received": 4, "successful": 2, "failed": 2},
            **{"retriable": 0, "non_retriable": 2},
        }
        failed = [(one["index"], one["code"], one["retriable"]) for one in answer.json()["failed_events"]]
        assert failed == [(1, "not_an_event", False), (3, "invalid_json", False)]
        assert client.post("/api/v1/lineage/batch", content=number(1)).json()["code"] == "not_an_array"
        assert client.post("/api/v1/lineage", content=b"").json()["code"] == "empty_body"
        assert client.post("/api/v1/lineage/batch", content=b"[]").status_code == 204
        assert payloads(settings, 2) == [number(1), number(2)]
        assert size(settings) == 2


def test_what_is_no_event_can_be_kept_as_a_dead_letter(settings: Settings, run_job: RunJob) -> None:
    forged = decode_to_envelope(payload()).encode()
    with server(settings, "--set=gateway.keep_rejected=true") as running:
        for body in (payload(eventTime="yesterday"), b'{"a": 1}', b"\xff\xfe", forged):
            assert httpx.post(f"{running.url}/api/v1/lineage", content=body).status_code == 400
    assert size(settings) == 3, "nobody has checked what is in an envelope"
    run_job(settings)
    assert len(rows(settings, "dead_letters")) == 3


def decode_to_envelope(body: bytes) -> Envelope:
    """An envelope as an attacker would make it."""
    from tests.events import sealed

    return sealed(body)


def test_keys_decide_who_may_write_what(settings: Settings) -> None:
    writer = add_key(settings, "team-a", "--namespace", "team-a", "--namespace", "team-a.*")
    reader = add_key(settings, "monitor", "--role", "read")
    own = payload(job={"namespace": "team-a.x", "name": "j"})
    with server(settings) as running, httpx.Client(base_url=running.url) as client:

        def post(body: bytes = own, key: str = "", **headers: str) -> httpx.Response:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            named |= {"X-Api-Key": key} if key else {}
            return client.post("/api/v1/lineage", content=body, headers={**named, PRINCIPAL: "admin"})

        assert post().json()["code"] == "unauthorised"
        assert post().status_code == 401
        assert post(Authorization="Bearer wrong").status_code == 401
        assert post(Authorization=f"Basic {writer}").status_code == 401
        assert post(Authorization=f"Bearer {reader}").status_code == 403
        assert post(key=writer, Authorization=f"Bearer {reader}").json()["code"] == "two_keys"
        assert post(key=writer).status_code == 201
        foreign = payload(job={"namespace": "team-b", "name": "j"})
        assert post(foreign, key=writer).status_code == 403
        assert post(foreign, key=writer).json()["field"] == "job.namespace"
        twice = own[:-1] + b', "job": {"namespace": "team-b", "name": "j"}}'
        assert post(twice, key=writer).status_code == 403
        assert post(twice[:-1] + b', "job": {"namespace": "team-a", "name": "j"}}', key=writer).status_code == 403
        batch = client.post(
            "/api/v1/lineage/batch", content=b"[" + own + b"," + foreign + b"]", headers={"X-Api-Key": writer}
        )
        assert [one["code"] for one in batch.json()["failed_events"]] == ["foreign_namespace"]
        assert post(Origin="https://evil.example", key=writer).status_code == 403
        assert client.get("/metrics", headers={"X-Api-Key": writer}).status_code == 403
        assert client.get("/metrics", headers={"X-Api-Key": reader}).status_code == 200
        assert client.get("/livez").status_code == client.get("/readyz").status_code == 200

        revoked = lineproof("keys", "revoke", "team-a", f"--set=home={settings.home}")
        assert revoked.returncode == 0
        assert post(key=writer).status_code == 401
        replaced = add_key(settings, "team-a", "--rate", "1", "--expires", "90d")
        assert post(key=replaced).status_code == 201
        limited = post(key=replaced)
        assert (limited.status_code, limited.headers["Retry-After"]) == (429, "1")
        log = running.log.read_text()
        assert not any(key in log for key in (writer, reader, replaced))
        assert running.requests()[-1]["key"] == "team-a"
    messages = consumed(settings, settings.topics.events, 3)
    assert {(name, value) for message in messages for name, value in message.headers()} == {(PRINCIPAL, b"team-a")}
    assert size(settings) == 3


def test_a_key_has_a_limit_of_requests_at_once(settings: Settings) -> None:
    key = add_key(settings, "team-a")
    other = add_key(settings, "team-b")
    with server(settings, "--set=gateway.max_requests_per_key=2") as running:
        head = f"POST /api/v1/lineage HTTP/1.1\r\nHost: a\r\nX-Api-Key: {key}\r\nContent-Length: 9\r\n\r\n".encode()
        slow = [socket.create_connection(running.address) for _ in range(2)]
        for client in slow:
            client.sendall(head)
        url, deadline = f"{running.url}/api/v1/lineage", time.monotonic() + 20
        while (answer := httpx.post(url, content=payload(), headers={"X-Api-Key": key})).status_code != 429:
            assert time.monotonic() < deadline
        assert answer.json()["code"] == "too_many_requests"
        assert httpx.post(url, content=payload(), headers={"X-Api-Key": other}).status_code == 201
        for client in slow:
            client.close()
        while httpx.post(url, content=payload(), headers={"X-Api-Key": key}).status_code != 201:
            assert time.monotonic() < deadline


def test_a_schema_registry_gives_the_framing(settings: Settings) -> None:
    with running_registry() as registry:
        options = [f"--set=schema_registry.{name}={value}" for name, value in registry.options.items()]
        with server(settings, *options) as running:
            assert httpx.post(f"{running.url}/api/v1/lineage", content=payload()).status_code == 201
        (message,) = consumed(settings, settings.topics.events, 1)
        ids = Registry(registry.options).envelope_ids(settings.topics.events)
        opened = decode(message.value(), ids)
        assert message.value().startswith(CONFLUENT_MARKER)
        assert isinstance(opened, Envelope)
        assert opened.payload == payload()


def test_listening_beyond_this_machine_needs_keys(settings: Settings) -> None:
    servers = f"--set=kafka.bootstrap.servers={settings.kafka['bootstrap.servers']}"
    refused = lineproof("serve", "--host", "0.0.0.0", "--port", "0", f"--set=home={settings.home}", servers)
    assert refused.returncode == 1
    assert "There are no keys" in refused.stderr
    with server(settings, "--host", "0.0.0.0", "--insecure") as running:
        assert httpx.get(f"http://127.0.0.1:{running.address[1]}/livez").status_code == 200


def test_a_port_that_is_taken_is_named(settings: Settings) -> None:
    with server(settings) as running:
        servers = f"--set=kafka.bootstrap.servers={settings.kafka['bootstrap.servers']}"
        second = lineproof("serve", "--port", str(running.address[1]), f"--set=home={settings.home / 'b'}", servers)
        assert second.returncode == 1
        assert f"cannot listen on 127.0.0.1:{running.address[1]}" in second.stderr


def test_probes_and_metrics(settings: Settings) -> None:
    with server(settings) as running, httpx.Client(base_url=running.url) as client:
        client.post("/api/v1/lineage", content=payload())
        client.post("/api/v1/lineage", content=b"{}")
        assert client.get("/readyz").json() == {"status": "ok"}
        text = client.get("/metrics").text
        assert 'lineproof_gateway_events_total{outcome="stored"} 1.0' in text
        assert 'lineproof_gateway_events_total{outcome="refused"} 1.0' in text
        assert 'lineproof_gateway_requests_total{status="201"} 1.0' in text
        assert "lineproof_gateway_requests_in_flight 1.0" in text
        assert 'lineproof_gateway_request_seconds_count{method="POST"} 2.0' in text
        assert "lineproof_gateway_spool_events 0.0" in text


def test_tls_by_files(settings: Settings, tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    options = [f"--set=gateway.tls_certificate={certificate}", f"--set=gateway.tls_key={key}"]
    with server(settings, *options) as running:
        assert running.url.startswith("https://")
        trusted = ssl.create_default_context(cafile=certificate)
        answer = httpx.post(f"{running.url}/api/v1/lineage", content=payload(), verify=trusted)
        assert answer.status_code == 201
