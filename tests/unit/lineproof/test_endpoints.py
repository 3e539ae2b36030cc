"""What an emitter loads to find its broker: neither the embedded broker nor Java, Spark or DuckDB."""

import subprocess
import sys

import pytest

CONNECT = "import sys, lineproof; lineproof.connect; print(*sys.modules)"


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    done = subprocess.run([sys.executable, "-c", CONNECT], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "module",
    ["lineproof.local.broker", "lineproof.local.jars", "lineproof.local.java", "lineproof.streaming", "lineproof.cli"],
)
def test_connect_loads_no_embedded_broker_and_no_job(loaded: set[str], module: str) -> None:
    assert "lineproof.connection" in loaded
    assert module not in loaded


@pytest.mark.parametrize("library", ["pyspark", "py4j", "duckdb", "deltalake", "great_expectations"])
def test_connect_loads_no_library_of_the_job_or_the_readers(loaded: set[str], library: str) -> None:
    assert library not in loaded
