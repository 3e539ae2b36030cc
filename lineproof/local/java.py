"""The Java that Spark and the embedded broker run on."""

import os
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

from lineproof.schemas.errors import LineproofError

MIN_VERSION = 17

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')  # Java 8 and older report 1.8


class JavaError(LineproofError):
    """No suitable Java was found."""


def find_java() -> Path:
    """Find the `java` that Spark will use, and check its version.

    Spark uses JAVA_HOME whenever it is set, even if PATH has a newer Java. If this function chose another Java, the
    check would pass and Spark would fail.
    """
    java = _candidate()
    version = _version(java)
    if version < MIN_VERSION:
        raise JavaError(f"{java} is Java {version}; Spark needs {MIN_VERSION} or newer.", _remedy())
    return java


def log_options(log: Path) -> list[str]:
    """The JVM options that make Log4j write to one file."""
    config = Path(str(files("lineproof.conf") / "log4j2.properties"))
    return [f"-Dlog4j2.configurationFile={config.as_uri()}", f"-Dlineproof.log={log}"]


def _candidate() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not java.is_file():
            raise JavaError(f"JAVA_HOME is {home}, but there is no {java}.", _remedy())
        return java
    on_path = shutil.which("java")
    if on_path is None:
        raise JavaError("No Java found: JAVA_HOME is not set and there is no `java` on the PATH.", _remedy())
    return Path(on_path)


def _version(java: Path) -> int:
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaError(f"{java} does not run: {error}.", _remedy()) from error
    output = done.stderr + done.stdout
    found = _VERSION.search(output)
    if done.returncode != 0 or found is None:
        # macOS has a placeholder `java` that only prints where to download Java.
        raise JavaError(f"{java} is not a working Java. Its output: {output.strip() or 'none'}", _remedy())
    return int(found.group(1))


def _remedy() -> str:
    return (
        f"Install Java {MIN_VERSION} or newer (Debian and Ubuntu: `apt install openjdk-17-jre-headless`; "
        "macOS: `brew install openjdk@17`), or set JAVA_HOME to one you have."
    )
