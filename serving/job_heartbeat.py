"""The heartbeat of the job, and how far its queries are behind, without Spark and without a broker."""

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from lineproof.schemas.heartbeat import FILE, MISSED
from lineproof.schemas.tables import GRAPH, INGEST, LINEAGE_EVENTS

RETRIES, PAUSE_S = 5, 0.2
"""Where a file is not replaced in one step, there is none for a moment."""


@dataclass(frozen=True)
class JobHeartbeat:
    """The last heartbeat. Times are seconds since 1970."""

    document: dict[str, Any]

    @property
    def state(self) -> str:
        """The state that the job gave itself."""
        return str(self.document["state"])

    @property
    def at(self) -> float:
        """When the job was last seen."""
        return float(self.document["at"])

    @property
    def queries(self) -> dict[str, dict[str, Any]]:
        """The state of each query, by its name."""
        return dict(self.document["queries"])

    def is_fresh(self, now: float) -> bool:
        """Whether the next heartbeat is not overdue."""
        return now - self.at < MISSED * float(self.document["interval_s"])

    def topics(self) -> list[str]:
        """The topics that ingest has read."""
        return sorted((self.queries.get(INGEST, {}).get("position")) or {})


def read_heartbeat(checkpoints: str) -> JobHeartbeat | None:
    """The last heartbeat of the job with these checkpoints; None if there is none, or none that can be read here."""
    file = Path(checkpoints, FILE)
    for _ in range(RETRIES if file.parent.is_dir() else 0):
        with suppress(OSError, ValueError, KeyError):
            return JobHeartbeat(json.loads(file.read_text()))
        time.sleep(PAUSE_S)
    return None


def events_not_in_graph(tables: str, heartbeat: JobHeartbeat) -> int | None:
    """How many rows of `lineage_events` graph has not read; None if graph's position is not known."""
    position = heartbeat.queries.get(GRAPH, {}).get("position")
    try:
        table = DeltaTable(f"{tables}/{LINEAGE_EVENTS.name}")
        if not position or position.get("isStartingVersion"):
            return None
        unread = table.version() - int(position["reservoirVersion"]) + 1
        commits = table.history(unread) if unread > 0 else []
    except (DeltaError, OSError, KeyError, ValueError):
        return None
    added = (commit for commit in commits if commit.get("operation") in ("WRITE", "STREAMING UPDATE"))
    return sum(int(commit.get("operationMetrics", {}).get("numOutputRows", 0)) for commit in added)
