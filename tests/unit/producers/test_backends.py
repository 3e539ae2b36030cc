"""Lineage backends as plugins: those that come with lineproof, and one that somebody else wrote."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lineproof.connection import backend_of, connect, transport_of
from lineproof.local.checks import check_emitter
from lineproof.producers.backends import HttpConfig, InvalidBackendConfig, KafkaConfig
from lineproof.producers.backends.plugin import UnknownBackend, installed_backends, transport_config
from lineproof.producers.transports.base import DeliveryStatus
from lineproof.producers.transports.http_client import HttpClient
from lineproof.settings import Settings, SettingsError, load
from tests import backend as backends
from tests.backend import Reply
from tests.events import payload

HOST = "https://lineage.example"


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("NAMESPACE", "URL", "API_KEY", "DISABLED"):
        monkeypatch.delenv(f"OPENLINEAGE_{variable}", raising=False)


def http_config(provider: str, **config: Any) -> HttpConfig:
    found = transport_config(provider, {"url": HOST, **config})
    assert isinstance(found, HttpConfig)
    return found


def test_the_shipped_backends_are_installed() -> None:
    assert {"atlan", "correlator", "datahub", "lineproof", "marquez", "openmetadata"} <= {*installed_backends()}


@pytest.mark.parametrize(
    ("provider", "endpoint", "batch_endpoint"),
    [
        ("marquez", "/api/v1/lineage", ""),
        ("openmetadata", "/api/v1/openlineage/lineage", "/api/v1/openlineage/lineage/batch"),
        ("atlan", "/events/openlineage/generic-openlineage/api/v1/lineage", ""),
        ("datahub", "/openapi/openlineage/api/v1/lineage", ""),
        ("correlator", "/api/v1/lineage/events", "/api/v1/lineage/events"),
        ("lineproof", "/api/v1/lineage", "/api/v1/lineage/batch"),
    ],
)
def test_paths_and_keys(provider: str, endpoint: str, batch_endpoint: str) -> None:
    """A real server gets events at these paths, with the key."""
    with backends.running() as server:
        server.judge = lambda request: Reply(200, is_kept=True)
        config = transport_config(provider, {"url": server.url, "api_key": "s3cret"})
        assert isinstance(config, HttpConfig)
        assert config.type == "http"
        client = HttpClient(config)
        for count in (1, 3):
            assert {outcome[0] for outcome in client.post([payload()] * count)} == {DeliveryStatus.DELIVERED}
        assert len(server.accepted) == 4
        assert server.requests[0].path == endpoint
        assert {request.path for request in server.requests[1:]} == {batch_endpoint or endpoint}
        assert isinstance(server.requests[0].body, list) == (endpoint == batch_endpoint)
        header = "x-api-key" if provider == "correlator" else "authorization"
        assert "s3cret" in server.requests[-1].headers[header]
        client.close()
    assert "s3cret" not in repr(config)


def test_options_override_what_is_documented() -> None:
    assert http_config("atlan", connector="spark").endpoint == "/events/openlineage/spark/api/v1/lineage"
    config = http_config(
        "marquez", endpoint="/lineage", batch_endpoint="/batch", timeout="2.5", headers={"X-Team": "a"}
    )
    assert (config.endpoint, config.batch_endpoint, config.timeout_s) == ("/lineage", "/batch", 2.5)
    assert config.headers == {"X-Team": "a"}
    arrays = http_config("correlator", endpoint="/v2/events")
    assert arrays.endpoint == arrays.batch_endpoint == "/v2/events"
    assert http_config("openmetadata", batch_endpoint="").batch_endpoint == ""


def test_the_own_topic() -> None:
    assert transport_config("lineproof", {}) == KafkaConfig()
    options = {"bootstrap.servers": "b:9092"}
    assert transport_config("lineproof", {"topic": "t", "kafka": options}) == KafkaConfig(topic="t", options=options)


@pytest.mark.parametrize(
    ("config", "match"),
    [
        ({"urll": HOST, "api_kee": "k"}, r"marquez: url is not set; urll is unknown \(did you mean url\?\); api_kee"),
        ({"url": "lineage.example"}, "marquez: 'lineage.example' is not the URL"),
        ({"url": HOST, "timeout": "soon"}, "timeout is not a number"),
        ({"url": HOST, "headers": "X-Key: 1"}, "headers is not a mapping"),
    ],
)
def test_everything_that_is_wrong_is_named(config: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidBackendConfig, match=match):
        transport_config("marquez", config)


def test_an_unknown_provider_is_refused_with_those_installed() -> None:
    with pytest.raises(UnknownBackend, match=r"'markez'.*\nInstalled: .*correlator, .*marquez"):
        transport_config("markez", {})
    settings = Settings(emitter={"product": "p"}, plugins={"lineage_backend": {"provider": "markez"}})
    assert (
        "FAILED: No installed package provides" in dict(row[:2] for row in check_emitter(settings))["lineage endpoint"]
    )


def test_the_manifest_chooses_the_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with backends.running() as server:
        monkeypatch.setenv("BACKEND_URL", server.url)
        monkeypatch.setenv("BACKEND_KEY", "s3cret: {not yaml}")
        Path("manifest.yaml").write_text(
            "name: a data product\nport: ${UNRELATED}\n"
            "plugins:\n  storage: {provider: delta}\n  lineage_backend:\n    provider: marquez\n"
            "    config:\n      url: ${BACKEND_URL}\n      api_key: ${BACKEND_KEY}\n"
            "      headers: {X-Team: t3am-secret}\n"
        )
        emitter = connect(overrides=["emitter.product=impact", "home=home"])
        with emitter.run("job"):
            pass
        assert emitter.close(30)
        assert server.types == ["START", "COMPLETE"]
        assert server.requests[0].headers["authorization"] == "Bearer s3cret: {not yaml}"
        assert server.requests[0].headers["x-team"] == "t3am-secret"
        settings = load(overrides=["emitter.product=impact"])
        assert "s3cret" not in repr(settings)
        assert "t3am" not in str(settings.masked())
        assert settings.masked()["plugins"]["lineage_backend"]["config"]["url"] == server.url
    assert not (Path("home") / "spool" / "backend-marquez" / "rejected.jsonl").exists()


def test_the_manifest_yields_to_files_variables_and_the_command_line() -> None:
    Path("manifest.yaml").write_text("plugins: {lineage_backend: {provider: atlan, config: {url: 'https://a'}}}")
    assert load(environ={}).transports == ["backend"]
    assert load(overrides=["emitter.transports=kafka"], environ={}).transports == ["kafka"]
    assert load(environ={"OPENLINEAGE_URL": HOST}).transports == ["http"]
    by_path = load(
        overrides=["plugins.lineage_backend.config.url=https://b", "plugins.lineage_backend.config.connector=spark"],
        environ={"LINEPROOF_PLUGINS_LINEAGE_BACKEND_PROVIDER": "datahub"},
    ).plugins.lineage_backend
    assert (by_path.provider, by_path.config) == ("datahub", {"url": "https://b", "connector": "spark"})
    Path("lineproof.yaml").write_text("plugins: {lineage_backend: {provider: marquez, config: {url: 'https://c'}}}")
    assert load(environ={}).plugins.lineage_backend.provider == "marquez"


def test_other_manifests_are_left_alone() -> None:
    for text in ("---\na: 1\n---\nb: 2\n", "{{ template }}: [", "plugins: [lineage]", "\x00\x01"):
        Path("manifest.yaml").write_text(text)
        assert load(environ={}).transports == ["kafka"]
    Path("manifest.yaml").write_text("plugins: {lineage_backend: {provider: marquez, config: {url: '${NOT_SET}'}}}")
    with pytest.raises(SettingsError, match="NOT_SET"):
        load(environ={})
    with pytest.raises(SettingsError, match="cannot be read"):
        load(environ={"LINEPROOF_MANIFEST": "nowhere.yaml"})
    Path("manifest.yaml").write_text("plugins: {lineage_backend: {provder: marquez}}")
    with pytest.raises(SettingsError, match="did you mean 'provider'"):
        load(environ={})


def test_the_transport_backend_needs_a_provider() -> None:
    with pytest.raises(SettingsError, match=r"plugins\.lineage_backend\.provider"):
        load(overrides=["emitter.transports=backend"], environ={})


PLUGIN = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "acme-lineage"
version = "1"
[project.entry-points."lineproof.lineage_backends"]
acme = "acme_lineage:Acme"
acme-broken = "acme_lineage:Missing"
acme-otlp = "acme_lineage:Otlp"
[tool.setuptools]
py-modules = ["acme_lineage"]
""",
    "acme_lineage.py": """
from lineproof.producers.backends import HttpConfig, LineageBackendPlugin, TransportConfig

class Acme(LineageBackendPlugin):
    def get_transport_config(self, config):
        headers = {"X-Acme": config["key"]}
        return HttpConfig(url=config["host"], endpoint="/acme/events", batch_endpoint="", headers=headers)

class OtlpConfig(TransportConfig):
    type = "otlp"

class Otlp(LineageBackendPlugin):
    def get_transport_config(self, config):
        return OtlpConfig()
""",
}
SCRIPT = """
import lineproof
from lineproof.producers.backends.plugin import transport_config
from lineproof.schemas.errors import LineproofError

emitter = lineproof.connect()
with emitter.run("job"):
    pass
assert emitter.close(30)
for provider, config in (("acme-broken", {}), ("acme-otlp", {}), ("acme", {})):
    try:
        transport_config(provider, config)
    except LineproofError as error:
        print(error.what)
"""


def test_a_plugin_of_somebody_else(tmp_path: Path) -> None:
    """Installed by pip into a directory of its own, chosen in the manifest, used by an emission to a real server."""
    source, target, work = tmp_path / "source", tmp_path / "installed", tmp_path / "work"
    source.mkdir()
    work.mkdir()
    for name, text in PLUGIN.items():
        (source / name).write_text(text)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--target", str(target), str(source)]
    subprocess.run([*pip, *options], check=True, capture_output=True, timeout=120)
    with backends.running() as server:
        manifest = {"provider": "acme", "config": {"host": "${ACME_HOST}", "key": "k"}}
        (work / "manifest.yaml").write_text(json.dumps({"plugins": {"lineage_backend": manifest}}))
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={
                **os.environ,
                "PYTHONPATH": str(target),
                "ACME_HOST": server.url,
                "LINEPROOF_EMITTER_PRODUCT": "impact",
            },
            cwd=work,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert server.types == ["START", "COMPLETE"]
        assert {(request.path, request.headers["x-acme"]) for request in server.requests} == {("/acme/events", "k")}
    broken, otlp, incomplete = done.stdout.splitlines()
    assert "acme-broken (acme_lineage:Missing) cannot be loaded" in broken
    assert "asks for the transport 'otlp'" in otlp
    assert "fails on its configuration: KeyError('key')" in incomplete


def test_the_backend_and_other_transports_together(capsys: pytest.CaptureFixture[str]) -> None:
    with backends.running() as server:
        settings = Settings(
            home=Path("home"),
            emitter={"product": "impact", "transports": ["backend", "file"]},
            plugins={"lineage_backend": {"provider": "marquez", "config": {"url": server.url}}},
        )
        assert backend_of(settings).type == "http"
        transport = transport_of(settings)
        assert transport.close(5)
        result = dict(row[:2] for row in check_emitter(settings))["lineage endpoint"]
        assert result.startswith("ok: backend (marquez), file")
