"""Client certificates and OAuth, for both clients: librdkafka, and Spark's Java client with translated options."""

import base64
import json
import os
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import NameOID

from lineproof.local.broker import Broker
from lineproof.serving.sql import Tables
from lineproof.topics.cluster import KafkaCluster
from tests.end_to_end.tools import free_port, lineproof
from tests.events import payload
from tests.jvm_options import SPARK_OPTIONS

PASSWORD = "the-password-of-the-key"
CLIENT_ID, CLIENT_SECRET = "lineproof", "the-secret-of-the-client"
OAUTH = "org.apache.kafka.common.security.oauthbearer"


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


class Authority:
    """A CA that signs certificates with elliptic curve keys, and writes them as PEM files."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.directory = directory
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
        self.file = directory / "ca.pem"
        self.file.write_bytes(self._signed(self.name, self.key.public_key(), is_ca=True))

    def issue(self, name: str, password: str = "") -> tuple[Path, Path]:
        """The files of a certificate and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        encryption = (
            serialization.BestAvailableEncryption(password.encode()) if password else serialization.NoEncryption()
        )
        encoded = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
        files = self.directory / f"{name}.pem", self.directory / f"{name}.key"
        files[0].write_bytes(self._signed(subject, key.public_key(), is_ca=False))
        files[1].write_bytes(encoded)
        return files

    def _signed(self, subject: x509.Name, key: ec.EllipticCurvePublicKey, *, is_ca: bool) -> bytes:
        now = datetime.now(timezone.utc)
        builder = (
            x509.CertificateBuilder(self.name, subject, key, x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        )
        return builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


class TokenEndpoint(ThreadingHTTPServer):
    """An OpenID provider that gives tokens for client credentials."""

    def __init__(self, jwks: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self._key = rsa.generate_private_key(65537, 2048)
        numbers = self._key.public_key().public_numbers()
        number = {"n": b64(numbers.n.to_bytes(256, "big")), "e": b64(numbers.e.to_bytes(3, "big"))}
        jwks.write_text(json.dumps({"keys": [{"kty": "RSA", "kid": "k", "alg": "RS256", "use": "sig", **number}]}))
        self.url = f"http://127.0.0.1:{self.server_port}/token"
        self.agents: list[str] = []

    def token(self) -> str:
        now = int(time.time())
        claims = {"sub": CLIENT_ID, "iss": "tests", "aud": "kafka", "scope": "kafka", "iat": now, "exp": now + 600}
        parts = ({"alg": "RS256", "kid": "k", "typ": "JWT"}, claims)
        signed = ".".join(b64(json.dumps(part).encode()) for part in parts)
        return f"{signed}.{b64(self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


class _Answer(BaseHTTPRequestHandler):
    server: TokenEndpoint

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        is_known = self.headers.get("Authorization") == f"Basic {basic}"
        is_right = is_known and form.get("scope") == ["kafka"] and form.get("grant_type") == ["client_credentials"]
        self.server.agents.append(self.headers.get("User-Agent", ""))
        body = {"access_token": self.server.token(), "token_type": "Bearer", "expires_in": 600} if is_right else {}
        content = json.dumps(body).encode()
        self.send_response(200 if is_right else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[TokenEndpoint]:
    server = TokenEndpoint(tmp_path / "jwks.json")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(10)


def broker_with(directory: Path, extra: dict[str, str]) -> Iterator[Broker]:
    broker = Broker(directory, extra=extra)
    plain = KafkaCluster({"bootstrap.servers": broker.start()})
    try:
        plain.create_topics(["lineage.events", "lineage.dead-letters"], 1, 1)
        yield broker
    finally:
        broker.stop()


def run(tmp_path: Path, kafka: dict[str, str], *command: str) -> Any:
    config = tmp_path / "lineproof.yaml"
    unpublished = dict.fromkeys(("runs", "violations", "quality"), "")
    settings = {"home": str(tmp_path / "home"), "topics": unpublished, "kafka": kafka, "spark": dict(SPARK_OPTIONS)}
    config.write_text(yaml.safe_dump(settings))
    return lineproof(*command, "--config", str(config))


def assert_events_are_archived(tmp_path: Path, kafka: dict[str, str]) -> None:
    """One event, sent by librdkafka and read by Spark; and a dead letter, which Spark's sink publishes."""
    for name, value in {"event": payload(), "broken": b"{}"}.items():
        (tmp_path / f"{name}.json").write_bytes(value)
    sent = run(tmp_path, kafka, "load", str(tmp_path / "event.json"))
    assert sent.returncode == 0, sent.stderr
    done = run(tmp_path, kafka, "job", "--trigger=available-now")
    assert done.returncode == 0, done.stderr
    assert Tables(f"{tmp_path}/home/tables").query("SELECT count(*) FROM runs").rows == [(1,)]


def test_client_certificates(tmp_path: Path) -> None:
    """With an encrypted key; test_kafka_options has the other forms."""
    authority, port = Authority(tmp_path / "ca"), free_port()
    certificate, key = authority.issue("broker")
    (tmp_path / "keystore.pem").write_bytes(key.read_bytes() + certificate.read_bytes())
    stores = {"keystore": tmp_path / "keystore.pem", "truststore": authority.file}
    extra = {
        "listeners": f"TLS://127.0.0.1:{port}",
        "listener.security.protocol.map": "TLS:SSL",
        "listener.name.tls.ssl.client.auth": "required",
        **{f"listener.name.tls.ssl.{store}.type": "PEM" for store in stores},
        **{f"listener.name.tls.ssl.{store}.location": str(file) for store, file in stores.items()},
    }
    certificate, key = authority.issue("client", PASSWORD)
    kafka = {
        "bootstrap.servers": f"127.0.0.1:{port}",
        "security.protocol": "ssl",
        "ssl.ca.location": str(authority.file),
        "ssl.certificate.location": str(certificate),
        "ssl.key.location": str(key),
        "ssl.key.password": PASSWORD,
    }
    for _ in broker_with(tmp_path / "broker", extra):
        without = {name: value for name, value in kafka.items() if "certificate" not in name and "key" not in name}
        refused = run(tmp_path, without, "job", "--trigger=available-now")
        assert refused.returncode == 1, refused.stderr
        assert "Traceback" not in refused.stderr
        assert_events_are_archived(tmp_path, kafka)
        log = (tmp_path / "home" / "logs" / "job.log").read_text()
        assert "PRIVATE KEY" not in log
        assert PASSWORD not in log


def test_oauth(tmp_path: Path, endpoint: TokenEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    port, jwks = free_port(), f"file:{tmp_path}/jwks.json"
    extra = {
        "listeners": f"OAUTH://127.0.0.1:{port}",
        "listener.security.protocol.map": "OAUTH:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": jwks,
        "sasl.oauthbearer.expected.audience": "kafka",
        "listener.name.oauth.oauthbearer.sasl.jaas.config": f"{OAUTH}.OAuthBearerLoginModule required;",
        "listener.name.oauth.oauthbearer.sasl.server.callback.handler.class": (
            f"{OAUTH}.OAuthBearerValidatorCallbackHandler"
        ),
    }
    options = os.environ["JAVA_TOOL_OPTIONS"]
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"{options} -Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={jwks}")
    kafka = {
        "bootstrap.servers": f"127.0.0.1:{port}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": CLIENT_ID,
        "sasl.oauthbearer.client.secret": CLIENT_SECRET,
        "sasl.oauthbearer.token.endpoint.url": endpoint.url,
        "sasl.oauthbearer.scope": "kafka",
        "sasl.oauthbearer.extensions": "traceId=123",
    }
    for _ in broker_with(tmp_path / "broker", extra):
        monkeypatch.setenv("JAVA_TOOL_OPTIONS", options)
        assert_events_are_archived(tmp_path, kafka)
        assert any("Java" in agent for agent in endpoint.agents), endpoint.agents
        assert CLIENT_SECRET not in (tmp_path / "home" / "logs" / "job.log").read_text()
