"""First use: how long after `lineproof up` the first events are visible, with a JVM that has just started."""

import time
from collections.abc import Iterator

from lineproof.bench.environment import Environment
from lineproof.bench.figures import Figure, below
from lineproof.bench.generate import History
from lineproof.local.broker import Broker
from lineproof.local.services import down, up_detached
from lineproof.schemas.errors import LineproofError
from lineproof.serving.sql import Tables
from lineproof.topics.cluster import KafkaCluster

EVENTS = 200
POLL_S, TIMEOUT_S = 0.2, 180
LIMITS_S = {"runs": 15, "dataset_edges": 30}


def first_use(environment: Environment) -> Iterator[Figure]:
    """Start broker and job in an empty directory, publish a few events, and wait until SQL shows them."""
    home = environment.directory / "first-use"
    empty = {"home": home, "tables": "", "checkpoints": "", "kafka": {}}
    settings = environment.settings.model_copy(update=empty)
    began = time.monotonic()
    up_detached([f"--set=home={home}"], settings)
    yield Figure("first use: until `lineproof up` is ready", time.monotonic() - began, "s")
    try:
        servers = Broker(home / "broker").address() or ""
        published = time.monotonic()
        KafkaCluster({"bootstrap.servers": servers}).send(settings.topics.event_topics.first, History().records(EVENTS))
        for table, limit in LIMITS_S.items():
            _wait_for_rows(Tables(settings.tables_path), table)
            yield below(limit, f"first use: first events in {table}", time.monotonic() - published, "s")
    finally:
        down(settings)


def _wait_for_rows(tables: Tables, table: str) -> None:
    """Wait until the table or view has rows, or until the timeout."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if tables.query(f"SELECT 1 FROM {table} LIMIT 1").rows:  # noqa: S608
            return
        time.sleep(POLL_S)
    raise LineproofError(f"{table} is empty {TIMEOUT_S} s after the first events.", "Look into the log of the service.")
