"""Records that an endpoint will never accept. They are kept in a file, so that they are not lost."""

import base64
import json
from datetime import datetime, timezone
from pathlib import Path

from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.segments import append_whole


class RejectedFile:
    """JSON lines with the time, the reason, and the record's key, value and headers in Base64."""

    def __init__(self, root: Path) -> None:
        self.path = root / "rejected.jsonl"

    def append(self, record: SpooledRecord, reason: str, **more: str) -> None:
        """Append a record, with more members if given. Raises OSError if the file cannot be written."""
        parts = {name: base64.b64encode(data).decode() for name, data in record._asdict().items()}
        at = datetime.now(timezone.utc).isoformat()
        line = json.dumps({"time": at, "reason": reason, **more, **parts}) + "\n"
        with self.path.open("ab", buffering=0) as file:
            append_whole(file.fileno(), line.encode())
