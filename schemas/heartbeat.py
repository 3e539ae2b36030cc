"""What the job writes about itself at intervals, and `lineproof status` reads: a JSON file with the checkpoints.

{"state": "running", "error": "", "machine": "host:4026531836", "pid": 4242, "pid_started": 1763496000.1,
 "started_at": 1763496003.2, "at": 1763496123.4, "interval_s": 10,
 "queries": {"curate": {"state": "stalled", "since": 1763495000.0, "batch": 14, "rows": 300, "seconds": 1.2,
   "ended_at": 1763496100.0, "records_per_second": 1.5, "position": {…}}}}

Times are seconds since 1970. `batch`, `rows`, `seconds` and `ended_at` are those of the last finished batch with rows,
`since` is when the batch that runs now has begun, and `position` is where the last batch ended, as Spark writes it.
"""

import platform
from contextlib import suppress
from pathlib import Path

FILE = "job/heartbeat.json"
"""Below the checkpoints."""

INTERVAL_S = 10.0

STARTING, RUNNING, STOPPING, STOPPED, FAILED = "starting", "running", "stopping", "stopped", "failed"
"""The states of the job."""

WAITING, STALLED = "waiting", "stalled"
"""The states of a query, and `running`."""

MISSED = 4
"""As many intervals without a heartbeat mean that the job does not respond: the disk may be slow now and then."""


def machine() -> str:
    """This machine, or this container: where a process id means the same process."""
    with suppress(OSError):
        return f"{platform.node()}:{Path('/proc/self/ns/pid').stat().st_ino}"
    return platform.node()
