"""Which Java is used, and the errors if there is no suitable one."""

from pathlib import Path

import pytest

from lineproof.local.java import JavaError, find_java, log_options


def fake_java(directory: Path, output: str, exit_code: int = 0) -> Path:
    """Write a `java` that answers `-version` on stderr, like the real one."""
    java = directory / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{output}\nEND\nexit {exit_code}\n")
    java.chmod(0o755)
    return java


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}/path/bin:/bin")
    if Path("/bin/java").exists():
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "cat").symlink_to("/bin/cat")
        monkeypatch.setenv("PATH", f"{tmp_path}/path/bin:{tmp_path}/tools")


@pytest.mark.parametrize(
    "output",
    [
        'openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment',
        'openjdk version "21" 2023-09-19',
        'openjdk version "25-ea" 2025-09-16',
        'Picked up JAVA_TOOL_OPTIONS: -Dsome.version=1\njava version "17.0.1" 2021-10-19 LTS',
    ],
)
def test_a_new_enough_java_on_the_path_is_used(no_java: None, tmp_path: Path, output: str) -> None:
    java = fake_java(tmp_path / "path", output)
    assert find_java() == java


def test_java_home_takes_precedence_over_the_path(
    no_java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path / "path", 'openjdk version "17.0.15" 2025-04-15')
    java = fake_java(tmp_path / "home", 'openjdk version "21.0.2" 2024-01-16')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == java


@pytest.mark.parametrize(
    ("output", "version"),
    [('java version "1.8.0_392"', "Java 8"), ('openjdk version "11.0.22" 2024-01-16', "Java 11")],
)
def test_an_old_java_home_is_refused_although_the_path_has_a_new_one(
    no_java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, version: str
) -> None:
    fake_java(tmp_path / "path", 'openjdk version "17.0.15" 2025-04-15')
    java = fake_java(tmp_path / "home", output)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    with pytest.raises(JavaError) as refused:
        find_java()
    assert refused.value.what == f"{java} is {version}; Spark needs 17 or newer."
    assert "Install Java 17" in refused.value.remedy


def test_no_java_at_all(no_java: None) -> None:
    with pytest.raises(JavaError, match="No Java found: JAVA_HOME is not set"):
        find_java()


def test_java_home_without_java(no_java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaError, match="there is no"):
        find_java()


def test_a_placeholder_is_not_a_java(no_java: None, tmp_path: Path) -> None:
    fake_java(tmp_path / "path", "Unable to locate a Java Runtime.", exit_code=1)
    with pytest.raises(JavaError, match=r"not a working Java\. Its output: Unable to locate"):
        find_java()


def test_a_java_for_another_machine(no_java: None, tmp_path: Path) -> None:
    fake_java(tmp_path / "path", "").write_bytes(b"\x7fELF of some other processor")
    with pytest.raises(JavaError, match="does not run"):
        find_java()


def test_the_logging_configuration_is_packaged() -> None:
    config, log = log_options(Path("some.log"))
    assert Path(config.removeprefix("-Dlog4j2.configurationFile=file://")).is_file()
    assert log == "-Dlineproof.log=some.log"
