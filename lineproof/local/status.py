"""What `status` and `check` look at."""

import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path

from lineproof.connection import CONFIRM_TIMEOUT_S, transport_of
from lineproof.local import jars
from lineproof.local.broker_state import broker_address
from lineproof.local.endpoints import client_options
from lineproof.local.java import find_java
from lineproof.local.job_topics import prepare_topics
from lineproof.local.services import Service
from lineproof.schemas.archive_names import newest_name
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.facets import FacetRegistry
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster


def status(settings: Settings) -> dict[str, str | int]:
    """The state of broker, job and tables, in words and figures."""
    process = Service(settings.home).process()
    address = broker_address(settings.home / "broker")
    report: dict[str, str | int] = {
        "embedded broker": f"running at {address}" if address else "stopped",
        "job": f"running (process {process.pid})" if process else "stopped",
        "tables": settings.tables_path,
    }
    tables = Tables(settings.tables_path)
    counts = {name: rows for name, rows, *_ in tables.overview()[1]}
    report |= {f"rows of {name}": rows for name, rows in counts.items()}
    if {"archive", "records"} <= counts.keys():
        report["records not curated yet"] = counts["archive"] - counts["records"]
    try:
        report["records not archived yet"] = _behind(settings, tables)
    except LineproofError as error:
        report["records not archived yet"] = f"unknown: {error.what}"
    return report


def _behind(settings: Settings, tables: Tables) -> int:
    topic = settings.topics.events
    names = [row[0] for row in tables.query("SELECT DISTINCT topic FROM archive").rows]
    archived = 'SELECT partition, max("offset") + 1 FROM archive WHERE topic = ? GROUP BY partition'
    next_offsets = dict(tables.query(archived, newest_name(topic, names)).rows)
    offsets = KafkaCluster(client_options(settings)).offsets(topic)
    return sum(end - max(begin, next_offsets.get(partition, 0)) for partition, (begin, end) in offsets.items())


def checks(settings: Settings) -> list[tuple[str, str, str]]:
    """Every check: its name, its result, and what to do where it failed."""
    return [
        ("configuration", "ok", ""),
        *lineage_checks(settings),
        ("Python", f"ok: {platform.python_version()}", ""),
        _checked("Java", lambda: str(find_java())),
        _checked("JARs", _jars),
        _checked("broker", lambda: client_options(settings)["bootstrap.servers"] + _topics(settings)),
        _checked("tables", lambda: _writable(settings.tables_path)),
    ]


def lineage_checks(settings: Settings) -> list[tuple[str, str, str]]:
    """Whether lineage is configured such that nothing would be skipped silently (R26)."""
    return [
        _checked("lineage namespace", settings.emitter.resolved_namespace),
        _checked("lineage facets", lambda: _user_facets(settings)),
        _checked("lineage endpoint", lambda: _endpoint(settings)),
    ]


def _user_facets(settings: Settings) -> str:
    FacetRegistry.standard().with_user_facets(settings.facets)
    return f"{sum(len(by_key) for by_key in settings.facets.values())} of your own"


def _endpoint(settings: Settings) -> str:
    if settings.emitter.disabled:
        raise LineproofError(
            "Lineage is switched off, so that jobs would leave no trace.",
            "Unset emitter.disabled and OPENLINEAGE_DISABLED.",
        )
    transport = transport_of(settings)
    try:
        transport.confirm(CONFIRM_TIMEOUT_S)
    finally:
        transport.close(0)
    return f"{', '.join(settings.emitter.transports)}" + (f"; else {transport.fallback}" if transport.fallback else "")


def _checked(name: str, look: Callable[[], str]) -> tuple[str, str, str]:
    try:
        return name, f"ok: {look()}", ""
    except LineproofError as error:
        return name, f"FAILED: {error.what}", error.remedy


def _jars() -> str:
    return f"{len(jars.spark_jars())} for Spark, {len(jars.broker_classpath().split(os.pathsep))} for the broker"


def _topics(settings: Settings) -> str:
    prepare_topics(settings, create=False)
    return f", topic {settings.topics.events} is there"


def _writable(location: str) -> str:
    if "://" in location:
        return f"{location} (not looked at: Spark's cluster reaches it, this machine need not)"
    nearest = next(parent for parent in (Path(location), *Path(location).parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            return location
    except OSError as error:
        raise LineproofError(
            f"{location} cannot be written: {error.strerror}.",
            "Choose another place with `tables` or `home`.",
        ) from error
