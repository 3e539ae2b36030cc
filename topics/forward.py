"""Send archived or published events on to another backend: at least once, in the order of each partition."""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import orjson

from lineproof.producers.spooling.frames import SpooledRecord
from lineproof.producers.spooling.log_throttle import LogThrottle
from lineproof.producers.spooling.rejected import RejectedFile
from lineproof.producers.transports.base import DeliveryStatus
from lineproof.producers.transports.http_client import BYTES_PER_BATCH, EVENTS_PER_BATCH, HttpClient, Outcome
from lineproof.schemas.envelope import Envelope, UnreadableRecord, decode
from lineproof.schemas.errors import LineproofError
from lineproof.serving.archive import ArchivedRecord
from lineproof.topics.cluster import KafkaUnavailable
from lineproof.topics.forward_sources import ForwardSource
from lineproof.topics.forward_state import ForwardState

log = logging.getLogger(__name__)

RETRIES = 3
"""How often an event is tried again before a forward without --follow stops."""
CONFIRM_TIMEOUT_S = 5.0
POLL_S = 1.0
_FIRST_BACKOFF_S = 0.5
_MAX_BACKOFF_S = 30.0


class BackendRefuses(LineproofError):
    """The backend does not accept events for now."""


class Stop(Protocol):
    """A request to stop."""

    def __call__(self) -> bool:
        """Whether there was one."""

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for one."""


class _Waiting(NamedTuple):
    """An event that the backend has not accepted."""

    record: ArchivedRecord
    payload: bytes


class Forward:
    """One forward. Its position moves on when every event before it is accepted, or put aside with a reason."""

    def __init__(
        self, source: ForwardSource, client: HttpClient, state: ForwardState, schema_ids: Mapping[int, int], stop: Stop
    ) -> None:
        self.state = state
        self.rejected = RejectedFile(state.directory)
        self._source, self._client, self._schema_ids, self._stop = source, client, schema_ids, stop
        self._error_log = LogThrottle(log)
        self._posted_at = 0.0

    def __enter__(self) -> "Forward":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def confirm(self) -> None:
        """Raise EndpointUnavailable if the backend does not answer."""
        self._client.confirm(CONFIRM_TIMEOUT_S)

    def run(self, rate: float | None = None, *, follow: bool = False) -> Iterator[int]:
        """Forward until everything is sent, or until it is stopped; yields how many events were sent in all.

        `rate` is the maximum number of events a second. With `follow`, it waits for more, and for the backend.
        """
        at_once = min(EVENTS_PER_BATCH, max(1, int(rate))) if rate else EVENTS_PER_BATCH
        while not self._stop():
            try:
                for batch in self._source.batches(self.state.positions):
                    for records in _chunks(batch.records, at_once):
                        self._forward(records, batch.partition, follow=follow)
                        yield self.state.sent
                        if rate:
                            self._wait_until(self._posted_at + len(records) / rate)
                        if self._stop():
                            return
            except KafkaUnavailable as error:
                if not follow:
                    raise
                self._error_log.error(f"Events cannot be read now: {error.what} It is tried again.")
            if not follow:
                return
            self._wait_until(time.monotonic() + POLL_S)

    def _forward(self, records: Sequence[ArchivedRecord], partition: str, *, follow: bool) -> None:
        """Send records until each is accepted or put aside. What a stop leaves is sent by the next start."""
        waiting = [event for record in records if (event := self._opened(record))]
        attempt, others_pass = 0, False
        while waiting and not (attempt and self._stop()):
            self._posted_at = time.monotonic()
            outcomes = self._client.post([event.payload for event in waiting])
            pairs = list(zip(waiting, outcomes, strict=True))
            accepted = sum(outcome.status is DeliveryStatus.DELIVERED for outcome in outcomes)
            others_pass = others_pass or accepted > 0
            self.state.sent += accepted
            last_chance = attempt >= RETRIES
            waiting = []
            for event, outcome in pairs:
                if outcome.status is DeliveryStatus.RETRY and not (
                    last_chance and others_pass and outcome.is_about_event
                ):
                    waiting.append(event)
                elif outcome.status is not DeliveryStatus.DELIVERED:
                    self._put_aside(event.record, outcome.reason)
            if waiting:
                self._save(records, partition, waiting)
                self._back_off([outcome for _, outcome in pairs], attempt, give_up=last_chance and not follow)
                attempt += 1
        self._save(records, partition, waiting)

    def _opened(self, record: ArchivedRecord) -> _Waiting | None:
        """The event of a record. A record that has none is put aside: it would damage a batch."""
        try:
            opened = decode(record.value, self._schema_ids)
            payload = opened.payload if isinstance(opened, Envelope) else opened
            is_object = isinstance(orjson.loads(payload), dict)
        except UnreadableRecord as error:
            self._put_aside(record, error.what)
        except ValueError as error:
            self._put_aside(record, f"The event is not valid JSON: {error}")
        else:
            if is_object:
                return _Waiting(record, payload)
            self._put_aside(record, "The event is not a JSON object")
        return None

    def _put_aside(self, record: ArchivedRecord, reason: str) -> None:
        source = f"{record.topic}/{record.partition}/{record.offset}"
        self.rejected.append(SpooledRecord(record.key or b"", record.value or b""), reason, source=source)
        self.state.put_aside += 1

    def _save(self, records: Sequence[ArchivedRecord], partition: str, waiting: Sequence[_Waiting]) -> None:
        """Move the position to the last record before the first that waits."""
        done = [record.offset for record in records if not waiting or record.offset < waiting[0].record.offset]
        if done:
            self.state.positions[partition] = done[-1]
        self.state.save()

    def _back_off(self, outcomes: Sequence[Outcome], attempt: int, *, give_up: bool) -> None:
        reason = next(outcome.reason for outcome in outcomes if outcome.status is DeliveryStatus.RETRY)
        if give_up:
            raise BackendRefuses(f"{reason}.", "Correct this, and run the same command to continue.")
        self._error_log.error(f"Events cannot be forwarded now: {reason}. It is tried again.")
        asked_s = max(outcome.retry_after_s for outcome in outcomes)
        self._wait_until(time.monotonic() + max(asked_s, min(_FIRST_BACKOFF_S * 2**attempt, _MAX_BACKOFF_S)))

    def _wait_until(self, moment: float) -> None:
        if not self._stop() and (seconds := moment - time.monotonic()) > 0:
            self._stop.wait(seconds)


def _chunks(records: Sequence[ArchivedRecord], at_once: int) -> Iterator[Sequence[ArchivedRecord]]:
    """The records in order, as many as one request takes."""
    begin = size = 0
    for number, record in enumerate(records):
        more = len(record.value or b"")
        if number > begin and (number - begin == at_once or size + more > BYTES_PER_BATCH):
            yield records[begin:number]
            begin, size = number, 0
        size += more
    yield records[begin:]
