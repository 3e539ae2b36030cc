"""How far a forward has come: the offset of each partition up to which the backend has acknowledged everything."""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lineproof.schemas.errors import LineproofError
from lineproof.serving.atomic_file import write_atomically


class ForwardRunning(LineproofError):
    """Another process runs the same forward."""


class ForwardState:
    """The state of one forward, in a directory of its own. Another source, target or start is another forward."""

    def __init__(self, home: Path, purpose: Mapping[str, Any], since: str | None) -> None:
        name = hashlib.sha256(json.dumps(purpose, sort_keys=True).encode()).hexdigest()[:16]
        self.directory = home.absolute() / "forwards" / name
        self._file = self.directory / "state.json"
        self._purpose = purpose
        self.since = since
        """The time that the first start has computed, as for `2h`."""
        self._load()

    @property
    def has_begun(self) -> bool:
        """Whether this forward was started before."""
        return bool(self.positions)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Refuse to go on if another process runs this forward. The lock ends with the process."""
        self.directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ForwardRunning(
                    "Another process runs the same forward.", f"Stop it. It holds the lock {self.directory / 'lock'}."
                ) from error
            self._load()  # what another process has saved since
            yield
        finally:
            os.close(descriptor)

    def save(self) -> None:
        """Write the state, so that a crash leaves either the old or the new one."""
        document = {
            **{"purpose": self._purpose, "since": self.since, "positions": self.positions},
            **{"sent": self.sent, "put_aside": self.put_aside},
        }
        write_atomically(self._file, json.dumps(document, indent=1))

    def _load(self) -> None:
        saved = json.loads(self._file.read_text()) if self._file.exists() else {}
        self.since = saved.get("since", self.since)
        self.positions: dict[str, int] = saved.get("positions", {})
        self.sent: int = saved.get("sent", 0)
        self.put_aside: int = saved.get("put_aside", 0)
