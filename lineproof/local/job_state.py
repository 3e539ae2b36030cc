"""The state of the job in words, from its heartbeat and from the processes of this machine."""

from collections.abc import Iterator
from typing import Any

import psutil

from lineproof.schemas.durations import approximately, utc
from lineproof.schemas.heartbeat import FAILED, STALLED, STOPPED, STOPPING, WAITING, machine
from lineproof.serving.job_heartbeat import JobHeartbeat


def job_state(heartbeat: JobHeartbeat | None, service: psutil.Process | None, now: float) -> str:
    """Whether the job runs: as `up`, `job` or after spark-submit."""
    if heartbeat is None or (service and service.pid != heartbeat.document["pid"]):
        return f"running (process {service.pid})" if service else "stopped"
    seen = f"last seen {utc(heartbeat.at)}"
    process = f"(process {heartbeat.document['pid']}{_elsewhere(heartbeat)})"
    if heartbeat.state == STOPPED:
        return f"stopped, {seen}"
    if heartbeat.state == FAILED:
        return f"failed, {seen}: {heartbeat.document['error']}"
    if _has_ended(heartbeat):
        return f"stopped, {seen}" if heartbeat.state == STOPPING else f"ended without being stopped, {seen}"
    if not heartbeat.is_fresh(now):
        return f"not responding {process}, {seen}"
    return f"{heartbeat.state} {process}"


def query_states(heartbeat: JobHeartbeat, now: float) -> Iterator[tuple[str, str | float]]:
    """Rows about each query: what it does, its last batch, and its rate."""
    is_running = heartbeat.state not in (STOPPED, FAILED) and not _has_ended(heartbeat)
    for name, query in heartbeat.queries.items():
        yield f"state of {name}", _doing(query, now) if is_running else "stopped"
        if query["batch"] is not None:
            did = f"{query['rows']} records in {query['seconds']:.1f} s"
            yield f"last batch of {name}", f"batch {query['batch']}: {did}, at {utc(query['ended_at'])}"
        if is_running:
            yield f"records per second of {name}", query["records_per_second"]


def _doing(query: dict[str, Any], now: float) -> str:
    if query["state"] == WAITING:
        return WAITING
    age = approximately(now - query["since"])
    return f"stalled: its batch has run for {age}" if query["state"] == STALLED else f"running a batch for {age}"


def _elsewhere(heartbeat: JobHeartbeat) -> str:
    host = str(heartbeat.document["machine"])
    return "" if host == machine() else f" on {host.rpartition(':')[0] or host}"


def _has_ended(heartbeat: JobHeartbeat) -> bool:
    """Whether the job's process is known to have ended: it was here. Its number may belong to another one by now."""
    if heartbeat.document["machine"] != machine():
        return False
    try:
        process = psutil.Process(heartbeat.document["pid"])
        return abs(process.create_time() - float(heartbeat.document["pid_started"])) > 1
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False
