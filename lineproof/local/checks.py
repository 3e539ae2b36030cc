"""`lineproof check`: whether configuration, Java, JARs, broker, topics and tables can be used."""

import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path

from lineproof.connection import CONFIRM_TIMEOUT_S, transport_of
from lineproof.local import jars
from lineproof.local.endpoints import client_options
from lineproof.local.java import find_java
from lineproof.local.job_topics import prepare_topics
from lineproof.schemas.errors import LineproofError
from lineproof.schemas.facets import FacetRegistry
from lineproof.settings import Settings

CheckResult = tuple[str, str, str]
"""The name of a check, its result, and what to do if it failed."""


def run_checks(settings: Settings) -> list[CheckResult]:
    """Run all checks."""
    return [
        ("configuration", "ok", ""),
        *check_emitter(settings),
        ("Python", f"ok: {platform.python_version()}", ""),
        _check("Java", lambda: str(find_java())),
        _check("JARs", _jars),
        _check("broker", lambda: client_options(settings)["bootstrap.servers"] + _topics(settings)),
        _check("tables", lambda: _writable(settings.tables_path)),
    ]


def check_emitter(settings: Settings) -> list[CheckResult]:
    """Check that the emitter has a namespace, valid facets and an endpoint, so that no event is dropped silently."""
    return [
        _check("lineage namespace", settings.emitter.resolved_namespace),
        _check("lineage facets", lambda: _user_facets(settings)),
        _check("lineage endpoint", lambda: _endpoint(settings)),
    ]


def _user_facets(settings: Settings) -> str:
    FacetRegistry.standard().with_user_facets(settings.facets)
    return f"{sum(len(by_key) for by_key in settings.facets.values())} of your own"


def _endpoint(settings: Settings) -> str:
    if settings.emitter.disabled:
        raise LineproofError(
            "The emitter is disabled, so no event is sent.",
            "Unset emitter.disabled and OPENLINEAGE_DISABLED.",
        )
    transport = transport_of(settings)
    try:
        transport.confirm(CONFIRM_TIMEOUT_S)
    finally:
        transport.close(0)
    provider = settings.plugins.lineage_backend.provider
    names = [f"backend ({provider})" if name == "backend" else name for name in settings.transports]
    return ", ".join(names) + (f"; fallback {transport.fallback}" if transport.fallback else "")


def _check(name: str, check: Callable[[], str]) -> CheckResult:
    """Run one check, which returns a detail or raises."""
    try:
        return name, f"ok: {check()}", ""
    except LineproofError as error:
        return name, f"FAILED: {error.what}", error.remedy


def _jars() -> str:
    return f"{len(jars.spark_jars())} for Spark, {len(jars.broker_classpath().split(os.pathsep))} for the broker"


def _topics(settings: Settings) -> str:
    prepare_topics(settings, create=False)
    return f", topic {settings.topics.events} exists"


def _writable(location: str) -> str:
    if "://" in location:
        return f"{location} (not checked: only the Spark cluster has to reach it)"
    existing = next(parent for parent in (Path(location), *Path(location).parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return location
    except OSError as error:
        raise LineproofError(
            f"{location} is not writable: {error.strerror}.",
            "Set `tables` or `home` to another directory.",
        ) from error
