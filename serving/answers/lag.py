"""How far the tables are behind, from the heartbeat of the job."""

import time
from dataclasses import dataclass

from lineproof.schemas.heartbeat import RUNNING, STALLED, STOPPED
from lineproof.schemas.tables import CURATE, INGEST
from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.model import Trust
from lineproof.serving.job_heartbeat import JobHeartbeat, read_heartbeat

UP_TO_DATE_S = 60
"""Tables that are further behind are not called up to date."""


@dataclass(frozen=True)
class Lag:
    """What is known of the records that are not in the tables yet."""

    trust: Trust
    text: str
    seconds: int | None = None
    """All records that were on the topic so long ago are in the tables; None if that is not known."""


def lag(installation: Installation) -> Lag:
    """From the heartbeat; unknown without one."""
    if not installation.checkpoints:
        return Lag("unknown", "the server does not know the job's checkpoints")
    heartbeat = read_heartbeat(installation.checkpoints)
    if heartbeat is None:
        return Lag("unknown", "no job has run with these checkpoints")
    now = time.time()
    if heartbeat.state != RUNNING:
        state = "stopped" if heartbeat.state == STOPPED else f"was {heartbeat.state}"
        return Lag("unknown", f"the job {state} {_ago(now - heartbeat.at)}: later events are not in the tables")
    if not heartbeat.is_fresh(now):
        return Lag("unknown", f"the job gave no sign of life since {_ago(now - heartbeat.at)}")
    return _of_running(heartbeat, now)


def _of_running(heartbeat: JobHeartbeat, now: float) -> Lag:
    states = [heartbeat.queries.get(name, {}) for name in (INGEST, CURATE)]
    if any(state.get("state") == STALLED for state in states):
        return Lag("broken", "a batch does not end: see `lineproof status`")
    if not all(state.get("ended_at") or state.get("since") for state in states):
        return Lag("unknown", "the job has not finished a batch yet")
    # What a batch reads now was on the topic before the batch began. While a query waits, everything was read.
    behind = round(max(now - float(state.get("since") or heartbeat.at) for state in states))
    text = f"everything up to {_ago(behind)} is in the tables"
    return Lag("proven" if behind <= UP_TO_DATE_S else "unknown", text, behind)


def _ago(seconds: float) -> str:
    """A duration in words."""
    for name, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{round(seconds / size)} {name} ago"
    return f"{max(0, round(seconds))} s ago"
