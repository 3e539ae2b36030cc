"""The setup stops at once if a tool is missing or too old, and names what to install."""

import subprocess
from pathlib import Path

import pytest

PREFLIGHT = Path(__file__).parents[3] / "conf" / "preflight.sh"


def tool(directory: Path, name: str, body: str) -> Path:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def preflight(python: str, java_home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "JAVA_HOME": str(java_home)}
    return subprocess.run(["sh", PREFLIGHT, python], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def java_home(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    tool(tmp_path / "bin", "java", """echo 'openjdk version "17.0.15" 2025-04-15' >&2""")
    return tmp_path


def test_suitable_tools_are_accepted(java_home: Path) -> None:
    done = preflight(str(tool(java_home, "python", "exit 0")), java_home)
    assert (done.returncode, done.stderr) == (0, "")


def test_old_python(java_home: Path) -> None:
    old = tool(java_home, "python", 'case "$1" in --version) echo Python 3.9.1;; *) exit 1;; esac')
    done = preflight(str(old), java_home)
    assert done.returncode == 1
    assert "too old (Python 3.9.1)" in done.stderr
    assert "apt install python3" in done.stderr


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22"])
def test_old_java(java_home: Path, version: str) -> None:
    tool(java_home / "bin", "java", f"""echo 'openjdk version "{version}"' >&2""")
    done = preflight(str(tool(java_home, "python", "exit 0")), java_home)
    assert done.returncode == 1
    assert "Spark needs 17 or newer" in done.stderr
    assert "openjdk-17" in done.stderr


def test_missing_tools(tmp_path: Path) -> None:
    done = preflight("no-such-python", tmp_path / "nowhere")
    assert done.returncode == 1
    assert "Python is missing" in done.stderr
    assert "Java is missing" in done.stderr
