"""The JARs beside PySpark's own: fetched once by the Ivy that PySpark ships, without Maven or Docker."""

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
_UNREACHED = re.compile(r"Server access error at url \S+ \((?:[\w.]+: )?(.+)\)", re.IGNORECASE)
_STALLED_S = 180.0
_TELL_EVERY_S = 5.0


class JarsError(LineproofError):
    """The JARs are not here, or could not be fetched."""


def jars_home() -> Path:
    """Return where the JARs live: with this Python environment, so that removing it removes them."""
    chosen = os.environ.get("LINEPROOF_JARS")
    return Path(chosen) if chosen else Path(sys.prefix) / "share" / "lineproof" / "jars"


def resolve(report: Callable[[str], None]) -> None:
    """Fetch the JARs that `ivy.xml` names, unless they are here already.

    The work happens in a directory beside the final one, which an interrupted run leaves for the next to
    continue from. Renaming it at the end makes the JARs appear all at once.
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
            "Make room or give the right to write there, or set LINEPROOF_JARS to another directory.",
        ) from error
    report(f"JARs are in place: {home}")


def spark_jars() -> list[Path]:
    """Return what `spark.jars` needs here: PySpark's own version of a library always wins over ours."""
    shipped = {_artifact(jar) for jar in _pyspark_jars().glob("*.jar")}
    found = [jar for conf in ("spark", "local") for jar in sorted((_ready() / conf).glob("*.jar"))]
    return [jar for jar in found if _artifact(jar) not in shipped]


def broker_classpath() -> str:
    """Return the class path of the embedded broker, which must not see Spark's libraries."""
    return os.pathsep.join(str(jar) for jar in sorted((_ready() / "broker").glob("*.jar")))


def _ready() -> Path:
    home = jars_home()
    if not _is_current(home):
        state = "are those of another version" if _stamp(home).exists() else "are missing"
        raise JarsError(f"The JARs in {home} {state}.", "Run `lineproof jars` to fetch them.")
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
    command += ["-types", "jar", "bundle"]  # some libraries call their JAR a bundle
    command += ["-retrieve", f"{work}/[conf]/[artifact]-[revision](-[classifier]).[ext]"]
    report("Fetching JARs (about 70 MB, about a minute) ...")
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            _follow(process, log, report)
        finally:
            process.kill()
    if process.returncode != 0:
        raise _failure(log)
    shutil.rmtree(cache)


def _follow(process: subprocess.Popen[bytes], log: Path, report: Callable[[str], None]) -> None:
    """Tell the caller how far Ivy is, and give up when nothing moves: Ivy itself would wait for ever."""
    size, moved_at, told_at = 0, time.monotonic(), time.monotonic()
    while process.poll() is None and (now := time.monotonic()) - moved_at < _STALLED_S:
        if log.stat().st_size > size:
            size, moved_at = log.stat().st_size, now
        if now - told_at > _TELL_EVERY_S:
            said, told_at = log.read_bytes(), now
            report(f"{said.count(b'found ')} libraries found, {said.count(b'[SUCCESSFUL ]')} files fetched ...")
        time.sleep(0.1)


def _failure(log: Path) -> JarsError:
    said = log.read_text(errors="replace")
    missing = sorted(set(_MISSING.findall(said)))
    what = "Could not fetch " + (", ".join(missing) or "the JARs")
    unreached = _UNREACHED.search(said)
    why = f": {unreached.group(1)}" if unreached else ""
    return JarsError(
        f"{what}{why}. Ivy's own words are in {log}.",
        "Check that this machine reaches Maven Central, then run `lineproof jars` again: it continues where it "
        "stopped. Behind a proxy, set JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=HOST -Dhttps.proxyPort=PORT'.",
    )
