"""What an endpoint will never take, put down for somebody to look at: it is not lost."""

import base64
import json
from datetime import datetime, timezone
from pathlib import Path

from lineproof.producers.spooling.frames import Record
from lineproof.producers.spooling.segments import append_whole


class RejectedFile:
    """JSON lines with the time, the reason, and the record's key and value in Base64."""

    def __init__(self, root: Path) -> None:
        self.path = root / "rejected.jsonl"

    def put(self, record: Record, reason: str) -> None:
        """Add a record. Raises OSError where that cannot be done."""
        key, value = (base64.b64encode(data).decode() for data in record)
        at = datetime.now(timezone.utc).isoformat()
        line = json.dumps({"time": at, "reason": reason, "key": key, "value": value}) + "\n"
        with self.path.open("ab", buffering=0) as file:
            append_whole(file.fileno(), line.encode())
