"""An endpoint, and senders that work, hang or have no room."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lineproof.producers.delivery import Delivery
from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.spool_directory import SpoolEntry
from lineproof.producers.transports.base import DeliveryResult, DeliveryStatus, EndpointUnavailable
from lineproof.schemas.envelope import Envelope, decode
from tests.events import payload, sealed

Deliver = Callable[..., Delivery]
ENVELOPE = sealed(payload())
PATIENCE_S = 30


class Endpoint:
    """An endpoint that is a file of JSON lines, so that several processes can send to it."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "endpoint"
        self._file.touch()

    def take(self, record: SpooledRecord) -> None:
        line = json.dumps([record.key.decode(), number_of(record.value), record.value.hex()]) + "\n"
        with self._file.open("ab", buffering=0) as file:
            file.write(line.encode())

    @property
    def taken(self) -> list[tuple[str, int]]:
        return [(key, number) for key, number, _ in map(json.loads, self._file.read_text().splitlines())]

    def assert_has(self, expected: set[tuple[str, int]]) -> None:
        """All records arrived, duplicates are identical, and the first copies of each key are in order."""
        lines = self._file.read_text().splitlines()
        assert {(key, number) for key, number, _ in map(json.loads, lines)} >= expected
        assert len(set(lines)) == len(set(self.taken)), "records with the same number are identical"
        for wanted in {key for key, _ in self.taken}:
            numbers = list(dict.fromkeys(number for key, number in self.taken if key == wanted))
            assert numbers == sorted(numbers), wanted


class Sender:
    """Delivers immediately. Tests override it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._results: list[DeliveryResult] = []

    def send(self, record: SpooledRecord, entry: SpoolEntry) -> bool:
        self._results.append(self.attempt(record, entry))
        return True

    def attempt(self, record: SpooledRecord, entry: SpoolEntry) -> DeliveryResult:
        self._endpoint.take(record)
        return DeliveryResult(DeliveryStatus.DELIVERED, entry)

    def poll(self, timeout_s: float) -> list[DeliveryResult]:
        if not self._results:
            time.sleep(timeout_s)
        results, self._results = self._results, []
        return results

    def confirm(self, timeout_s: float) -> None:
        raise EndpointUnavailable("Nobody is there.", "Wait.")

    def close(self) -> None:
        pass


class Hanging(Sender):
    """Hangs until the test releases it."""

    released = threading.Event()

    def attempt(self, record: SpooledRecord, entry: SpoolEntry) -> DeliveryResult:
        self.released.wait()
        return super().attempt(record, entry)


class Away(Sender):
    """Has no room."""

    def send(self, record: SpooledRecord, entry: SpoolEntry) -> bool:
        return False


def number_of(value: bytes) -> int:
    envelope = decode(value)
    assert isinstance(envelope, Envelope)
    return envelope.sequence


def numbered(number: int) -> Envelope:
    return replace(ENVELOPE, sequence=number)


def publish(delivery: Delivery, count: int, key: bytes = b"run", begin: int = 0) -> set[tuple[str, int]]:
    for number in range(begin, begin + count):
        delivery.publish(key, numbered(number))
    return {(key.decode(), number) for number in range(begin, begin + count)}


def spool_directories(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "spool").iterdir() if path.is_dir()]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "the condition never became true"
        time.sleep(0.01)
