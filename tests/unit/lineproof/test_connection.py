"""An emitter built from the settings. No service runs without lineage unnoticed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lineproof
from lineproof import connection
from lineproof.connection import emitter_of, transport_of
from lineproof.local.checks import check_emitter
from lineproof.producers.naming import InvalidName
from lineproof.schemas.errors import LineproofError
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaUnavailable

NO_BROKER = "127.0.0.1:9"


@pytest.fixture(autouse=True)
def _short_timeout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(connection, "CONFIRM_TIMEOUT_S", 0.5)
    monkeypatch.chdir(tmp_path)
    for variable in ("NAMESPACE", "URL", "API_KEY", "DISABLED"):
        monkeypatch.delenv(f"OPENLINEAGE_{variable}", raising=False)


def settings(**emitter: Any) -> Settings:
    return Settings(home=Path("home"), emitter={"product": "impact", **emitter}, kafka={"bootstrap.servers": NO_BROKER})


def results(given: Settings) -> dict[str, str]:
    return {name: result for name, result, _ in check_emitter(given)}


def test_emit_in_three_lines() -> None:
    Path("lineproof.yaml").write_text("emitter: {product: impact, transports: [file]}")
    emitter = lineproof.connect()
    with emitter.run("job"):
        assert lineproof.current_run() is not None
    assert len(Path(".lineproof/events.jsonl").read_text().splitlines()) == 2


def test_a_service_that_connects_loads_neither_the_job_nor_the_embedded_broker() -> None:
    script = "import sys, lineproof; lineproof.connect; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    folders = ("bench", "cli", "quality", "serving", "streaming")
    unwanted = [*(f"lineproof.{folder}" for folder in folders), "lineproof.local.jars", "lineproof.local.java"]
    unwanted += ["lineproof.local.broker", "pyspark", "duckdb", "typer"]
    assert "lineproof.connection" in found
    assert not set(unwanted) & set(found)


def test_an_emitter_without_a_namespace_is_refused() -> None:
    with pytest.raises(InvalidName, match="product"):
        emitter_of(settings(product="", transports=["console"]))
    assert "FAILED" in results(settings(product="", transports=["console"]))["lineage namespace"]


def test_an_emitter_without_a_broker_is_refused() -> None:
    with pytest.raises(KafkaUnavailable, match="No Kafka broker is configured"):
        emitter_of(Settings(home=Path("home"), emitter={"product": "impact"}))


def test_a_broker_that_does_not_answer_is_logged_with_the_spool(caplog: pytest.LogCaptureFixture) -> None:
    emitter = emitter_of(settings())
    assert "do not answer" in caplog.text
    assert "events wait in the spool" in caplog.text
    with emitter.run("job"):
        pass
    assert emitter.stats.delivery.pending == 2
    assert not emitter.close(0)
    assert "FAILED: The Kafka brokers do not answer" in results(settings())["lineage endpoint"]


def test_an_endpoint_without_a_fallback_must_answer() -> None:
    Path("home").mkdir()
    Path("home/events.jsonl").mkdir()
    with pytest.raises(LineproofError, match="cannot be written"):
        emitter_of(settings(transports=["file"]))


def test_an_emitter_that_is_switched_off_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    emitter = emitter_of(settings(disabled=True))
    assert "switched off" in caplog.text
    with emitter.run("job"):
        pass
    assert "FAILED: The emitter is disabled" in results(settings(disabled=True))["lineage endpoint"]


def test_several_transports(capsys: pytest.CaptureFixture[str]) -> None:
    transport = transport_of(settings(transports=["file", "console"]))
    emitter = emitter_of(settings(), transport)
    emitter.run("job").start()
    assert Path("home/events.jsonl").read_text() == capsys.readouterr().out


def test_check_finds_a_facet_schema_that_cannot_be_read() -> None:
    given = settings(transports=["console"]).model_copy(update={"facets": {"run": {"acme_x": Path("nowhere.json")}}})
    assert "nowhere.json" in results(given)["lineage facets"]
    with pytest.raises(LineproofError, match=r"nowhere\.json"):
        emitter_of(given)
