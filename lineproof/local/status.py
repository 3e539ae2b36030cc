"""`lineproof status`: whether broker and job run, and how far the tables are behind the topic."""

from lineproof.local.broker_state import broker_address
from lineproof.local.endpoints import client_options
from lineproof.local.services import Service
from lineproof.schemas.archive_names import newest_name
from lineproof.schemas.errors import LineproofError
from lineproof.serving.sql import Tables
from lineproof.settings import Settings
from lineproof.topics.cluster import KafkaCluster


def status(settings: Settings) -> dict[str, str | int]:
    """The state of broker, job and tables, by name."""
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
        report["records not archived yet"] = _not_archived(settings, tables)
    except LineproofError as error:
        report["records not archived yet"] = f"unknown: {error.what}"
    return report


def _not_archived(settings: Settings, tables: Tables) -> int:
    """How many records the topic has after the last archived offsets."""
    topic = settings.topics.events
    names = [row[0] for row in tables.query("SELECT DISTINCT topic FROM archive").rows]
    archived = 'SELECT partition, max("offset") + 1 FROM archive WHERE topic = ? GROUP BY partition'
    next_offsets = dict(tables.query(archived, newest_name(topic, names)).rows)
    offsets = KafkaCluster(client_options(settings)).offsets(topic)
    return sum(end - max(begin, next_offsets.get(partition, 0)) for partition, (begin, end) in offsets.items())
