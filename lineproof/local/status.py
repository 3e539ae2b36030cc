"""`lineproof status`: what broker and job do, and how far the tables are behind the topic."""

import time

from lineproof.local.broker_state import broker_address
from lineproof.local.endpoints import client_options
from lineproof.local.job_state import job_state, query_states
from lineproof.local.server_process import RunningServer
from lineproof.local.services import Service
from lineproof.schemas.archive_names import newest_name
from lineproof.schemas.errors import LineproofError
from lineproof.serving.job_heartbeat import JobHeartbeat, events_not_in_graph, read_heartbeat
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster


def status(settings: Settings) -> dict[str, str | int | float]:
    """The state of broker, job and tables, by name."""
    now, heartbeat = time.time(), read_heartbeat(settings.checkpoints_path)
    address = broker_address(settings.home / "broker")
    server = RunningServer.of(settings.home)
    report: dict[str, str | int | float] = {
        "embedded broker": f"running at {address}" if address else "stopped",
        "server": f"running at {server.url}" if server else "stopped",
        "job": job_state(heartbeat, Service(settings.home).process(), now),
        "tables": settings.tables_path,
    }
    report |= query_states(heartbeat, now) if heartbeat else {}
    tables = Tables(settings.tables_path)
    counts = {name: rows for name, rows, *_ in tables.overview()[1]}
    report |= {f"rows of {name}": rows for name, rows in counts.items()}
    report |= _not_archived(settings, tables, heartbeat)
    if {"archive", "records"} <= counts.keys():
        report["records not curated yet"] = counts["archive"] - counts["records"]
    if "lineage_events" in counts and heartbeat:
        behind = events_not_in_graph(settings.tables_path, heartbeat)
        report["events not in the graph yet"] = counts["lineage_events"] if behind is None else behind
    return report


def _not_archived(settings: Settings, tables: Tables, heartbeat: JobHeartbeat | None) -> dict[str, str | int]:
    """How many records the topics have after the last archived offsets: each of them, and all."""
    key = "records not archived yet"
    try:
        cluster = KafkaCluster(client_options(settings))
        wanted = settings.topics.event_topics.matching(cluster.topics())
        topics = sorted({*wanted, *(heartbeat.topics() if heartbeat else ())})
        lags = {topic: _lag(topic, tables, cluster) for topic in topics}
    except LineproofError as error:
        return {key: f"unknown: {error.what}"}
    return {**{f"{key} of {topic}": lag for topic, lag in lags.items()}, key: sum(lags.values())}


def _lag(topic: str, tables: Tables, cluster: KafkaCluster) -> int:
    names = [row[0] for row in tables.query("SELECT DISTINCT topic FROM archive").rows]
    archived = 'SELECT partition, max("offset") + 1 FROM archive WHERE topic = ? GROUP BY partition'
    next_offsets = dict(tables.query(archived, newest_name(topic, names)).rows)
    offsets = cluster.offsets(topic)
    return sum(end - max(begin, next_offsets.get(partition, 0)) for partition, (begin, end) in offsets.items())
