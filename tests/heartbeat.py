"""A heartbeat of a job, for tests of readers."""

import json
import time
from pathlib import Path

from lineproof.schemas.heartbeat import FILE


def beat(checkpoints: Path, *, ago: float = 0, state: str = "running") -> str:
    """Write the heartbeat of a job that has read everything. Returns the place of the checkpoints."""
    now = time.time()
    waiting = {"state": "waiting", "since": None, "ended_at": now - ago}
    (checkpoints / FILE).parent.mkdir(parents=True, exist_ok=True)
    document = {"state": state, "at": now - ago, "interval_s": 10, "queries": {"ingest": waiting, "curate": waiting}}
    (checkpoints / FILE).write_text(json.dumps(document))
    return str(checkpoints)
