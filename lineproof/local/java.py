"""The Java that Spark and the embedded broker run on."""

import os
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

from lineproof.schemas.errors import LineproofError

OLDEST = 17

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')  # Java 8 and older called themselves 1.8


class JavaError(LineproofError):
    """There is no Java here that Spark could run on."""


def find_java() -> Path:
    """Return the `java` to run, which is the one Spark will choose too.

    Spark takes JAVA_HOME whenever it is set, even if PATH has a better one. Preferring another would let this
    check pass and Spark fail.
    """
    java = _candidate()
    version = _version(java)
    if version < OLDEST:
        raise JavaError(f"{java} is Java {version}; Spark needs {OLDEST} or newer.", _remedy())
    return java


def log_options(log: Path) -> list[str]:
    """Return the JVM options that send everything a process logs to one file."""
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
    said = done.stderr + done.stdout
    found = _VERSION.search(said)
    if done.returncode != 0 or found is None:
        # macOS has a stand-in `java` that only says where to get one.
        raise JavaError(f"{java} is no working Java; it says: {said.strip() or 'nothing'}", _remedy())
    return int(found.group(1))


def _remedy() -> str:
    return (
        f"Install Java {OLDEST} or newer (Debian and Ubuntu: `apt install openjdk-17-jre-headless`; "
        "macOS: `brew install openjdk@17`), or set JAVA_HOME to one you have."
    )
