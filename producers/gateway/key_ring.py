"""The keys as a running server uses them: read again when their file changes, with the rate of each."""

import logging
import math
import time
from collections.abc import Sequence

from lineproof.producers.gateway.keys import InvalidKeys, Key, KeysFile, Role, find
from lineproof.producers.gateway.refusals import RequestRefused
from lineproof.producers.spooling.log_throttle import LogThrottle

log = logging.getLogger(__name__)

_Stamp = tuple[int, int, int]


class KeyRing:
    """The keys in force. Once there was a key, requests without one are refused, also if the file is removed."""

    def __init__(self, file: KeysFile) -> None:
        self._file = file
        self._keys: Sequence[Key] = file.read()
        self._stamp = self._file_stamp()
        self._rates: dict[str, _Bucket] = {}
        self._log = LogThrottle(log)
        self.are_required = bool(self._keys)

    def authenticate(self, text: str | None, role: Role | None) -> Key | None:
        """The key of a request; None where no keys are needed. If no role is needed, any key will do."""
        self.reload()
        if not self.are_required:
            return None
        if not text:
            raise _unauthorised("The request has no key.")
        key = find(self._keys, text)
        if key is None:
            raise _unauthorised("The key is not known. It is wrong, or was revoked.")
        if key.has_expired:
            raise _unauthorised(f"The key {key.name} has expired.")
        if role and not key.may(role):
            raise RequestRefused(
                403,
                "wrong_role",
                f"The key {key.name} has the role {key.role.value}; this needs {role.value}.",
                f"Use a key with the role {role.value}: `lineproof keys add NAME --role {role.value}`.",
            )
        return key

    def charge(self, key: Key, events: int) -> None:
        """Count the events of a request. Refuses it if the key has used up its rate."""
        if key.rate is None:
            return
        bucket = self._rates.get(key.name)
        if bucket is None or bucket.rate != key.rate:
            bucket = self._rates[key.name] = _Bucket(key.rate)
        wait_s = bucket.take(events)
        if wait_s > 0:
            raise RequestRefused(
                429,
                "rate_exceeded",
                f"The key {key.name} may send {key.rate:g} events a second.",
                "Send the request again later.",
                retry_after_s=math.ceil(wait_s),
            )

    def reload(self) -> None:
        """Read the file again if it has changed."""
        stamp = self._file_stamp()
        if stamp == self._stamp:
            return
        try:
            self._keys = self._file.read()
        except InvalidKeys as error:
            self._log.error(f"{error.what} The keys stay as they were. {error.remedy}")
            return
        self._stamp = stamp
        self.are_required |= bool(self._keys)

    def _file_stamp(self) -> _Stamp | None:
        try:
            found = self._file.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


class _Bucket:
    """Events that may be sent now: those of one second at most. A large batch is taken on credit."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._size = max(1.0, rate)
        self._left = self._size
        self._at = time.monotonic()

    def take(self, events: int) -> float:
        """Take events, or return after how many seconds there will be some."""
        now = time.monotonic()
        self._left = min(self._size, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1:
            return (1 - self._left) / self.rate
        self._left -= events
        return 0


def _unauthorised(what: str) -> RequestRefused:
    return RequestRefused(
        401,
        "unauthorised",
        what,
        "Send a key: `Authorization: Bearer KEY` or `X-Api-Key: KEY`. `lineproof keys add` makes one.",
    )
