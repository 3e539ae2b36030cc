"""The JARs that PySpark does not ship, downloaded once with its own Ivy: no Maven or Docker is needed."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from lineproof.local.java import find_java
from lineproof.schemas.errors import LineproofError

_VERSION = re.compile(r"-\d+\.\d.*\.jar$")
_MISSING = re.compile(r"^\s*:: (\S+#[^:\s!]+)", re.MULTILINE)
_ACCESS_ERROR = re.compile(r"Server access error at url \S+ \((?:[\w.]+: )?(.+)\)", re.IGNORECASE)
_STALL_TIMEOUT_S = 180.0
_REPORT_EVERY_S = 5.0


class JarsError(LineproofError):
    """The JARs are missing, or could not be downloaded."""


def jars_home() -> Path:
    """The directory of the JARs: part of this Python environment, so that removing it removes them."""
    configured = os.environ.get("LINEPROOF_JARS")
    return Path(configured) if configured else Path(sys.prefix) / "share" / "lineproof" / "jars"


def resolve(report: Callable[[str], None]) -> None:
    """Download the JARs that `ivy.xml` lists, unless they are there already.

    They are downloaded to a temporary directory next to the final one and renamed at the end, so that they appear all
    at once. The next call continues an interrupted download.
    """
    home = jars_home()
    if _is_current(home):
        report(f"JARs are in place: {home}")
        return
    work = home.with_name(f"{home.name}.partial")
    try:
        _fetch(work, report)
        _stamp(work).write_text(_wanted())
        shutil.rmtree(home, ignore_errors=True)
        work.rename(home)
    except OSError as error:
        raise JarsError(
            f"Cannot write the JARs to {home}: {error.strerror}.",
            "Free space or grant write permission, or set LINEPROOF_JARS to another directory.",
        ) from error
    report(f"JARs are in place: {home}")


def spark_jars() -> list[Path]:
    """The JARs for `spark.jars` on this machine, without libraries that PySpark ships in its own version."""
    shipped = {_artifact(jar) for jar in _pyspark_jars().glob("*.jar")}
    found = [jar for conf in ("spark", "local") for jar in sorted((_ready() / conf).glob("*.jar"))]
    return [jar for jar in found if _artifact(jar) not in shipped]


def broker_classpath() -> str:
    """The class path of the embedded broker, which must not contain Spark's libraries."""
    return os.pathsep.join(str(jar) for jar in sorted((_ready() / "broker").glob("*.jar")))


def _ready() -> Path:
    home = jars_home()
    if not _is_current(home):
        state = "belong to another version" if _stamp(home).exists() else "are missing"
        raise JarsError(f"The JARs in {home} {state}.", "Run `lineproof jars` to download them.")
    return home


def _is_current(home: Path) -> bool:
    stamp = _stamp(home)
    return stamp.is_file() and stamp.read_text() == _wanted()


def _stamp(home: Path) -> Path:
    return home / "ivy.sha256"


def _wanted() -> str:
    return hashlib.sha256(_ivy_xml().read_bytes()).hexdigest()


def _ivy_xml() -> Path:
    return Path(str(files("lineproof.conf") / "ivy.xml"))


def _artifact(jar: Path) -> str:
    return _VERSION.sub("", jar.name)


def _pyspark_jars() -> Path:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise JarsError("PySpark is not installed.", "Run `pip install 'lineproof[streaming]'`.")
    return Path(spec.origin).parent / "jars"


def _fetch(work: Path, report: Callable[[str], None]) -> None:
    for conf in ("spark", "local", "broker"):
        shutil.rmtree(work / conf, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    cache, log = work / "cache", work / "ivy.log"
    ivy = next(_pyspark_jars().glob("ivy-*.jar"))
    command: list[str | Path] = [find_java(), "-jar", ivy, "-cache", cache, "-ivy", _ivy_xml()]
    command += ["-types", "jar", "bundle"]  # the packaging of some libraries is "bundle"
    command += ["-retrieve", f"{work}/[conf]/[artifact]-[revision](-[classifier]).[ext]"]
    report("Downloading JARs (about 70 MB, about a minute) ...")
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            _follow(process, log, report)
        finally:
            process.kill()
    if process.returncode != 0:
        raise _failure(log)
    shutil.rmtree(cache)


def _follow(process: subprocess.Popen[bytes], log: Path, report: Callable[[str], None]) -> None:
    """Report the progress of Ivy. Stop when it makes none: Ivy itself has no timeout."""
    size, progressed_at, reported_at = 0, time.monotonic(), time.monotonic()
    while process.poll() is None and (now := time.monotonic()) - progressed_at < _STALL_TIMEOUT_S:
        if log.stat().st_size > size:
            size, progressed_at = log.stat().st_size, now
        if now - reported_at > _REPORT_EVERY_S:
            output, reported_at = log.read_bytes(), now
            report(f"{output.count(b'found ')} libraries found, {output.count(b'[SUCCESSFUL ]')} files downloaded ...")
        time.sleep(0.1)


def _failure(log: Path) -> JarsError:
    output = log.read_text(errors="replace")
    missing = sorted(set(_MISSING.findall(output)))
    what = "Could not download " + (", ".join(missing) or "the JARs")
    access_error = _ACCESS_ERROR.search(output)
    why = f": {access_error.group(1)}" if access_error else ""
    return JarsError(
        f"{what}{why}. Ivy's log is {log}.",
        "Check that this machine reaches Maven Central, then run `lineproof jars` again: it continues where it "
        "stopped. Behind a proxy, set JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=HOST -Dhttps.proxyPort=PORT'.",
    )
